#!/bin/bash
# SPDX-License-Identifier: MIT
# See stacks_as_tags.py.
exec timeout 300 /usr/bin/python3 tests/live/stacks_as_tags.py "$1" 6 1.2
