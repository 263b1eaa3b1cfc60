#!/bin/bash
# SPDX-License-Identifier: MIT
# Both scenarios of UmbraPerf's paper can be walked by clicks, on made recordings (RECORDINGS=FOLDER: on its own, too), and each step shows
# the figures of `tailor report` and `tailor diff`.
. tests/page/begin.bash
need_page
recording "$dir/recording.tlr" || exit 1
second_recording || exit 1
traces=("$dir/recording.tlr" "$SECOND")
for file in "${RECORDINGS:-../shared/data/umbraperf}"/*.umbraperf; do
	[ -e "$file" ] || continue
	node tests/page/umbraperf.mjs "$file" -o "$dir/$(basename "$file" .umbraperf).tlr" --packages "$B/page-deps" 2>/dev/null || exit 1
	traces+=("$dir/$(basename "$file" .umbraperf).tlr")
done
timeout 3000 node tests/page/scenarios.mjs "$B" "$dir" "${traces[@]}"
