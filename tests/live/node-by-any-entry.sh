#!/bin/bash
# SPDX-License-Identifier: MIT
# Node's code has names however a script gets there (ES module with top-level await, -e, stdin, threads, cluster, vm), and so has that of
# another embedder of V8, which opens no file and makes isolates in memory of earlier ones: at least 98 % of the samples in generated code.
. tests/live/begin.bash
judge /usr/bin/python3 tests/hosts/jits.py "$B" --check \
	"node module:adapter" "node -e:adapter" "node stdin:adapter" "node worker:adapter" "node cluster:adapter" "node vm:adapter" \
	"v8 embedded:adapter"
finish
