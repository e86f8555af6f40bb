#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""gtk_entry.py FILE: a GTK 3 entry that has its text in FILE all the time; SIGUSR1 empties it."""
import os
import signal
import sys

import gi
gi.require_version("Gtk", "3.0")
from gi.repository import GLib, Gtk  # noqa: E402


def save(entry):
    with open(sys.argv[1] + ".part", "w", encoding="utf-8") as file:
        file.write(entry.get_text())
    os.rename(sys.argv[1] + ".part", sys.argv[1])


def clear():
    entry.set_text("")
    save(entry)
    return True


window = Gtk.Window(title="gtk entry")
window.set_default_size(600, 400)
window.connect("destroy", Gtk.main_quit)
entry = Gtk.Entry()
entry.connect("changed", save)
window.add(entry)
window.show_all()
entry.grab_focus()
GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGUSR1, clear)
GLib.idle_add(save, entry)
Gtk.main()
