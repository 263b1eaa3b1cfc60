#!/bin/bash
# SPDX-License-Identifier: MIT
# Thirty operators of three names can be told apart on the page: each is chosen by one click, in the plan and in a table, and no two rows of
# a view are alike.  A search for a function or a component sums what `tailor report --below` does.
. tests/page/begin.bash
need_page
/usr/bin/python3 tests/golden/thirty.py "$dir/thirty.tlr" || exit 1
timeout 3000 node tests/page/names.mjs "$B" "$dir" "$dir/thirty.tlr" \
	tests/golden/v2.tlr tests/golden/compare/q3.tlr tests/golden/views/queries.tlr
