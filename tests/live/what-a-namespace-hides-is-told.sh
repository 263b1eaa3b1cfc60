#!/bin/bash
# SPDX-License-Identifier: MIT
# In a user namespace root has no rights outside, in a control group namespace groups have no names, and in a PID namespace the processes
# outside have none. All is said, and the advice can be followed: nobody is told to become root who is root already. Processes outside of a
# PID namespace, which all have the number 0, are one row, and no code that a JIT did not name; the process inside has its own.
. tests/live/begin.bash
trap 'kill -9 "${others[@]}" 2>/dev/null; rm -rf "$dir"' EXIT
others=()
[ "$(id -u)" = 0 ] || skip "namespaces are made by root here"
chmod 777 "$dir" # the user of the namespace is another
said() { grep -Eq "$1" "$dir/said" || fail "expected '$1': $(cat "$dir/said")"; }
not_said() { ! grep -E "$1" "$dir/said" || fail "expected no '$1'"; }

user=(setpriv --reuid=65534 --regid=65534 --clear-groups unshare --user --map-root-user)
if timeout 20 "${user[@]}" "$B/tailor" help >/dev/null 2>&1; then
	timeout 60 "${user[@]}" "$B/tailor" doctor >"$dir/doctor" 2>&1
	tr -s ' \n' ' ' <"$dir/doctor" >"$dir/said"
	said 'user root \(0\) of a user namespace, without rights outside of it; relevant capabilities: none'
	not_said 'readable for all processes'
	not_said 'remedy: (sudo|run as root|record as root)'
	sleep 100 & others+=($!)
	timeout 60 "${user[@]}" "$B/tailor" attach -d 1 -o "$dir/t.tlr" $! >"$dir/said" 2>&1
	said 'outside of this user namespace'
	not_said 'as that user, or as root'
	timeout 60 "${user[@]}" "$B/tailor" attach --all -d 1 -o "$dir/t.tlr" >"$dir/said" 2>&1
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 0 ] || said 'root of the machine'
else
	undecided "another user can make no user namespace, or not read the build"
fi

if timeout 20 unshare --cgroup true 2>/dev/null; then
	timeout 100 unshare --cgroup "$B/tailor" run -q -o "$dir/c.tlr" -- "$B/hosts/busy" 1000 >/dev/null 2>&1
	"$B/tailor" report --view warnings "$dir/c.tlr" | tr -s ' \n' ' ' >"$dir/said"
	said 'no service: names of control groups are hidden by a control group namespace'
	timeout 60 unshare --cgroup "$B/tailor" attach -d 1 -o "$dir/t.tlr" --container 0123456789ab >"$dir/said" 2>&1
	said 'hidden by a control group namespace'
	"$B/tailor" run -q -o "$dir/o.tlr" -- "$B/hosts/busy" 1000 >/dev/null 2>&1
	"$B/tailor" report --view warnings "$dir/o.tlr" >"$dir/said"
	[ "$(stat -Lc %i /proc/self/ns/cgroup)" != $((0xEFFFFFFB)) ] || not_said 'control group namespace'
else
	undecided "no control group namespace can be made here"
fi

inside=(unshare --pid --fork --mount-proc)
outside='[other PID namespace]'
record_inside() { # SECONDS
	timeout 300 "${inside[@]}" bash -c '"$1/hosts/busy" 100000000 >/dev/null & "$1/tailor" "${@:2}"; kill -9 $!' bash "$B" \
		"${way[@]}" --duration "$1" 2>"$dir/err" || { fail "${way[*]}: exit $?: $(cat "$dir/err")"; return 1; }
	n=$("$B/tailor" "${of[@]}" --view processes --json | /usr/bin/python3 -c '
import json, sys
rows = json.load(sys.stdin)["tables"]["processes"]
inside = [r["samples"] for r in rows if r["name"] == "busy"]
print(int(min(sum(r["samples"] for r in rows if r["name"] == sys.argv[1]), *inside) if inside else 0))' "$outside")
}
if timeout 20 "${inside[@]}" true 2>/dev/null; then
	"$B/hosts/busy" 100000000 >/dev/null & others+=($!)
	way=(attach -q --all -o "$dir/t.tlr")
	of=(report "$dir/t.tlr")
	if gather 200 record_inside; then
		"$B/tailor" report "$dir/t.tlr" >"$dir/report"
		grep -q 'did not name' "$dir/report" && fail "code of other programs is taken for a JIT's: $(head -3 "$dir/report")"
		grep -q "record outside of the container" "$dir/err" ||
			fail "nothing says why other processes have no names: $(cat "$dir/err")"
		"$B/tailor" report --view processes --json --top 0 "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
rows = json.load(sys.stdin)["tables"]["processes"]
names = [r["name"] for r in rows if r["pid"] == 0]
print("process 0:", names)
sys.exit(names != [sys.argv[1]])' "$outside" || fail "expected one process 0, $outside"
	fi
else
	undecided "no PID namespace can be made here"
fi
finish
