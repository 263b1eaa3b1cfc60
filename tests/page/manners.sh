#!/bin/bash
# SPDX-License-Identifier: MIT
# Every control of every view can be reached and used by keyboard, and axe-core finds nothing serious, light and dark.
. tests/page/begin.bash
need_page
recording "$dir/recording.tlr" || exit 1
"$B/tailor" html "$dir/recording.tlr" -o "$dir/recording.html" &&
	"$B/tailor" html tests/golden/compare/q3.tlr tests/golden/compare/fig9.tlr -o "$dir/compared.html" || exit 1
/usr/bin/python3 tests/golden/calls.py "$dir/calls.tlr" text && "$B/tailor" html "$dir/calls.tlr" -o "$dir/calls.html" || exit 1
"$B/tailor" html tests/golden/views/whatif.tlr -o "$dir/whatif.html" || exit 1
timeout 3000 node tests/page/manners.mjs "$B" "$dir/recording.html" "$dir/compared.html" "$dir/calls.html" "$dir/whatif.html"
