#!/bin/bash
# SPDX-License-Identifier: MIT
# Each transformation of generated code (A. Beischl et al., Profiling Dataflow Systems on Multiple Abstraction Levels, EuroSys 2021,
# table 1) leaves the results and the mapping right: with and without it, samples end on the operators whose work they are.
# Long: each transformation is recorded with and without it; all are of the test engine.
exec /usr/bin/python3 tests/live/optimizations.py "$1"
