#!/bin/sh
# SPDX-License-Identifier: MIT
# Samples of branch misses are at branches, or at the compare before one.
exec "${PYTHON:-/usr/bin/python3}" tests/hardware/hardware.py "$1" branches
