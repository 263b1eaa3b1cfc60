#!/bin/bash
# SPDX-License-Identifier: MIT
# Under 200 random combinations of filters the page's sums are those of `tailor report --json`: by thread, by function, and by the
# components of each level.  A page of two traces filters the second by the names of the first.
. tests/page/begin.bash
need_page
"$B/bench/synthetic" 20000 50 "$dir/synthetic.tlr" events memory marks changes || exit 1
recording "$dir/recording.tlr" || exit 1
second_recording || exit 1
export SHARED=$dir/shared.tlr
/usr/bin/python3 tests/golden/shared.py "$SHARED" || exit 1
timeout 3000 node tests/page/numbers.mjs "$B" "$dir" "${COMBINATIONS:-200}" "$dir/recording.tlr" "$dir/synthetic.tlr" tests/golden/v2.tlr \
	tests/golden/views/queries.tlr tests/golden/views/host.tlr
