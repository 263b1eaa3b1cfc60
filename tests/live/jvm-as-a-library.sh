#!/bin/bash
# SPDX-License-Identifier: MIT
# Compiled methods have names and lines in a program that embeds a Java machine, as they have under the launcher; in one that loads it by
# itself they are read from its memory.
. tests/live/begin.bash
judge /usr/bin/python3 tests/hosts/jits.py "$B" --check "openjdk embedded:adapter"
judge /usr/bin/python3 tests/hosts/jits.py "$B" --check "openjdk embedded:memory"
finish
