#!/bin/bash
# SPDX-License-Identifier: MIT
# Compiled methods have names and lines in a program that embeds a Java machine, as they have under the launcher.
. tests/live/begin.bash
judge /usr/bin/python3 tests/hosts/jits.py "$B" --check "openjdk embedded:adapter"
finish
