#!/bin/bash
# SPDX-License-Identifier: MIT
# tailor overhead: table, JSON and picture of the engine; bad input is a sentence; nothing stays behind, also after Ctrl-C.
. tests/live/begin.bash
mkdir "$dir/tmp"
export TMPDIR=$dir/tmp
nothing_left() { # AFTER-WHAT
	[ -z "$(ls -A "$TMPDIR")" ] || fail "$1: left behind: $(find "$TMPDIR" | tail -n +2 | tr '\n' ' ')"
}

host=("$B/engine" --query q18 --scale 0.05)
timeout 300 "$B/tailor" overhead --quick --rounds 2 --rates 2000,5000 --svg "$dir/o.svg" -- "${host[@]}" --repeat 5 >"$dir/table" \
	2>"$dir/err" || fail "table: expected exit 0, got $?: $(cat "$dir/err")"
grep -v '^command' "$dir/table" | awk 'length > 80 { print "wider than 80 columns: " $0; bad = 1 } END { exit bad }' || bad=1
for row in 'dormant agent' 'agent only' 'IP and time only' 'tag register' 'tag + 2 KiB stack' 'frame pointers' '8 KiB stack' \
	"run's defaults" "attach's defaults"; do
	nr=$(grep -cE "^  ${row/+/[+]} +[-+][0-9]+.* %" "$dir/table")
	[ "$nr" = 2 ] || fail "expected a row '$row' for each of two rates, got $nr: $(cat "$dir/table")"
done
grep -q '^baseline  *[0-9]' "$dir/table" || fail "no line for the baseline: $(cat "$dir/table")"
nothing_left table

judge /usr/bin/python3 - "$B/tailor" "$dir" "${host[@]}" <<'PYTHON'
import json, os, subprocess, sys
import xml.etree.ElementTree as xml
sys.path.insert(0, "tests")
from evidence import SURE, decide
tailor, directory, *host = sys.argv[1:]
SAMPLES = 200 # of each way, in a block
ok, executions = True, 12
def expect(what, value):
    global ok
    if not value:
        print("not so:", what)
        ok = False
    return value
def measure():
    """One round.  User code alone: what the kernel does for the host's threads is on no component, and the more the busier the machine."""
    command = [tailor, "overhead", "--quick", "--rounds", "1", "--json", "-e", "task-clock:u", "--", *host, "--repeat", str(executions)]
    p = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=300)
    if p.returncode:
        sys.exit(f"{' '.join(command)}: expected exit 0, got {p.returncode}: {p.stderr}")
    return json.loads(p.stdout)
def check(j):
    expect("the keys", {"schema", "command", "rounds", "event", "run_phase", "bare", "rows", "notices"} <= set(j))
    expect("a run phase", j["run_phase"] is True)
    rows = {r["capture"]: r for r in j["rows"]}
    expect("all ways", list(rows) == ["dormant", "agent", "ip", "tag", "stack-2k", "frame-pointers", "stack-8k", "run", "attach"])
    for name, r in rows.items():
        for key in ("added_wall", "added_cpu", "recorder_cpu", "outside_s"):
            expect(f"{name}: {key} is a number", isinstance(r[key]["median"], float))
        expect(f"{name}: run times", all(run["wall_s"] > 0 and run["cpu_s"] > 0 and run["recorder_s"] >= 0 for run in r["runs"]))
        if name == "dormant":
            expect(f"nothing is recorded while it is dormant: {r['runs']}",
                   all(run["samples"] is None and run["trace_bytes"] is None for run in r["runs"]))
        elif name == "agent":
            expect(f"the agent alone takes no samples: {r['runs']}", all(run["samples"] == 0 for run in r["runs"]))
        elif r["samples"]["median"]:
            expect(f"{name}: bytes per sample ({r['bytes_per_sample']})", r["bytes_per_sample"]["median"] > 1)
    return rows
# A round agrees if the claims are true: of user code, IPs alone have a tenth (q18 is mostly in shared code), tags 99 %, frame pointers
# 95 %, stacks 99 %, under any load, of 200 samples or more.  If tags or stacks are not read, all of its shares are like the IP's, in
# each round.
def block(nr):
    global executions
    rows = check(measure())
    if not ok:
        sys.exit(1)
    sampled = {n: r for n, r in rows.items() if n not in ("dormant", "agent")}
    if min(r["samples"]["median"] for r in sampled.values()) < SAMPLES:
        executions *= 2
        return None
    share = {n: r["attributed"]["median"] for n, r in sampled.items()}
    print(f"{'FIGURE ' if nr == 0 else ''}attributed of user code:", ", ".join(f"{n} {100 * s:.1f} %" for n, s in share.items()))
    agrees = True
    for claim, value in (("shared code needs more than the IP", share["ip"] < 0.6 and share["tag"] > share["ip"] + 0.2),
                         ("frame pointers find some callers", share["frame-pointers"] > share["ip"]),
                         ("tag and stack together attribute nearly all", share["stack-2k"] > 0.97),
                         ("so does the call stack alone", share["stack-8k"] > 0.95)):
        if not value:
            print(f"not in this round: {claim}: {share}")
            agrees = False
    return agrees
expect("the shares", decide("tags and stacks attribute nearly all, frame pointers some, the IP less than 60 %", block, wrong=SURE))
for path in (f"{directory}/o.svg", f"{directory}/overhead.svg"):
    root = xml.parse(path).getroot()
    ns = "{http://www.w3.org/2000/svg}"
    expect(f"{path} is an SVG", root.tag == ns + "svg")
    texts = [t.text or "" for t in root.iter(ns + "text")]
    for wanted in ("run-time overhead", "samples per second and CPU", "dormant agent", "tag register", "8 KiB stack"):
        expect(f"{path} says '{wanted}'", wanted in texts)
    lines = [p for p in root.iter(ns + "path") if p.get("class", "").startswith("line ")]
    expect(f"{path}: a line and a legend for each way, and for tag and stacks again", len(lines) == 18 + 6)
    expect(f"{path} loads nothing", not any(a.endswith("href") for e in root.iter() for a in e.attrib))
sys.exit(not ok)
PYTHON
nothing_left --json

# STATUS SENTENCE COMMAND...
refuses() {
	local status=$1 sentence=$2 got
	shift 2
	out=$(cd "$dir" && timeout 300 "$B/tailor" overhead "$@" 2>&1)
	got=$?
	[ $got = "$status" ] || fail "tailor overhead $*: expected exit $status, got $got: $out"
	echo "$out" | head -n 1 | grep -qF -e "$sentence" || fail "tailor overhead $*: expected '$sentence', got: $out"
	nothing_left "tailor overhead $*"
}
refuses 2 'no command given' --quick
refuses 2 "--rates takes numbers separated by commas, not '5x'" --rates 5x -- true
refuses 2 "--rates takes numbers from 1 to 1000000, not '0'" --rates 100,0 -- true
refuses 2 '--rates has 100 twice' --rates 100,100 -- true
refuses 2 '--rounds takes numbers from 1 to 1000, not' --rounds -1 -- true
refuses 2 "unknown event 'no-such-event'" --event no-such-event -- true
# (a folder of others' in PATH is another sentence)
PATH=/usr/bin:/bin refuses 1 'no-such-program: no such command' -- no-such-program
refuses 1 'sh failed without a recorder: it exited with status 3: what it said' -- sh -c 'echo what it said >&2; exit 3'
refuses 1 'sh failed without a recorder: it was killed by signal 9' -- sh -c 'kill -9 $$'
refuses 1 'sh failed under the recorder only: it exited with status 4' --quick -- sh -c '[ -z "${LD_PRELOAD:-}" ] || exit 4'
refuses 1 "$dir/no-such-folder/o.svg: cannot be written: No such file or directory" --svg "$dir/no-such-folder/o.svg" -- true
refuses 1 "$dir: cannot be written: Is a directory" --svg "$dir" -- true
TMPDIR=$dir/no-such-folder "$B/tailor" overhead -- true 2>&1 | grep -q 'cannot create a temporary folder' ||
	fail "expected a sentence about the temporary folder"
"$B/tailor" overhead --quick --rounds 1 --svg "$dir/o.svg" -- true >/dev/full 2>"$dir/err" && fail "a full disk: expected a failure"
grep -q 'cannot write the output' "$dir/err" || fail "a full disk: $(cat "$dir/err")"

# Stopped in the middle of a run, by a signal to it alone: host, recorder and files go with it.
cat >"$dir/host.sh" <<END
#!/bin/sh
echo \$\$ >>"$dir/pids"
[ -z "\${LD_PRELOAD:-}" ] || exec sleep 600
END
chmod +x "$dir/host.sh"
two_hosts() { [ "$(wc -l 2>/dev/null <"$dir/pids")" -ge 2 ]; } # the baseline, and one that is recorded
gone() { ! grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$1/status"; }
for signal in INT TERM; do
	: >"$dir/pids"
	# not a background job of this shell, which would ignore SIGINT
	/usr/bin/python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$B/tailor" overhead --quick --svg "$dir/o.svg" -- "$dir/host.sh" >/dev/null 2>&1 &
	pid=$!
	wait_for two_hosts
	kill -$signal $pid
	wait $pid
	status=$?
	[ $status = $((128 + $(kill -l $signal))) ] || fail "SIG$signal: expected exit $((128 + $(kill -l $signal))), got $status"
	while read -r p; do
		wait_for gone "$p" || { fail "SIG$signal: expected process $p of the command to end"; kill -9 "$p"; }
	done <"$dir/pids"
	nothing_left "SIG$signal"
done
finish
