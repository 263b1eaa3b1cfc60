#!/bin/bash
# SPDX-License-Identifier: MIT
# A registration whose call returned 0 is in the trace: 100 rounds of 400,000 records from four threads and their forked children, with
# slow recorders, hosts that are stopped or killed, constructors, and recordings that end before their host (tests/live/ledger.py).
. tests/live/begin.bash
judge /usr/bin/python3 tests/live/ledger.py "$B" "$dir" 100 100000
finish
