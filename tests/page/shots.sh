#!/bin/bash
# SPDX-License-Identifier: MIT
# Every view can be looked at, light and dark, at two sizes and on a phone: BUILD/page-shots/PAGE-VIEW-SCHEME-SIZE.png.
# (RECORDINGS=FOLDER: of those, too.)
. tests/page/begin.bash
need_page
recording "$dir/recording.tlr" || exit 1
/usr/bin/python3 tests/golden/calls.py "$dir/calls.tlr" text && /usr/bin/python3 tests/golden/cpi.py "$dir/causes.tlr" || exit 1
traces=("$dir/calls.tlr" "$dir/causes.tlr" "$dir/recording.tlr" tests/golden/v2.tlr)
for file in "${RECORDINGS:-../shared/data/umbraperf}"/*.umbraperf; do
	[ -e "$file" ] || continue
	node tests/page/umbraperf.mjs "$file" -o "$dir/$(basename "$file" .umbraperf).tlr" --packages "$B/page-deps" 2>/dev/null || exit 1
	traces+=("$dir/$(basename "$file" .umbraperf).tlr")
done
for trace in "${traces[@]}"; do
	"$B/tailor" html "$trace" -o "$dir/$(basename "$trace" .tlr).html" || exit 1
done
two=("${traces[@]:4:2}")
[ ${#two[@]} = 2 ] || two=(tests/golden/compare/q3.tlr tests/golden/compare/fig9.tlr)
"$B/tailor" html "${two[@]}" -o "$dir/two.html" || exit 1
rm -rf "$B/page-shots"
timeout 3000 node tests/page/shots.mjs "$B" "$B/page-shots" "$dir"/*.html || exit 1
nr=$(find "$B/page-shots" -name '*.png' -size +4k | wc -l)
[ "$nr" -ge 50 ] || { echo "expected at least 50 pictures in $B/page-shots, got $nr"; exit 1; }
echo "FIGURE $nr pictures of views in $B/page-shots"
