#!/bin/bash
# SPDX-License-Identifier: MIT
# Ten minutes of five hosts, recorded by `tailor watch` in epochs of 20 s and by `perf record` without a cut at the same time: the store
# has of each epoch what its counters counted; shares of operators and functions are the uncut trace's within sampling error; at most 1 % of
# the samples are on code without a name.
#     HOSTS="engine node" MINUTES=1 tests/run.sh BUILD long/epochs-agree    some of them, for so long
# DATA=FOLDER keeps what was recorded; where it has been, it is read again.
. tests/live/begin.bash
command -v perf >/dev/null || skip "perf is missing"
[ "$(id -u)" = 0 ] || skip "the whole machine is recorded by root only"
[ -z "${DATA:-}" ] || mkdir -p "$DATA"
for host in ${HOSTS:-engine node jvm postgres churn}; do
	judge /usr/bin/python3 tests/long/epochs_and_uncut.py "$B" "${DATA:-$dir}/$host" "$host" "${MINUTES:-10}"
done
finish
