#!/bin/bash
# SPDX-License-Identifier: MIT
# Unmodified LLVM hosts of Debian, without any flag: of 2,000 or more samples that fall into JIT code at least 98 % carry a
# function's name, and, where the host emits line tables, 95 % a source line; output and exit status are what they are alone.
. tests/live/begin.bash
# Numba emits line tables only when it is asked to (NUMBA_DEBUGINFO=1): names without it, lines with it.
judge /usr/bin/python3 tests/hosts/jits.py "$B" --check --samples 2000 numba:gdb lli:gdb
finish
