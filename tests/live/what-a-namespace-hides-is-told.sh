#!/bin/bash
# SPDX-License-Identifier: MIT
# In a user namespace root has no rights outside, and in a control group namespace groups have no names. Both are said, and the
# advice can be followed: nobody is told to become root who is root already.
. tests/live/begin.bash
trap 'kill "${others[@]}" 2>/dev/null; rm -rf "$dir"' EXIT
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
finish
