#!/bin/bash
# SPDX-License-Identifier: MIT
# What views draw, as lists, and their elements, as screen readers have them, are what tests/page/drawn has (ACCEPT=1 takes the new ones).
. tests/page/begin.bash
need_page
recording "$dir/recording.tlr" || exit 1
node tests/page/odd_traces.mjs "$dir" >/dev/null
/usr/bin/python3 tests/golden/calls.py "$dir/calls.tlr" text || exit 1
cp tests/golden/views/{names,whatif}.tlr tests/golden/compare/q3.tlr tests/golden/compare/fig9.tlr tests/golden/v2.tlr "$dir"
page() { # NAME TRACE...
	name=$1
	shift
	(cd "$dir" && "$B/tailor" html "$@" -o "$name.html") && pages+=("$name=$dir/$name.html") # a page has its traces' paths
}
pages=()
page recording recording.tlr && page names names.tlr && page compared q3.tlr fig9.tlr && page stacks v2.tlr && page no-plan no-plan.tlr &&
	page no-samples no-samples.tlr && page calls calls.tlr && page whatif whatif.tlr || exit 1
timeout 3000 node tests/page/drawn.mjs "$B" tests/page/drawn "${pages[@]}"
