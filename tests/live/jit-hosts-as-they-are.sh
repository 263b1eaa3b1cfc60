#!/bin/bash
# SPDX-License-Identifier: MIT
# Unmodified hosts without any flag for a profiler: at least 98 % of the samples in generated code have a name, where the host knows
# lines 95 % have one, and output and exit status are what they are alone.
. tests/live/begin.bash
judge /usr/bin/python3 tests/hosts/jits.py "$B" --check \
	node:adapter openjdk:adapter luajit php:adapter mono:adapter erlang:gdb pypy javascriptcore:adapter
finish
