#!/bin/bash
# SPDX-License-Identifier: MIT
# Each picture can be saved as SVG, PNG and CSV, each table as CSV, also where names are hostile.
. tests/page/begin.bash
need_page
recording "$dir/recording.tlr" || exit 1
node tests/page/odd_traces.mjs "$dir" >/dev/null
"$B/tailor" html "$dir/recording.tlr" -o "$dir/recording.html" && "$B/tailor" html "$dir/hostile-names.tlr" -o "$dir/hostile.html" &&
	"$B/tailor" html tests/golden/compare/q3.tlr tests/golden/compare/fig9.tlr -o "$dir/compared.html" &&
	"$B/tailor" html tests/golden/views/names.tlr -o "$dir/names.html" || exit 1
timeout 3000 node tests/page/saved.mjs "$B" "$dir/recording.html" "$dir/hostile.html" "$dir/compared.html" "$dir/names.html"
