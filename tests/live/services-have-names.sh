#!/bin/bash
# SPDX-License-Identifier: MIT
# tailor records the processes of a systemd unit or a container, by real control groups; one that joins the unit later is recorded as well;
# trace and store know whose service each process is, also by the name that it has for OpenTelemetry.
. tests/live/begin.bash
[ "$(id -u)" = 0 ] || skip "control groups are root's to make"
root= slice=tailor-$$.slice
for r in /sys/fs/cgroup/unified /sys/fs/cgroup /sys/fs/cgroup/systemd; do
	[ -e "$r/cgroup.procs" ] && mkdir "$r/$slice" 2>/dev/null && root=$r/$slice && break
done
[ -n "$root" ] || skip "no hierarchy of control groups can be written to"
unit=$root/tailor-$$.service id=$(printf '%064x' $$)
container=$root/docker-$id.scope hosts=()
clear() {
	kill -9 "${hosts[@]}" 2>/dev/null
	wait 2>/dev/null
	rmdir "$unit" "$container" "$root"
	rm -rf "$dir"
}
trap clear EXIT
mkdir "$unit" "$container"

start() { # GROUP COMMAND...: in that group from its begin on
	local group=$1
	shift
	sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' sh "$group" "$@" &
	hosts+=($!)
}

start "$unit" sh -c 'while :; do :; done'
start "$container" sh -c 'while :; do :; done'
in_groups() { grep -q . "$unit/cgroup.procs" && grep -q . "$container/cgroup.procs"; }
wait_for in_groups

"$B/tailor" watch -q --unit "tailor-$$" --store "$dir/w.tlrs" --epochs 500ms --cost 5% 2>"$dir/said" &
recorder=$!
db() { "$B/tailor" db report "$dir/w.tlrs" --json "$@" 2>/dev/null; }
has() { db --service "tailor-$$.service" --view processes | grep -q "\"$1\"" || ! kill -0 $recorder 2>/dev/null; }
wait_for has dash
start "$unit" awk 'BEGIN { while (1) n++ }'
wait_for has mawk
# who asks about a process that is watched is told where the answer is
watched=$(cat "$unit/cgroup.procs" | head -1)
"$B/tailor" attach -q -d 0.2 -o "$dir/no.tlr" "$watched" 2>"$dir/err" && fail "expected attach beside watch to be refused"
grep -q "recorded by another .tailor watch.: .tailor top $dir/w.tlrs. .*tailor db trace $dir/w.tlrs --last 10m" "$dir/err" ||
	fail "expected the store of watch to be named, got: $(cat "$dir/err")"
kill -TERM $recorder
wait $recorder || fail "tailor watch: expected exit 0, got $?: $(cat "$dir/said")"
db --view services >"$dir/json"
judge /usr/bin/python3 - "$dir/json" "tailor-$$.service" <<'PYTHON'
import json, sys
services = [s["name"] for s in json.load(open(sys.argv[1]))["tables"]["services"]]
if services != [sys.argv[2]]:
    sys.exit(f"expected the service {sys.argv[2]} alone, got {services}")
PYTHON
db --service "tailor-$$.service" --view processes | grep -q '"mawk"' || fail "expected the process that joined the unit later"

"$B/tailor" attach -q --container "${id:0:12}" -d 0.5 -o "$dir/c.tlr" || fail "attach --container: exit $?"
n=$("$B/tailor" dump "$dir/c.tlr" | grep -c " SERVICE group=\"/$slice/docker-$id.scope\" name=\"${id:0:12}\"")
[ "$n" = 1 ] || fail "expected a record of the container's service, got $n: $("$B/tailor" dump "$dir/c.tlr" | grep SERVICE)"
OTEL_RESOURCE_ATTRIBUTES=deployment=test,service.name=shop "$B/tailor" run -q -o "$dir/r.tlr" -- \
	sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done' || fail "run: exit $?"
"$B/tailor" report --service shop "$dir/r.tlr" >/dev/null || fail "expected samples of the service shop"
"$B/tailor" report --view services --json "$dir/r.tlr" >"$dir/json"
judge /usr/bin/python3 - "$dir/json" <<'PYTHON'
import json, sys
services = json.load(open(sys.argv[1]))["tables"]["services"]
if [s["name"] for s in services] != ["shop"]:
    sys.exit(f"expected the service shop alone, got {services}")
PYTHON
"$B/tailor" report --service nobody "$dir/r.tlr" >/dev/null 2>"$dir/said" && fail "expected no samples of the service nobody"
finish
