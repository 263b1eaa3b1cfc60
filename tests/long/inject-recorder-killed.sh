#!/bin/bash
# SPDX-License-Identifier: MIT
# The recorder killed while it injects, 200 times.
TIMES=200 exec tests/live/inject-recorder-killed.sh "$1"
