#!/bin/bash
# SPDX-License-Identifier: MIT
# See tests/live/stacks_as_tags.py.
exec timeout 1200 /usr/bin/python3 tests/live/stacks_as_tags.py "$1" 20 5
