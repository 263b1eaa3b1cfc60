#!/bin/bash
# SPDX-License-Identifier: MIT
# Causes on the page are those of `tailor report --view cpi --view stalls --json` under random filters: each block's executions and
# cost, the bounds of its causes, and the summary; clicks lead from an operator to its cause, and from code to blocks.
. tests/page/begin.bash
need_page
/usr/bin/python3 tests/golden/cpi.py "$dir/cpi.tlr" && /usr/bin/python3 tests/golden/calls.py "$dir/counted.tlr" text || exit 1
timeout 3000 node tests/page/causes.mjs "$B" "$dir" "$(combinations 12)" "$dir/cpi.tlr" "$dir/counted.tlr" tests/golden/v2.tlr
