# SPDX-License-Identifier: GPL-2.0-or-later
"""Displays, the typer and the programs typed into, for tests/peers/typing."""
import http.server
import json
import os
import random
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"  # the one that has gi and PyQt5


def wait_for(condition, seconds, step=0.01):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(step)
    return condition()


class Display:
    """An Xvfb of its own, with a window manager if one is named."""

    def __init__(self, wm="openbox", layout=None):
        self.dir = tempfile.mkdtemp(prefix="typing-")
        self.children = []
        read_fd, write_fd = os.pipe()
        self.xvfb = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write_fd), "-screen", "0", "1280x800x24", "-noreset",
             "-nolisten", "tcp"], pass_fds=[write_fd], stderr=subprocess.DEVNULL)
        os.close(write_fd)
        number = b""
        while not number.endswith(b"\n"):
            number += os.read(read_fd, 16)
        os.close(read_fd)
        self.name = ":" + number.decode().strip()
        self.env = dict(os.environ, DISPLAY=self.name, LANG="C.UTF-8", LC_ALL="C.UTF-8",
                        GTK_IM_MODULE="", NO_AT_BRIDGE="1", HOME=self.dir,
                        XDG_CONFIG_HOME=self.dir, XDG_CACHE_HOME=self.dir,
                        XDG_RUNTIME_DIR=self.dir)
        self.run("xset", "r", "off")  # keys that the test holds must not repeat by themselves
        if wm:
            self.spawn([wm], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            wait_for(lambda: b"no such atom" not in self.output("xprop", "-root", "_NET_SUPPORTED")
                     and b"ATOM" in self.output("xprop", "-root", "_NET_SUPPORTED"), 10)
        if layout:
            self.set_layout(layout)

    def spawn(self, command, **kwargs):
        child = subprocess.Popen(command, env=kwargs.pop("env", self.env), cwd=self.dir, **kwargs)
        self.children.append(child)
        return child

    def run(self, *command):
        return subprocess.run(command, env=self.env, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=60, check=False)

    def output(self, *command):
        return self.run(*command).stdout

    def set_layout(self, layout):
        """ "cz,cz/,rus" is layouts/variants; a trailing "#1" locks that group. """
        layout, _, group = layout.partition("#")
        layouts, _, variants = layout.partition("/")
        self.run("setxkbmap", "-layout", layouts, "-variant", variants)
        if group:
            self.xdo_group(int(group))

    def xdo_group(self, group):
        self.run(PYTHON, os.path.join(HERE, "xstate.py"), "group", str(group))

    def lock(self, name):
        self.run(PYTHON, os.path.join(HERE, "xstate.py"), "lock", name)

    def unlock(self, name):
        self.run(PYTHON, os.path.join(HERE, "xstate.py"), "unlock", name)

    def state(self):
        """Keymap, locks, group and what is held: the same before and after."""
        return {
            "keymap": self.output("xkbcomp", "-w0", self.name, "-").decode(),
            "xmodmap": self.output("xmodmap", "-pke").decode(),
            "state": self.output(PYTHON, os.path.join(HERE, "xstate.py"), "show").decode(),
            "repeat": [line for line in self.output("xset", "q").decode().splitlines()
                       if "auto repeat" in line or "repeating keys" in line
                       or line.startswith("      ")],
        }

    def close(self):
        for child in reversed(self.children):
            if child.poll() is None:
                child.terminate()
        for child in self.children:
            try:
                child.wait(5)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self.xvfb.terminate()
        self.xvfb.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


class Typer:
    """tests/helper/typer, one command at a time."""

    def __init__(self, display, binary, quiet_ms=300):
        self.child = display.spawn([os.path.abspath(binary), str(quiet_ms)], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, bufsize=0)
        self.rest = b""
        assert self.line() == "ready"

    def line(self, seconds=120):
        while b"\n" not in self.rest:
            if not select.select([self.child.stdout], [], [], seconds)[0]:
                raise TimeoutError("typer does not answer")
            data = os.read(self.child.stdout.fileno(), 65536)
            if not data:
                raise EOFError("typer ended with %s" % self.child.wait())
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode()

    def send(self, command):
        self.child.stdin.write(command.encode() + b"\n")

    def do(self, command):
        self.send(command)
        return self.line()

    def type(self, text, verb="type"):
        return self.do("%s %s" % (verb, json.dumps(text)))

    def quiet(self):
        return self.do("quiet")

    def close(self):
        self.child.stdin.close()
        self.child.wait(20)
        return self.child.returncode

    def kill(self):
        self.child.send_signal(signal.SIGKILL)
        self.child.wait()


class Target:
    """A program with a text field that has the focus."""

    def settle(self, expected, seconds=30):
        """The text once it is as expected, or has not changed for a while."""
        deadline = time.monotonic() + seconds
        last, since = None, time.monotonic()
        while time.monotonic() < deadline:
            text = self.read()
            if text == expected:
                time.sleep(0.05)  # nothing more may come after it
                return self.read()
            if text != last:
                last, since = text, time.monotonic()
            elif time.monotonic() - since > 5:  # a page that draws 10,000 characters stalls
                break
            time.sleep(0.05)
        return last


class Xterm(Target):
    name = "xterm"

    def __init__(self, display):
        self.path = os.path.join(display.dir, "xterm.out")
        open(self.path, "wb").close()
        self.offset = 0
        display.spawn(["xterm", "-u8", "-T", "tt", "-geometry", "100x30+0+0", "-e", "sh", "-c",
                       "stty -echo -icanon min 1 -ixon; echo x > ready; exec dd of=%s bs=1"
                       % self.path], stderr=subprocess.DEVNULL)
        assert wait_for(lambda: os.path.exists(os.path.join(display.dir, "ready")), 10)
        focus(display, "tt")

    def clear(self):
        self.offset = os.path.getsize(self.path)

    def read(self):
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            return file.read().decode("utf-8", "replace")


class Toolkit(Target):
    """A child that answers "get" and "clear" on its stdin."""

    def __init__(self, display, name, script):
        self.name = name
        self.child = display.spawn([PYTHON, os.path.join(HERE, script)] + name.split("-")[1:],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        assert self.child.stdout.readline() == b"ready\n", name
        focus(display, "typing target")

    def ask(self, command):
        self.child.stdin.write(command + b"\n")
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())

    def clear(self):
        self.ask(b"clear")

    def read(self):
        return self.ask(b"get")


class Page(Target):
    """A textarea in a browser, asked by a long poll."""

    def __init__(self, display, name, command):
        self.name = name
        self.changed = threading.Condition()
        self.command = (0, "")
        self.answer = (0, None)
        page = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *args):
                pass

            def reply(self, body, kind):
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                if self.path.startswith("/wait?"):
                    last = int(self.path.partition("?")[2])
                    with page.changed:
                        page.changed.wait_for(lambda: page.command[0] > last, 20)
                        command = page.command
                    self.reply(json.dumps(command).encode(), "application/json")
                elif self.path == "/":
                    with open(os.path.join(HERE, "page.html"), "rb") as file:
                        self.reply(file.read(), "text/html; charset=utf-8")
                else:
                    self.send_error(404)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with page.changed:
                    page.answer = (int(self.path.partition("?")[2]), body.decode("utf-8"))
                    page.changed.notify_all()
                self.reply(b"", "text/plain")

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *args: None  # the browser went while it was waiting
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        url = "http://127.0.0.1:%d/" % self.server.server_address[1]
        display.spawn(command(url, display.dir), stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL)
        assert self.ask("get", 60) is not None, name
        focus(display, "typing target")
        assert wait_for(lambda: json.loads(self.ask("focus")), 20), "the page has no focus"

    def ask(self, command, seconds=60):
        with self.changed:
            number = self.command[0] + 1
            self.command = (number, command)
            self.changed.notify_all()
            if not self.changed.wait_for(lambda: self.answer[0] == number, seconds):
                raise TimeoutError("the page does not answer")
            return self.answer[1]

    def clear(self):
        self.ask("clear")

    def read(self):
        return json.loads(self.ask("get"))

    def events(self):
        return json.loads(self.ask("events"))


def chromium(display):
    return Page(display, "chromium", lambda url, dir: [
        "chromium", "--app=" + url, "--no-sandbox", "--disable-gpu", "--disable-quic",
        "--no-first-run", "--disable-background-networking", "--disable-component-update",
        "--disable-sync", "--password-store=basic", "--user-data-dir=" + dir + "/chromium"])


def firefox(display):
    profile = os.path.join(display.dir, "firefox")
    os.mkdir(profile)
    with open(os.path.join(profile, "user.js"), "w") as file:
        for name, value in (("browser.shell.checkDefaultBrowser", False),
                            ("datareporting.policy.dataSubmissionEnabled", False),
                            ("browser.aboutwelcome.enabled", False),
                            ("app.update.enabled", False),
                            ("network.captive-portal-service.enabled", False),
                            ("network.connectivity-service.enabled", False),
                            ("toolkit.telemetry.enabled", False)):
            file.write("user_pref(%s, %s);\n" % (json.dumps(name), json.dumps(value)))
    return Page(display, "firefox", lambda url, dir: [
        "firefox-esr", "--no-remote", "--profile", profile, "--kiosk", url])


TARGETS = {
    "xterm": Xterm,
    "gtk": lambda display: Toolkit(display, "gtk", "gtk_target.py"),
    "gtk-entry": lambda display: Toolkit(display, "gtk-entry", "gtk_target.py"),
    "gtk4": lambda display: Toolkit(display, "gtk4", "gtk4_target.py"),
    "qt": lambda display: Toolkit(display, "qt", "qt_target.py"),
    "chromium": chromium,
    "firefox": firefox,
}


def focus(display, title):
    """Gives the window the focus, with or without a window manager."""
    def try_once():
        found = display.output("xdotool", "search", "--onlyvisible", "--name", title).split()
        if not found:
            return False
        window = found[-1].decode()
        if b"window id" in display.output("xprop", "-root", "_NET_SUPPORTING_WM_CHECK"):
            display.run("xdotool", "windowactivate", window)
        else:
            display.run("xdotool", "windowfocus", window)
        time.sleep(0.1)
        return display.output("xdotool", "getwindowfocus").strip() != b"1"
    # openbox works 60 ms on each map change, and the texts before made hundreds.
    assert wait_for(try_once, 120, 0.2), "no window " + title


# Corpora

SCRIPTS = [
    "The quick brown fox jumps over the lazy dog. ", "Voix ambiguë d'un cœur qui préfère ",
    "Falsches Üben von Xylophonmusik quält jeden größeren Zwerg ", "Příliš žluťoučký kůň úpěl ",
    "Съешь же ещё этих мягких французских булок ", "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία ",
    "いろはにほへと ちりぬるを 漢字仮名交じり文 ", "我能吞下玻璃而不伤身体。", "키스의 고유조건은 ",
    "דג סקרן שט בים מאוכזב ", "نص حكيم له سر قاطع ", "ऋषियों को सताने वाले ", "เป็นมนุษย์สุดประเสริฐ ",
    "👩‍👩‍👧‍👦👍🏽🇯🇵🏳️‍🌈✈️ ", "e\u0301 a\u0308\u0323 n\u0303 ", "∀x∈ℝ: ⌈x⌉ = −⌊−x⌋ ½ ‰ ", "\n",
]


def corpus(name, count, seed):
    rng = random.Random("%s %d" % (name, seed))
    if name == "ascii":
        return "".join(rng.choice([chr(c) for c in range(0x20, 0x7f)] + ["\n"])
                       for _ in range(count))
    if name == "latin1":
        accents = "àáâãäçèéêëìíîïñòóôõöùúûüýÿÀÁÂÃÄÇÈÉÊËÌÍÎÏÑÒÓÔÕÖÙÚÛÜÝßøØåÅæÆ¿¡£€"
        return "".join(rng.choice(accents + "abcdefg ") for _ in range(count))
    if name == "scripts":
        text = ""
        while len(text) < count:
            text += rng.choice(SCRIPTS)
        return text[:count]
    if name == "random":
        # In lines, as text is: the toolkits lay out a line anew for each of its characters.
        return "".join("\n" if i % 60 == 59 else random_character(rng) for i in range(count))
    if name == "strings":
        return "\n".join(random_string(rng) for _ in range(count)) + "\n"
    raise ValueError(name)


MARKS = [0x300, 0x301, 0x303, 0x308, 0x30a, 0x323, 0x327, 0x328]
EMOJI = ["👍🏽", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇯🇵", "👩🏾‍💻", "✈️", "❤️‍🔥", "1️⃣", "🧑‍🚀"]


def random_string(rng):
    """A few letters of one script, or with marks, or pictures that belong together, or anything."""
    length = rng.randrange(1, 14)
    kind = rng.randrange(4)
    if kind == 0:
        script = rng.choice(SCRIPTS[:-1])
        start = rng.randrange(len(script))
        return (script + script)[start:start + length].replace("\n", " ")
    if kind == 1:
        return "".join(rng.choice("aeiouncsyzAEOU") + chr(rng.choice(MARKS))
                       for _ in range(length))
    if kind == 2:
        return "".join(rng.choice(EMOJI) for _ in range(1 + length // 5))
    return "".join(random_character(rng) for _ in range(length))


def ages():
    """Code points that Unicode 13 has (Qt 5 drops younger ones), by perl's tables."""
    if not ages.known:
        known = subprocess.run(
            ["perl", "-e", r"for (0x20..0x1ffff) { print chr($_) =~ /\p{Present_In=13.0}/ ? 1 : 0 "
             r"unless $_ >= 0xd800 && $_ < 0xe000 && print 0 }"], stdout=subprocess.PIPE,
            check=True).stdout
        ages.known = {0x20 + i for i, flag in enumerate(known) if flag == ord("1")}
    return ages.known


ages.known = None


def random_character(rng):
    """A character that text fields keep: no control, surrogate, private use or noncharacter."""
    while True:
        if rng.random() < 0.75:
            point = rng.randrange(0x20, 0x10000)
        else:
            point = rng.randrange(0x10000, 0x20000)
        # U+FEFF: Qt takes it for a byte order mark and drops it.
        if point != 0xfeff and point in ages() and unicodedata.category(chr(point)) not in (
                "Cc", "Cs", "Co", "Cn", "Zl", "Zp"):
            return chr(point)


def difference(sent, got):
    """How many characters are wrong, and where the first one is."""
    import difflib
    if sent == got:
        return 0, ""
    first = next((i for i, (a, b) in enumerate(zip(sent, got)) if a != b),
                 min(len(sent), len(got)))
    if len(sent) == len(got):
        wrong = sum(a != b for a, b in zip(sent, got))
    elif len(sent) <= 4000:
        matcher = difflib.SequenceMatcher(None, sent, got, autojunk=False)
        wrong = len(sent) - sum(block.size for block in matcher.get_matching_blocks())
    else:
        wrong = abs(len(sent) - len(got))
    return max(1, wrong), "at %d: %s became %s (lengths %d, %d)" % (
        first, ascii(sent[first:first + 6]), ascii(got[first:first + 6]), len(sent), len(got))
