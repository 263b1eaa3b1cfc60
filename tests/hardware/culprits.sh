#!/bin/sh
# SPDX-License-Identifier: MIT
# Loops that are slow for one reason each have that cause first in `--view stalls`, at least 18 of 21; clean ones have none.
tests/hosts/build.sh "$1" || exit 1
exec "${PYTHON:-/usr/bin/python3}" tests/hardware/culprits.py "$1"
