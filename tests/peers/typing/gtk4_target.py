# SPDX-License-Identifier: GPL-2.0-or-later
"""A GTK 4 window with a text view: answers get and clear on stdin."""
import json
import os

import gi
gi.require_version("Gtk", "4.0")
from gi.repository import GLib, Gtk  # noqa: E402

loop = GLib.MainLoop()
window = Gtk.Window(title="typing target")
window.set_default_size(600, 400)
field = Gtk.TextView()
buffer = field.get_buffer()
window.set_child(field)
window.present()
field.grab_focus()
rest = b""


def on_input(_fd, _condition):
    global rest
    data = os.read(0, 4096)
    if not data:
        loop.quit()
        return False
    rest += data
    while b"\n" in rest:
        line, rest = rest.split(b"\n", 1)
        if line == b"clear":
            buffer.set_text("")
        text = buffer.get_text(buffer.get_start_iter(), buffer.get_end_iter(), True)
        print(json.dumps(text), flush=True)
    return True


GLib.io_add_watch(0, GLib.IO_IN | GLib.IO_HUP, on_input)
print("ready", flush=True)
loop.run()
