#!/bin/bash
# SPDX-License-Identifier: MIT
# page.sh BUILD: the table of `make bench-page`: a recording of UmbraPerf's kind, those in RECORDINGS, and ten million samples
# without stacks, in a file and served.
. tests/page/begin.bash
need_page
recording "$dir/recording.tlr" || exit 1
pages=("generated=$dir/recording.tlr")
for file in "${RECORDINGS:-../shared/data/umbraperf}"/*.umbraperf; do
	[ -e "$file" ] || continue
	name=$(basename "$file" .umbraperf)
	node tests/page/umbraperf.mjs "$file" -o "$dir/$name.tlr" --packages "$B/page-deps" 2>/dev/null || exit 1
	pages+=("$name=$dir/$name.tlr")
done
"$B/bench/synthetic" "${SAMPLES:-10000000}" 1000 "$dir/large.tlr" || exit 1
node tests/bench/page.mjs "$B" "$dir" "${pages[@]}" "10 million=$dir/large.tlr" \
	"10 million:served=$dir/large.tlr"
