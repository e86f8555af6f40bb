# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows or sets what X keeps about the keyboard: keys and buttons down, locks, group."""
import ctypes
import sys

xlib = ctypes.CDLL("libX11.so.6")
xlib.XOpenDisplay.restype = ctypes.c_void_p
CORE = 0x100


class State(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ubyte) for name in ("group", "locked_group")] + [
        ("base_group", ctypes.c_ushort), ("latched_group", ctypes.c_ushort)] + [
        (name, ctypes.c_ubyte) for name in (
            "mods", "base_mods", "latched_mods", "locked_mods", "compat_state", "grab_mods",
            "compat_grab_mods", "lookup_mods", "compat_lookup_mods")] + [
        ("ptr_buttons", ctypes.c_ushort)]


dpy = ctypes.c_void_p(xlib.XOpenDisplay(None))
verb = sys.argv[1]
if verb == "show":
    state = State()
    xlib.XkbGetState(dpy, CORE, ctypes.byref(state))
    keys = (ctypes.c_ubyte * 32)()
    xlib.XQueryKeymap(dpy, keys)
    down = [code for code in range(256) if keys[code // 8] >> code % 8 & 1]
    print("down", down, "buttons", state.ptr_buttons, "group", state.locked_group,
          "locked", state.locked_mods, "latched", state.latched_mods, "base", state.base_mods)
elif verb == "group":
    xlib.XkbLockGroup(dpy, CORE, int(sys.argv[2]))
elif verb in ("lock", "unlock"):
    mask = {"caps": 2, "num": 16}[sys.argv[2]]
    xlib.XkbLockModifiers(dpy, CORE, mask, mask if verb == "lock" else 0)
xlib.XSync(dpy, 0)
