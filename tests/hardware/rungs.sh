#!/bin/sh
# SPDX-License-Identifier: MIT
# Every way to sample that this machine allows: the engine's queries, attributed.
exec "${PYTHON:-/usr/bin/python3}" tests/hardware/hardware.py "$1" rungs
