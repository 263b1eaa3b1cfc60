#!/bin/bash
# SPDX-License-Identifier: MIT
# An epoch's end, and the command that it is for, get the processor time that they need also where all of it is taken; when they are late,
# epochs have fewer samples, which is said, and still each of them adds up, sample by sample; a command that never ends comes before others
# in its own epoch at most, and is killed, so that no epoch grows without a bound.
. tests/live/begin.bash
cat >"$dir/test.py" <<'END'
import json, os, re, signal, subprocess, sys, time
B, DIR = sys.argv[1:]
PATIENCE_S, ROOT = 300, os.geteuid() == 0
bad = []

def expect(holds, sentence):
    if not holds:
        bad.append(sentence)
        print(sentence)

def wait_for(condition):
    begin = time.monotonic()
    while not condition() and time.monotonic() - begin < PATIENCE_S:
        time.sleep(0.05)
    return condition()

def lines(name):
    return open(f"{DIR}/{name}").read().split("\n")[:-1] if os.path.exists(f"{DIR}/{name}") else []

# The command of the first epoch hangs, and so do the next ones until one has seen that it came before others: that lasts a quarter of an
# epoch, in which a busy machine may run neither the recorder nor the command. The others end at once.
with open(f"{DIR}/command", "w") as f:
    f.write(f'''echo $$ $1 >>{DIR}/begun
case $1 in
*000001*) ;;
*) if [ {int(ROOT)} = 0 ] || grep -q -e ^-20 {DIR}/nice; then exit; fi;;
esac
while :; do
	read -r line </proc/$$/stat
	set -- ${{line##*) }}
	echo ${{17}} >>{DIR}/nice
	sleep 0.02
done
''')
run = subprocess.Popen([f"{B}/tailor", "run", "--cost", "5%", "--epochs", "1s", "--epoch-command", f"sh {DIR}/command", "-o",
                        f"{DIR}/e.tlr", "--", "sh", "-c", "while :; do :; done"], stderr=open(f"{DIR}/said", "w"))
expect(wait_for(lambda: len(lines("begun")) >= 4), f"expected epochs to go on when a command hangs, got {lines('begun')}")
expect(wait_for(lambda: "at the full rate" in "".join(lines("said"))), "expected the rate to come back when commands end")
run.send_signal(signal.SIGTERM)
run.wait()
said = "\n".join(lines("said"))
nices = [int(n) for n in lines("nice")]
expect(nices and nices[-1] >= 0, f"expected a command that hangs to have the usual share after its epoch, got {nices}")
expect(-20 in nices or not ROOT, f"expected a command that is late to come before others in its epoch, got {sorted(set(nices))}")
expect("epoch 2 goes on beyond its end" in said and "were killed" in said, f"expected the kill to be said, got {said}")
expect("at 1/2 of the rate" in said, f"expected the lower rate to be said, got {said}")
rates, samples = [], {}
for name in sorted(f for f in os.listdir(DIR) if re.fullmatch(r"e\.\d{6}\.tlr", f)):
    for line in subprocess.run([f"{B}/tailor", "dump", "--json", f"{DIR}/{name}"], capture_output=True, text=True).stdout.splitlines():
        record = json.loads(line)
        fields = record["fields"]
        if record["record"] == "EVENT" and fields["rate"]:
            rates.append((fields["rate"], fields["period"]))
            period_ns = 1e9 / fields["rate"]
        elif record["record"] == "END":
            samples.setdefault(name, [0, 0])[1] = fields["samples"]
        elif record["record"] == "COUNT":
            samples.setdefault(name, [0, 0])[0] += fields["samples"]
            expect(fields["weight"] < 1.02 * fields["value"] + max(8e6, 2 * period_ns), # what was left of a period, and one more
                   f"{name}: expected no more than was counted, got {fields}")
expect(all(counted == there for counted, there in samples.values()),
       f"expected of each epoch the samples that its counters had, also where the rate changes, got {samples}")
first, third = rates[0], rates[2]
expect(third[0] == first[0] // 2 and (third[1] == 2 * first[1]), f"expected half the rate in the third epoch, got {rates}")
expect(rates[-1] == first or rates[-2] == first, f"expected the rate to come back, got {rates}")

# A store beside many that spin, all on one processor: at nice 19 the fold has less than a thousandth of it.
cpu = min(os.sched_getaffinity(0))
spinners = [subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"]) for _ in range(12)]
STORE = f"{DIR}/w.tlrs"
def epochs():
    r = subprocess.run([f"{B}/tailor", "db", "report", STORE, "--view", "epochs", "--json"], capture_output=True, text=True)
    return len(json.loads(r.stdout).get("tables", {}).get("epochs", [])) if r.returncode == 0 else 0
try:
    if ROOT:
        watch = subprocess.Popen(["taskset", "-c", str(cpu), f"{B}/tailor", "watch", "-q", "--store", STORE, "--epochs", "500ms", "--",
                                  "sleep", "1000"], stderr=subprocess.DEVNULL)
        begin = time.monotonic()
        expect(wait_for(lambda: epochs() >= 2), "expected two epochs in the store of a busy machine, got %d" % epochs())
        print(f"FIGURE two epochs of 0.5 s stored beside 12 processes that spin: after {time.monotonic() - begin:.1f} s")
        watch.terminate()
        for s in spinners:
            s.kill()
        watch.wait()
finally:
    for s in spinners:
        s.kill()
sys.exit(1 if bad else 0)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"
finish
