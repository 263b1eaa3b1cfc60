#!/bin/bash
# SPDX-License-Identifier: MIT
# Generated code that comes without unwind information, and keeps no frame pointer: nearly every stack reaches the thread's root, by
# reading the code (LLVM's nounwind functions), or by what an adapter knows of its frames.
set -u
out=$(timeout 300 /usr/bin/python3 tests/hosts/jits.py "$1" --check --stacks --seconds 1 \
	numba:gdb faust "pocl:image" "guile:perf map" ruby:region)
status=$?
printf '%s\n' "$out"
# the heading is no host
[ "$(printf '%s\n' "$out" | grep -c '^FIGURE')" -gt 1 ] || { echo "skipped, because none of these hosts is installed"; exit 77; }
exit $status
