#!/bin/bash
# SPDX-License-Identifier: MIT
# A stack of 8,191 frames, as many as a copy can hold, of two functions that call each other: every form that has call stacks has all of
# them.
. tests/golden/begin.bash
/usr/bin/python3 - "$B/tailor" "$dir" <<'END'
import gzip, json, re, struct, subprocess, sys
import bombs, trace_file

tailor, folder = sys.argv[1:]
FRAMES, path = 8191, f"{folder}/deep.tlr"
trace = trace_file.Trace()
trace.add(trace_file.RECORDS, bombs.PROCESS + trace_file.record("EH_FRAME", bombs.PID, 0x500000, 0, bombs.FRAMES) +
          bombs.load(1, 0x400000, 256, "even") + bombs.load(2, 0x400100, 256, "odd"))
trace.add(trace_file.SAMPLES, bombs.of_one_stack(100, struct.pack("<QQ", 0x400180, 0x400080) * (FRAMES // 2) + bytes(8)))
trace.write(path)


def output(*words):
    return subprocess.run([tailor, *words, path], stdout=subprocess.PIPE, check=True).stdout


def rows(view, *words):
    return json.loads(output("report", "--view", view, "--json", *words))["tables"][view]


bad = 0


def expect(what, expected, got):
    global bad
    if got != expected:
        bad = 1
        print(f"{what}: expected {expected}, got {got}")


for words in ((), ("--unwinder", "libunwind")):
    tree = rows("tree", *words)
    expect(f"depth of the tree {words}", FRAMES - 1, max(r["depth"] for r in tree))
    expect(f"frames that are none {words}", set(), {r["name"] for r in tree} - {"even", "odd"})
expect("depth of the callers", FRAMES - 1, max(r["depth"] for r in rows("callers")))
expect("callees", {("even", 100), ("odd", 100)}, {(r["name"], r["samples"]) for r in rows("callees") if not r["caller"]})
stack, weight = output("export", "-f", "folded").decode().rsplit(" ", 1)
expect("frames of the folded stack", ";".join(["even", "odd"] * (FRAMES // 2) + ["even"]), stack)
scope = json.loads(output("export", "-f", "speedscope"))
expect("frames of speedscope's", {FRAMES}, {len(s) for s in scope["profiles"][0]["samples"]})
graph = output("export", "-f", "flamegraph").decode()
expect("rows of the flame graph", set(range(FRAMES + 1)), {int(d) for d in re.findall(r'data-d="(\d+)"', graph)})
fox = json.loads(output("export", "-f", "firefox"))
expect("frames of Firefox's", FRAMES, (fox.get("shared") or fox["threads"][0])["stackTable"]["length"])
expect("frames by unwind", FRAMES, output("unwind", "--frames").decode().split("\n\n")[0].count("\n"))
for limit in ("8192", "128"):
    p = subprocess.run(f"ulimit -s {limit} && exec {tailor} report --view tree {path} >/dev/null", shell=True)
    expect(f"exit status with {limit} KiB of stack", 0, p.returncode)
sys.exit(bad)
END
