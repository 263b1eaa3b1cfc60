#!/bin/sh
# SPDX-License-Identifier: MIT
# Samples of page faults are at instructions that access that address: IP, registers, addresses and code bytes agree.
exec "${PYTHON:-/usr/bin/python3}" tests/hardware/hardware.py "$1" faults
