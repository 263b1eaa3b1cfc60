#!/bin/bash
# SPDX-License-Identifier: MIT
# tailor attach --inject, 200 times into each of the hosts of the live test.
TIMES=20 ATTACHES=10 LENGTH=4 HOSTS="replays engine luajit node" exec tests/live/inject-into-running-hosts.sh "$1"
