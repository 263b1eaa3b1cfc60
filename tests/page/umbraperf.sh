#!/bin/bash
# SPDX-License-Identifier: MIT
# A recording of UmbraPerf becomes a trace: reports of operators and pipelines count, event by event, what the recording has.
# RECORDINGS=FOLDER: where others are.
. tests/page/begin.bash
recordings=()
for file in "${RECORDINGS:-../shared/data/umbraperf}"/*.umbraperf; do
	[ -e "$file" ] && recordings+=("$file")
done
timeout 3000 node tests/page/umbraperf_check.mjs "$B" "$dir" "${recordings[@]}"
