#!/bin/bash
# SPDX-License-Identifier: MIT
# See tests/live/stacks_as_tags.py: with blocks whose figures of shares are good to a third of a point (of 100).
ENOUGH_S=1800 exec /usr/bin/python3 tests/live/stacks_as_tags.py "$1" 400000
