#!/bin/bash
# SPDX-License-Identifier: MIT
# The Code view has the text of source files around hot lines, with each line's share as `report --view lines` has it, a gap where lines are
# left out, and with the lines the instructions that they became.  Functions of a language lead where they have most samples.
. tests/page/begin.bash
need_page
mkdir "$dir/app"
for m in 0 1 2 3 4 5 6; do
	seq -f "	line %g of module_$m.js  <b>&amp;" 240 >"$dir/app/module_$m.js"
	touch -d @0 "$dir/app/module_$m.js"
done
"$B/tailor" html --source-path "/synthetic/app=$dir/app" --source-text 12000 -o "$dir/host.html" tests/golden/views/host.tlr || exit 1
"$B/tailor" report --view lines --json --top 0 tests/golden/views/host.tlr >"$dir/lines.json" || exit 1
"$B/tailor" html --component module:app/module_5.js -o "$dir/lead.html" tests/golden/views/host.tlr || exit 1
"$B/tailor" html -o "$dir/v2.html" tests/golden/v2.tlr || exit 1
timeout 3000 node tests/page/texts.mjs "$B" "$dir/host.html" "$dir/lines.json" "$dir/v2.html" "$dir/lead.html"
