#!/bin/bash
# SPDX-License-Identifier: MIT
# A backend of PostgreSQL is killed while eight clients write, and the server restarts all others: each client loses the transaction that it
# waits for and no other, in a server that is recorded (preloaded, and attached to) as in one that is not; and the recording goes on.
. tests/live/begin.bash
judge /usr/bin/python3 tests/live/postgres_crashes.py "$B"
finish
