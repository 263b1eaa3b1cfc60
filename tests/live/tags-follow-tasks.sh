#!/bin/bash
# SPDX-License-Identifier: MIT
# Tags are right across task switches: coroutines on threads that steal from each other (tests/examples/tasks.cpp) log which task, and which
# part of it, each thread ran when.  Every sample has the task, the part and the operator of the log, and is in the mark of that task alone;
# samples between the two time stamps of a switch are counted apart.  Where the tag is not carried, where a task that leaves does
# not take its tag with it, and where a block that ends on another thread puts back the tag of the first, mismatches are found; and
# `tailor check` finds tasks that run with the tag of another one.
set -u
. tests/evidence.bash
B=$(cd "$1" && pwd) || exit 1
command -v g++ >/dev/null || skip "g++ is missing"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tests/examples/build.sh "$B" || exit 1
MOVED=500 # samples of tasks that had come to another thread
host=

# record SECONDS: $n samples as above; $compared, $mismatches
record() {
	timeout 300 "$B/tailor" run -q -e "$(plain_event)" --rate "$(allowed_rate 10000)" --sampler signal -o "$dir/t.tlr" -- \
		"$host" $(($1 * 2000)) "$dir/log" >"$dir/out" 2>"$dir/err" ||
		{ fail "tailor run -- $host: exit $?: $(cat "$dir/err")"; return 1; }
	timeout 300 "$B/tailor" export --format csv -o "$dir/csv" "$dir/t.tlr" || { fail "tailor export: exit $?"; return 1; }
	for task in 1 2 3 4 5 6; do
		timeout 300 "$B/tailor" export --format csv --mark "task#$task" -o "$dir/csv.$task" "$dir/t.tlr" ||
			{ fail "tailor export --mark task#$task: exit $?"; return 1; }
	done
	/usr/bin/python3 - "$dir" >"$dir/counts" <<'PY' || { fail "the log and the samples cannot be compared"; return 1; }
import bisect
import collections
import csv
import sys

folder = sys.argv[1]
OPERATORS = ["", "scan", "select", "aggregate"]
switches = collections.defaultdict(list)
for line in open(f"{folder}/log"):
    thread, *switch = map(int, line.split())
    switches[thread].append(switch)
begins = {thread: [s[0] for s in of] for thread, of in switches.items()}
assert all(b == sorted(b) for b in begins.values())


def samples(name):
    with open(f"{folder}/{name}", newline="") as f:
        yield from csv.DictReader(f)


def logged(sample):
    """What the thread did at that time: (clock behind the switch, operator, task, part, moves); None: it had not begun."""
    of = switches[int(sample["tid"])]
    i = bisect.bisect_right(begins.get(int(sample["tid"]), []), int(sample["time_ns"])) - 1
    return of[i][1:] if i >= 0 else None


marked = collections.defaultdict(set)
for task in range(1, 7):
    for s in samples(f"csv.{task}"):
        marked[s["tid"], s["time_ns"]].add(task)
n = collections.Counter()
example = ""
for s in samples("csv"):
    log = logged(s)
    if not log:
        n["before"] += 1
        continue
    behind_ns, operator, task, part, moves = log
    if int(s["time_ns"]) <= behind_ns:
        n["switching"] += 1
        continue
    n["compared"] += 1
    n["idle"] += task == 0
    n["parts"] += part != 0
    n["moved"] += task != 0 and moves > 0
    wanted = (OPERATORS[operator], f"{OPERATORS[operator]} {task}" if task else "", "merge" if part else "", {task} if task else set())
    got = (s["operator"], s["task"], s["part"], marked[s["tid"], s["time_ns"]])
    n["tags"] += got[:3] != wanted[:3]
    n["marks"] += got[3] != wanted[3]
    if got != wanted and not example:
        example = f"; thread {s['tid']} at {s['time_ns']}: logged {wanted}, sampled {got} in {s['function']}"
print(n["moved"], n["compared"], n["tags"], n["marks"])
print(f"{n['compared']} samples compared, {n['moved']} of them of tasks that came from another thread, {n['parts']} in parts, "
      f"{n['idle']} of no task; {n['switching']} while switching, {n['before']} before: {n['tags']} wrong tags, {n['marks']} wrong "
      f"marks{example}")
PY
	read -r n compared tags marks <"$dir/counts"
	seconds=$1
}

# plant NAME SED: the engine with a fault
plant() {
	sed -E "$2" tests/examples/tasks.cpp >"$dir/$1.cpp"
	! cmp -s tests/examples/tasks.cpp "$dir/$1.cpp" || { fail "$1: nothing was planted"; return 1; }
	g++ -std=c++20 -pthread -O1 -Ijitreg -Itests/examples "$dir/$1.cpp" -ldl -o "$dir/$1" || { fail "$1 does not compile"; return 1; }
	host=$dir/$1
}

host=$B/examples/tasks
if gather $MOVED record; then
	tail -n 1 "$dir/counts"
	echo "FIGURE $(tail -n 1 "$dir/counts")"
	[ "$tags" = 0 ] && [ "$marks" = 0 ] || fail "expected no mismatch, got: $(tail -n 1 "$dir/counts")"
	"$B/tailor" check "$dir/t.tlr" >"$dir/check" 2>&1 || fail "tailor check: expected exit 0, got $?: $(cat "$dir/check")"
fi

# Each fault leaves far more wrong tags than one sample in a thousand.
finds() { # WHAT
	gather $MOVED record || return
	echo "$1: $(tail -n 1 "$dir/counts")"
	[ $((tags * 1000)) -gt "$compared" ] || fail "$1: expected wrong tags, got $tags in $compared samples"
}
once='static std::atomic<unsigned> begun; if (!(begun.fetch_or(1u << p.id) >> p.id \& 1)) '
plant not-carried "s/p\.carried\.enter\(tag\);/$once jitreg_task_switch(\&tag, TAG | p.id); jitreg_mark_enter(p.mark);/
	s/p\.carried\.leave\(tag\);/jitreg_mark_leave(p.mark);/" && finds "a tag that is set once, when the task begins" && {
	"$B/tailor" check "$dir/t.tlr" >"$dir/check" 2>&1
	status=$?
	[ $status = 3 ] && grep -q '\[tag-task\]' "$dir/check" ||
		fail "tailor check: expected exit 3 and tag-task, got $status: $(cat "$dir/check")"
}
plant not-taken '/p\.carried\.leave/d' && finds "a task that leaves its tag behind"
plant first-thread 's/^static std::atomic<uint64_t> result;/&\
struct held {\
	uint64_t *word, old;\
	held(uint64_t \&w, uint64_t v) : word(\&w), old(jitreg_task_switch(\&w, v)) {}\
	~held() { *word = old; }\
};/
	s/jitreg::tag_guard part/held part/' && finds "a block that puts back the tag of the thread on which it began"
finish
