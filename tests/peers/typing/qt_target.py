# SPDX-License-Identifier: GPL-2.0-or-later
"""A Qt 5 window with a plain text edit: answers get and clear on stdin."""
import json
import os
import sys

from PyQt5.QtCore import QSocketNotifier
from PyQt5.QtWidgets import QApplication, QPlainTextEdit

app = QApplication(sys.argv)
field = QPlainTextEdit()
field.setWindowTitle("typing target")
field.resize(600, 400)
field.show()
field.setFocus()
rest = b""


def on_input():
    global rest
    data = os.read(0, 4096)
    if not data:
        app.quit()
        return
    rest += data
    while b"\n" in rest:
        line, rest = rest.split(b"\n", 1)
        if line == b"clear":
            field.setPlainText("")
        # toPlainText() turns no-break spaces into spaces; the document's raw text does not
        text = field.document().toRawText().replace("\u2029", "\n")
        print(json.dumps(text), flush=True)


notifier = QSocketNotifier(0, QSocketNotifier.Read)
notifier.activated.connect(on_input)
print("ready", flush=True)
app.exec_()
