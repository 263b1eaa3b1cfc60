#!/bin/bash
# SPDX-License-Identifier: MIT
# See stacks_as_tags.py.
exec /usr/bin/python3 tests/live/stacks_as_tags.py "$1" 8000
