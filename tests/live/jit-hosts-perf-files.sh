#!/bin/bash
# SPDX-License-Identifier: MIT
# Unmodified hosts that write a perf map or a jitdump file, or call Intel's interface: at least 98 % of the samples in generated code
# have a name (V8's also a source line), and output and exit status are what they are alone.
. tests/live/begin.bash
judge /usr/bin/python3 tests/hosts/jits.py "$B" --check \
	node:jitdump php:"perf map" php:intel mono:"perf map" erlang:"perf map" "guile:perf map" javascriptcore:jitdump
finish
