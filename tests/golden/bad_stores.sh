#!/bin/bash
# SPDX-License-Identifier: MIT
# Stores that others made, with another schema, with rows that multiply, with impossible dates, with links and other users' files beside
# them, and some mutants: refused in a sentence, or read in little time and memory (tests/long/mutants-of-stores.sh has many more).
. tests/golden/begin.bash
[ -z "${SAN:-}" ] || { echo "skipped, because sanitizers take several times the memory"; exit 77; }
/usr/bin/python3 tests/store_mutants.py "$B/tailor" "$dir" 10 20
