#!/bin/sh
# SPDX-License-Identifier: MIT
# Real machine code of loops that are slow for one reason each, with samples as a processor would give them: the planted cause is first.
# Not quick: generates and solves some forty loops.
command -v objdump >/dev/null || { echo "skipped, because objdump is not installed (package binutils)"; exit 77; }
tests/hosts/build.sh "$1" || exit 1
rm -rf "$1/golden-planted"
exec /usr/bin/python3 tests/golden/planted_causes.py "$1" "$1/golden-planted"
