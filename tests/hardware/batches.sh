#!/bin/sh
# SPDX-License-Identifier: MIT
# Samples that the processor collects itself, many before it interrupts the kernel, have the right times.
exec "${PYTHON:-/usr/bin/python3}" tests/hardware/hardware.py "$1" batches
