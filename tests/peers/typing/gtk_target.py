# SPDX-License-Identifier: GPL-2.0-or-later
"""A GTK 3 window with a text view (or, with "entry", an entry): answers get and clear on stdin."""
import json
import os
import sys

import gi
gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402

window = Gtk.Window(title="typing target")
window.set_default_size(600, 400)
if "entry" in sys.argv[1:]:
    field = Gtk.Entry()
    get, put = field.get_text, field.set_text
else:
    field = Gtk.TextView()
    buffer = field.get_buffer()

    def get():
        return buffer.get_text(buffer.get_start_iter(), buffer.get_end_iter(), True)
    put = buffer.set_text
window.add(field)
window.show_all()
field.grab_focus()
rest = b""


def on_input(_fd, _condition):
    global rest
    data = os.read(0, 4096)
    if not data:
        Gtk.main_quit()
        return False
    rest += data
    while b"\n" in rest:
        line, rest = rest.split(b"\n", 1)
        if line == b"clear":
            put("")
        print(json.dumps(get()), flush=True)
    return True


GLib.io_add_watch(0, GLib.IO_IN | GLib.IO_HUP, on_input)
print("ready", flush=True)
Gtk.main()
