# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks told in the Test Anything Protocol."""


def run_checks(checks):
    """Runs checks, pairs of a name and a function that yields faults; returns the exit status."""
    has_failed = False
    print(f"1..{len(checks)}")
    for number, (name, check) in enumerate(checks, 1):
        faults = list(check())
        print(f"{'not ok' if faults else 'ok'} {number} - {name}")
        for fault in faults:
            print("\n".join(f"# {line}" for line in fault.splitlines()))
        has_failed |= bool(faults)
    return 1 if has_failed else 0
