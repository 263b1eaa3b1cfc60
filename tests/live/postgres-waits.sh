#!/bin/bash
# SPDX-License-Identifier: MIT
# With context switches, each wait of a PostgreSQL server belongs to the node that waits, with the server's own wait event; and all that a
# backend does belongs to its session.
. tests/live/begin.bash
judge /usr/bin/python3 tests/live/postgres_waits.py "$B"
finish
