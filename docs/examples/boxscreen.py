# SPDX-License-Identifier: GPL-2.0-or-later
"""The control socket of boxscreend, by Python's standard library alone."""
import http.client
import json
import os
import socket


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket; the host of its URLs is not looked at."""

    def __init__(self, path, timeout):
        super().__init__("boxscreen", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Screen:
    """A box's screen, shown to a model in pictures whose sides are max_side at most."""

    def __init__(self, path=None, max_side=1024):
        self.path = path or os.environ.get("BOXSCREEN_SOCKET", "/run/boxscreen/control.sock")
        _, status = self.call("GET", "/v1/status")
        if status["screen"]["state"] != "ready":
            raise RuntimeError(status["screen"]["message"])
        width, height = status["screen"]["width"], status["screen"]["height"]
        scale = min(1, max_side / max(width, height))
        # The model speaks in these pixels: the size of the pictures, which the daemon rounds so.
        self.width, self.height = (max(1, int(side * scale + 0.5)) for side in (width, height))
        self.max_side = max_side

    def call(self, method, target, body=None):
        """One call: its HTTP status and its JSON."""
        connection = UnixConnection(self.path, timeout=180)
        try:
            connection.request(method, target, json.dumps(body) if body is not None else None,
                               {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, json.load(answer)
        finally:
            connection.close()

    def act(self, vendors_call, **shot):
        """Does what a tool call of either vendor says, in its own words, and waits until the screen is quiet.

        Returns None and the answer, or what is wrong as a sentence for the model, and the error.
        """
        status, answer = self.call("POST", "/v1/act", {
            "actions": [vendors_call],
            "space": {"width": self.width, "height": self.height},
            "settle": {},
            "shot": {"max_side": self.max_side, **shot},
        })
        return (None if status == 200 else answer["message"]), answer
