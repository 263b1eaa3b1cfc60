#!/bin/bash
# SPDX-License-Identifier: MIT
# Libraries without build ids that replace one another at one path, as engines leave them which have the system's compiler translate each
# query, keep their own functions' names: with the agent, which copies them, and by attach, which opens them.  Those with build ids do so,
# too, where the first one was mapped before: of that one the inode is known, and of those after it the build id.
. tests/live/begin.bash
MS=500
for name in first second third; do
	# so that another library's symbols would name the function
	pad=$([ $name = first ] || echo "int ${name}_pad(int x) { return x * 3 + 1; }")
	cat >"$dir/$name.c" <<-C
		$pad
		int ${name}_query(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i % 7; return s; }
		void work(void) { ${name}_query(1000000); }
	C
	gcc -O1 -fno-inline -shared -fPIC -Wl,--build-id=none -o "$dir/$name.so" "$dir/$name.c" || exit 1
done
host=("$B/hosts/recompiles" "$dir/query.so" "$MS" "$dir/first.so" "$dir/second.so" "$dir/third.so" "$dir/first.so")

# named TRACE WHERE: the first has two turns, the others one each; a turn has so many samples that half of the expected ones is far off.
named() {
	"$B/tailor" report --view functions --top 0 --json "$1" >"$dir/json" || { fail "$2: exit $?"; return; }
	/usr/bin/python3 - "$dir/json" "$2" <<'PYTHON' || bad=1
import json, re, sys

found = {}
def look(o):
    if isinstance(o, dict):
        name = next((v for v in o.values() if isinstance(v, str) and re.fullmatch(r"(first|second|third)_query", v)), None)
        if name and "samples" in o:
            found[name] = found.get(name, 0) + o["samples"]
    for v in o.values() if isinstance(o, dict) else o if isinstance(o, list) else ():
        look(v)
look(json.load(open(sys.argv[1])))
total = sum(found.values())
shares = {name: round(100 * n / total, 1) for name, n in found.items()}
print(f"{sys.argv[2]}: {shares} of {total} samples")
wanted = {"first_query": 50, "second_query": 25, "third_query": 25}
if total < 100 or any(abs(shares.get(name, 0) - w) > 12 for name, w in wanted.items()):
    sys.exit(f"{sys.argv[2]}: expected {wanted}")
PYTHON
}

"$B/tailor" run -q -r 1000 -o "$dir/run.tlr" -- "${host[@]}" || fail "run: exit $?"
named "$dir/run.tlr" "with the agent"
# a stopped host, so that the counters come before the libraries
bash -c 'kill -STOP $$; exec "$@"' bash "${host[@]}" &
pid=$!
trap 'kill -KILL $pid 2>/dev/null; rm -rf "$dir"' EXIT
stopped() { [ "$(awk '{ print $3 }' "/proc/$pid/stat")" = T ]; }
wait_for stopped || exit 1
"$B/tailor" attach -q -r 1000 -o "$dir/attach.tlr" $pid &
recording() { [ -s "$dir/attach.tlr" ]; }
wait_for recording || exit 1
kill -CONT $pid
wait $! || fail "attach: exit $?"
named "$dir/attach.tlr" "attach"
for name in first second third; do
	gcc -O1 -fno-inline -shared -fPIC -Wl,--build-id -o "$dir/$name.so" "$dir/$name.c" || exit 1
done
"${host[@]}" &
pid=$!
is_mapped() { grep -q "/query.so$" "/proc/$pid/maps"; }
wait_for is_mapped || exit 1
"$B/tailor" attach -q -r 1000 -o "$dir/late.tlr" $pid || fail "attach: exit $?"
"$B/tailor" report --samples "$dir/late.tlr" | /usr/bin/python3 -c '
import collections, csv, sys
rows = csv.DictReader(sys.stdin, delimiter="\t", quoting=csv.QUOTE_NONE)
rows = [r for r in rows if r["mode"] == "user" and r["image"].endswith("/query.so")]
of = collections.Counter(r["function"] for r in rows)
print("attach, with build ids:", dict(of))
names = {f for f in of if f.endswith("_query")}
if len(rows) < 100:
    sys.exit(77)
sys.exit("second_query" not in names or "third_query" not in names or sum(of[f] for f in names) < 0.9 * len(rows))'
case $? in
0) ;;
77) undecided "this machine gave fewer than 100 samples of libraries that have build ids" ;;
*) fail "attach, with build ids: functions have no names" ;;
esac
finish
