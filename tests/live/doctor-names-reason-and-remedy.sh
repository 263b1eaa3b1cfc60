#!/bin/bash
# SPDX-License-Identifier: MIT
# tailor doctor in arranged environments: root, an ordinary user, a seccomp filter without perf events, no locked memory.  For each
# sampling method it reports whether it is available, and otherwise the reason and a remedy; and its findings are true.
# Rights: its remedies differ
. tests/live/begin.bash
chmod 755 "$dir"
trap 'kill -9 ${host:-} 2>/dev/null; rm -rf "$dir"' EXIT
cp "$B/tailor" "$B/hosts/forbid" "$dir/"
user=()
[ "$(id -u)" = 0 ] && user=(setpriv --reuid nobody --clear-groups)

check() { # NAME STATUS COMMAND... ; reads conditions in Python from stdin: f[name] is a finding
	name=$1 want=$2
	shift 2
	cat >"$dir/conditions.py"
	while :; do # until both speak of the same machine: the kernel lowers this limit at any time
		rate=$(allowed_rate 1000000)
		timeout 300 "$@" --json >"$dir/json" 2>"$dir/err"
		status=$?
		timeout 300 "$@" >"$dir/text" 2>&1
		[ "$rate" = "$(allowed_rate 1000000)" ] && break
	done
	[ $status = "$want" ] || fail "$name: expected exit $want, got $status: $(cat "$dir/err")"
	NAME=$name judge /usr/bin/python3 - "$dir/json" "$dir/text" "$dir/conditions.py" <<'PYTHON'
import json, os, sys
r = json.load(open(sys.argv[1]))
f = {x["name"]: x for x in r["findings"]}
text = " ".join(open(sys.argv[2]).read().split())
paranoid = int(open("/proc/sys/kernel/perf_event_paranoid").read())
wrong = []
for x in r["findings"]:
    if x["state"] not in ("yes", "less", "no", "fact") or not x["says"]:
        wrong.append(f"a finding without a state or a reason: {x}")
    if x["state"] == "less" and x["section"] == "limits" and not x["remedy"]:
        wrong.append(f"no remedy: {x}")
    if any(" ".join(x[k].split()) not in text for k in ("says", "remedy")):
        wrong.append(f"not in the text: {x}")
for rung in ["precise 3", "precise 2", "precise 1", "cycles", "task-clock", "signal at overflow", "timer per thread", "auto",
             "last branches (LBR)", "kernel functions", "memory for rings", "kernel.perf_event_paranoid", "user"]:
    if rung not in f:
        wrong.append(f"nothing is said about {rung}")
for line in open(sys.argv[3]):
    if line.strip() and not eval(line):
        wrong.append(f"not so: {line.strip()}\n    {text}")
if wrong:
    sys.exit("\n".join(f"{os.environ['NAME']}: {w}" for w in wrong))
states = " ".join(f"{x['name']}={x['state']}" for x in r["findings"] if x["section"] == "sampling")
print(f"FIGURE {os.environ['NAME']}: {states}")
PYTHON
}

if [ "$(id -u)" = 0 ]; then
	check root 0 "$dir/tailor" doctor <<'PYTHON'
r["can_record"]
f["task-clock"]["state"] == "yes"
f["memory for rings"]["state"] == "yes"
f["cycles"]["state"] == "yes" or f["cycles"]["says"]
"root (0)" in f["user"]["says"]
PYTHON
fi

check "an ordinary user" 0 "${user[@]}" "$dir/tailor" doctor <<'PYTHON'
r["can_record"]
paranoid <= 1 or f["task-clock"]["state"] in ("less", "no")
paranoid <= 1 or f["task-clock"]["remedy"] == "sudo sysctl kernel.perf_event_paranoid=1"
paranoid <= 1 or "kernel.perf_event_paranoid is %d" % paranoid in f["task-clock"]["says"]
f["timer per thread"]["state"] == "yes"
PYTHON

check seccomp 0 "$dir/forbid" "$dir/tailor" doctor <<'PYTHON'
r["can_record"]
all(f[x]["state"] == "no" for x in ("precise 3", "cycles", "task-clock", "signal at overflow"))
"forbid" in f["task-clock"]["says"] and "perf_event_open" in f["task-clock"]["says"]
"seccomp" in f["task-clock"]["remedy"]
f["timer per thread"]["state"] == "yes"
"a timer in each thread" in f["auto"]["says"]
PYTHON

check "no locked memory" 0 "${user[@]}" bash -c 'ulimit -l 0; exec "$@"' bash "$dir/tailor" doctor <<'PYTHON'
f["memory for rings"]["state"] == "less" or int(open("/proc/sys/kernel/perf_event_mlock_kb").read()) >= 4100
f["memory for rings"]["state"] == "yes" or "perf_event_mlock_kb=4100" in f["memory for rings"]["remedy"]
f["memory for rings"]["state"] == "yes" or "`ulimit -l` 0" in f["memory for rings"]["says"]
PYTHON

check "few files" 0 "${user[@]}" bash -c 'ulimit -n 100; exec "$@"' bash "$dir/tailor" doctor <<'PYTHON'
f["open files"]["state"] == "less" and "ulimit -Hn" in f["open files"]["remedy"]
PYTHON

"$B/hosts/busy" 1000000 >/dev/null 2>&1 &
host=$!
is_busy() { [ "$(readlink "/proc/$host/exe")" = "$(realpath "$B/hosts/busy")" ]; }
wait_for is_busy
check "a process" 0 "$dir/tailor" doctor $host <<'PYTHON'
f["attach"]["state"] == "yes"
"tailor run" in f["agent"]["remedy"]
PYTHON
if [ "$(id -u)" = 0 ]; then
	check "another user's process" 1 "${user[@]}" "$dir/tailor" doctor $host <<'PYTHON'
f["attach"]["state"] == "no" and "belongs to root" in f["attach"]["says"]
PYTHON
fi
# (a folder of PATH that may not be looked into would make it a permission that is denied)
PATH=/usr/bin:/bin "$dir/tailor" doctor nobody >"$dir/out" 2>"$dir/err"
status=$?
[ $status = 1 ] && grep -q "nobody: No such file" "$dir/out" || fail "no such command: exit $status: $(cat "$dir/out" "$dir/err")"
# what a program loads counts, a script is what runs it, and lines fit a terminal unless a single word does not
printf '#!/usr/bin/env %s\n' "$dir/deep" >"$dir/script"
chmod +x "$dir/script"
echo 'int main(void) { return 0; }' >"$dir/deep.c"
gcc -shared -o "$dir/libmiddle.so" -x c /dev/null -Wl,--no-as-needed $(llvm-config --ldflags --libs) &&
	gcc -o "$dir/deep" "$dir/deep.c" -Wl,--no-as-needed "$dir/libmiddle.so" || fail "gcc cannot build them"
for command in "$dir/deep" "$dir/script"; do
	"$dir/tailor" doctor "$command" >"$dir/out" || fail "$command: exit $?"
	grep -q "GDB JIT interface" "$dir/out" || fail "$command loads LLVM, and no JIT interface is listed: $(tail -3 "$dir/out")"
done
# an engine that is a library is no JIT, and is listed
echo 'int main(void) { return 0; }' >"$dir/query.c"
gcc -shared -Wl,-soname,libsqlite3.so.0 -o "$dir/libsqlite3.so.0" -x c /dev/null &&
	gcc -o "$dir/query" "$dir/query.c" -Wl,--no-as-needed,-rpath,"$dir" "$dir/libsqlite3.so.0" ||
	fail "gcc cannot build them"
"$dir/tailor" doctor "$dir/query" >"$dir/query.out"
grep -q "statements  *of SQLite" "$dir/query.out" || fail "a program with SQLite: $(tail -3 "$dir/query.out")"
long=$(grep -vE '^ *(remedy: )?[^ ]*$' "$dir/out" | awk 'length > 80')
[ -z "$long" ] || fail "lines of more than 80 columns: $long"
: >"$dir/empty"
chmod +x "$dir/empty"
"$dir/tailor" doctor "$dir/empty" >"$dir/out" 2>"$dir/err"
status=$?
[ $status = 1 ] && grep -q "empty: Exec format error" "$dir/out" || fail "an empty program: exit $status: $(tail -n 2 "$dir/out")"
"$dir/tailor" doctor 1 2 >/dev/null 2>"$dir/err"
status=$?
[ $status = 2 ] && grep -q "only one PID or COMMAND" "$dir/err" || fail "two of them: exit $status: $(cat "$dir/err")"
kill -9 $host
wait $host 2>/dev/null
host=
finish
