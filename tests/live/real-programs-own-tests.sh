#!/bin/bash
# SPDX-License-Identifier: MIT
# CPython passes and fails the same of its own tests of signals, threads, processes and memory, alone and with the agent preloaded.
# (tests/long/suites.sh has more of them, and other programs'.)
# Long: suites of other programs; tests/long/suites.sh has more of them.
SUITES=python_short WAYS=preloaded exec tests/long/suites.sh "$1"
