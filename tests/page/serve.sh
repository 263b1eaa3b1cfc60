#!/bin/bash
# SPDX-License-Identifier: MIT
# `tailor serve`: its page has the numbers of `tailor report --json` under random filters, and draws what the page in a file draws; two
# pages at once have their own filters; what lacks the token, comes from elsewhere or makes no sense is refused; it ends on SIGTERM.
. tests/page/begin.bash
need_page
"$B/tailor" serve tests/golden/v2.tlr >"$dir/out" 2>"$dir/said" &
server=$!
for _ in $(seq 600); do
	[ -s "$dir/out" ] || [ -s "$dir/said" ] && break
	sleep 0.1
done
kill $server 2>/dev/null
wait $server
if grep -q libmicrohttpd "$dir/said"; then
	echo "skipped, because $(sed 's/^tailor serve: //' "$dir/said")"
	exit 77
fi
"$B/bench/synthetic" 20000 50 "$dir/synthetic.tlr" events memory marks changes || exit 1
recording "$dir/recording.tlr" || exit 1
second_recording || exit 1
/usr/bin/python3 tests/golden/cpi.py "$dir/causes.tlr" || exit 1
SERVE=1 timeout 3000 node tests/page/numbers.mjs "$B" "$dir" "${COMBINATIONS:-60}" \
	"$dir/recording.tlr" "$dir/synthetic.tlr" tests/golden/views/queries.tlr || exit 1
timeout 3000 node tests/page/serve.mjs "$B" "$dir" "$dir/recording.tlr" "$dir/synthetic.tlr"
