#!/bin/bash
# SPDX-License-Identifier: MIT
# tailor attach --inject, 50 times into each of the hosts of the live test.
TIMES=50 exec tests/live/inject-into-running-hosts.sh "$1"
