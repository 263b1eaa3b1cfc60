# SPDX-License-Identifier: MIT
"""What the files of this folder share: commands, verdicts of cells."""
import os
import re
import subprocess

PATIENCE_S = float(os.environ.get("PATIENCE_S", 300))


class Skip(Exception):
    """Why something cannot be tried here."""


class Refused(Exception):
    """What a command said instead of an answer."""


def sh(command, messages=None, **more):
    """The output of the command; Refused with what it said where it failed.  messages: a list, which gets what it printed beside it."""
    p = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE_S, **more)
    if p.returncode:
        raise Refused((p.stderr + p.stdout).decode(errors="replace").strip() or f"exit {p.returncode}")
    if messages is not None:
        messages.append(p.stderr.decode(errors="replace"))
    return p.stdout.decode(errors="replace")


def one_line(text, most=160):
    return re.sub(r"\s+", " ", text).strip()[:most]
