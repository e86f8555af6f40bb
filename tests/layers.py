#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the layers of the source tree by the includes of its files, as TAP.

Each folder may include the folders named for it below and itself; no folders or headers include
each other in a circle; includes are written from the root; each header compiles alone.
"""
import os
import re
import subprocess
import sys

from tap import run_checks

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MAY_INCLUDE = {
    "base": [],
    "display": ["base"],
    "capture": ["base", "display"],
    "takeover": ["base", "display"],
    "service": ["base", "display", "capture", "takeover"],
    "client": ["base"],
    "cli": ["base", "client"],
}
PACKAGES = "x11 xext xtst xdamage xfixes xrandr xres pixman-1 jansson libuv libwebsockets".split()
QUOTED = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)


def sources(folder):
    for where, _, names in os.walk(os.path.join(ROOT, folder)):
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                yield os.path.relpath(os.path.join(where, name), ROOT)


def includes(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return QUOTED.findall(file.read())


def wrong_layers():
    for folder, allowed in MAY_INCLUDE.items():
        for path in sources(folder):
            for included in includes(path):
                target = included.split("/")[0]
                if not os.path.exists(os.path.join(ROOT, included)):
                    yield f'{path}: "{included}" is not written from the root'
                elif target != folder and target not in allowed:
                    yield f'{path}: {folder}/ must not include "{included}"'


def circles():
    """Headers that include each other, each circle once."""
    graph = {path: includes(path) for folder in MAY_INCLUDE for path in sources(folder)}
    done = set()

    def walk(path, trail):
        if path in trail:
            yield " -> ".join(trail[trail.index(path):] + [path])
        elif path not in done:
            for included in graph.get(path, []):
                yield from walk(included, trail + [path])
            done.add(path)

    for path in graph:
        yield from walk(path, [])


def headers_that_need_others():
    flags = subprocess.run(["pkg-config", "--cflags", *PACKAGES], check=True,
                           capture_output=True, text=True).stdout.split()
    for folder in MAY_INCLUDE:
        for path in sources(folder):
            if not path.endswith(".h"):
                continue
            command = ["cc", "-fsyntax-only", "-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra",
                       "-Wno-unused-parameter", "-Werror", "-I", ROOT, *flags, "-include",
                       os.path.join(ROOT, path), "-x", "c", "/dev/null"]
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            if result.returncode != 0:
                yield f"{path} does not compile alone:\n{result.stderr}"


def main():
    return run_checks([
        ("folders include only what is below them", wrong_layers),
        ("headers do not include each other in a circle", circles),
        ("each header compiles alone", headers_that_need_others),
    ])


if __name__ == "__main__":
    sys.exit(main())
