#!/bin/bash
# SPDX-License-Identifier: MIT
# Pages of no samples, of one, without dictionary or plan, of 2,000 operators, 500 threads and 200,000 code objects, and of hostile
# names show all their views; without WebAssembly, SIMD or JavaScript, and when a script fails, there are a sentence and the tables.
. tests/page/begin.bash
need_page
"$B/bench/synthetic" 5000 50 "$dir/names.tlr" names events memory && "$B/bench/synthetic" 5000 200000 "$dir/objects.tlr" &&
	"$B/bench/synthetic" 2000 100 "$dir/functions.tlr" functions || exit 1
timeout 3000 node tests/page/odd.mjs "$B" "$dir" "$dir/names.tlr" "$dir/objects.tlr" "$dir/functions.tlr"
