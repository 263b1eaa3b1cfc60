#!/bin/bash
# SPDX-License-Identifier: MIT
# What a stock PostgreSQL executes is read from outside: plans as EXPLAIN has them, queries inside of functions, cursors, prepared
# statements, parallel workers, a plan of a thousand nodes, statements of a few milliseconds, equal ones in a row; killed
# backends and unknown versions do not disturb recording or server.
exec python3 -u tests/live/postgres_plans.py "$1"
