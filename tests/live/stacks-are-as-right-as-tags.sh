#!/bin/bash
# SPDX-License-Identifier: MIT
# See stacks_as_tags.py: with blocks that see 1.2 points (of 100) of a large operator's share.
exec /usr/bin/python3 tests/live/stacks_as_tags.py "$1" 32000
