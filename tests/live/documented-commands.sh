#!/bin/bash
# SPDX-License-Identifier: MIT
# What the documents tell a reader to type works: each command of each `sh` block of each page is run, in the page's order, and each
# option that a page names exists.  A command that the table beside this test does not cover fails it.  Of recordings nothing is asked but
# that the commands that read them succeed, so few samples do.
. tests/live/begin.bash
/usr/bin/python3 tests/live/documented_commands.py "$B" "$dir"
