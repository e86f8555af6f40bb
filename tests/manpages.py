#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks the man pages against the tables of the programs, as TAP: manpages.py BOXSCREEN BOXSCREEND

Every command and option of the programs and every function of the library is described in its page,
and no page describes one that does not exist.
"""
import os
import re
import subprocess
import sys

from tap import run_checks

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGES = os.path.join(ROOT, "docs", "man")
OPTION = re.compile(r"--[a-z][a-z0-9-]*")


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def read_page(name):
    with open(os.path.join(PAGES, name), encoding="utf-8") as file:
        return file.read()


def described_options(text):
    """The options that a part of a page has an entry for: "*-o*, *--output* _FILE_"."""
    entries = re.findall(r"^(?:\*-\w\*, )?\*(--[a-z0-9-]+)\*", text, re.M)
    return set(entries)


def compare(what, table, page):
    for name in sorted(table - page):
        yield f"{what}: {name} is not in the man page"
    for name in sorted(page - table):
        yield f"{what}: the man page describes {name}, which does not exist"


def tool_faults(program):
    table = {}
    for line in output_of(program, "help", "--names").splitlines():
        name, _, option = line.partition(" --")
        options = table.setdefault(name, set())
        if option:
            options.add("--" + option.split(" ")[0])
    page = read_page("boxscreen.1.scd")
    general = re.search(r"^# OPTIONS OF ALL COMMANDS\n(.*?)^# ", page, re.M | re.S).group(1)
    yield from compare("all commands", table.pop("*"), described_options(general))
    commands = re.search(r"^# COMMANDS\n(.*?)^# ", page, re.M | re.S).group(1)
    sections = re.split(r"^## (.+)\n", commands, flags=re.M)[1:]
    described = dict(zip(sections[::2], sections[1::2]))
    yield from compare("commands", set(table), set(described))
    for name in table.keys() & described.keys():
        yield from compare(name, table[name], described_options(described[name]))


def daemon_faults(program):
    table = set(OPTION.findall(output_of(program, "--help")))
    page = read_page("boxscreend.8.scd")
    yield from compare("boxscreend", table, described_options(page))


def spaceless(text):
    """C without what may be written in several ways: blanks, comments, scdoc's marks."""
    return re.sub(r"\s+|[\\*_]|\+\+$", "", text, flags=re.M)


def library_faults():
    """The page's synopsis has the header's declarations, word for word."""
    with open(os.path.join(ROOT, "client", "boxscreen.h"), encoding="utf-8") as file:
        header = set(re.findall(r"^BOXSCREEN_API ([^;]+);", file.read(), re.M))
    synopsis = re.search(r"^# SYNOPSIS\n(.*?)^# ", read_page("libboxscreen.3.scd"), re.M | re.S)
    page = re.findall(r"^([a-z][^;\n]+\));", synopsis.group(1), re.M)
    yield from compare("libboxscreen", {spaceless(text) for text in header},
                       {spaceless(text) for text in page})


def rendering_faults():
    for name in sorted(os.listdir(PAGES)):
        if not name.endswith(".scd"):
            continue
        result = subprocess.run(["scdoc"], input=read_page(name), capture_output=True, text=True,
                                check=False)
        if result.returncode != 0:
            yield f"{name}: {result.stderr.strip()}"


def main():
    tool, daemon = sys.argv[1:3]
    return run_checks([
        ("boxscreen(1) says what the command table says", lambda: tool_faults(tool)),
        ("boxscreend(8) says what the option table says", lambda: daemon_faults(daemon)),
        ("libboxscreen(3) says what the header says", library_faults),
        ("scdoc takes every page", rendering_faults),
    ])


if __name__ == "__main__":
    sys.exit(main())
