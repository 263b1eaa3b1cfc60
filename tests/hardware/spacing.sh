#!/bin/sh
# SPDX-License-Identifier: MIT
# Samples of a fixed period are as far apart as it says.
exec "${PYTHON:-/usr/bin/python3}" tests/hardware/hardware.py "$1" spacing
