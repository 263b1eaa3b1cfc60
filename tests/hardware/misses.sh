#!/bin/sh
# SPDX-License-Identifier: MIT
# Samples of load misses are at loads, of the address that their registers give.
exec "${PYTHON:-/usr/bin/python3}" tests/hardware/hardware.py "$1" misses
