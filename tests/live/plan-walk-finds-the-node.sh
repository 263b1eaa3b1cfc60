#!/bin/bash
# SPDX-License-Identifier: MIT
# See plan_walk.py: nodes of a plan that is interpreted, against what each of them counted.
. tests/live/begin.bash
judge /usr/bin/python3 tests/live/plan_walk.py "$B" one
judge /usr/bin/python3 tests/live/plan_walk.py "$B" several
finish
