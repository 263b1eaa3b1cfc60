#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# tests/bench/frequencies.py BUILD: how near executions that `--view cpi` estimates from samples of retired instructions are to exact ones,
# beside figure 8 of J. Anderson et al. (SOSP 1997).  A simulation of the estimator, not of a processor: functions of the test engine's own
# machine code are walked with a probability of its own for each branch, which gives exact executions; of the instructions that were
# executed, so many are drawn as samples, without skid.  Per block, weighted by samples: the part whose estimate is within 5, 10 and 15 %.
import bisect, collections, itertools, json, os, random, re, subprocess, sys

sys.path.insert(0, "tests")
from trace_file import RECORDS, Trace, record

B = sys.argv[1]
STEPS, FUNCTIONS, PERIOD = 60000, 60, 1000
OUT = f"{B}/bench-frequencies.tlr"


def functions():
    """{name: [(address, bytes, text)]} of those without jumps through registers."""
    text = subprocess.run(["objdump", "-d", "-w", "-j", ".text", f"{B}/engine"], stdout=subprocess.PIPE, check=True, text=True).stdout
    found = {}
    for part in re.split(r"\n\n", text):
        head = re.match(r"[0-9a-f]+ <([^>]+)>:\n", part)
        rows = re.findall(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t(.*?)\s*$", part, re.M)
        if head and 30 <= len(rows) <= 600 and not re.search(r"\tjmp +\*|\tnotrack jmp|\tud2", part):
            found[head[1]] = [(int(a, 16), bytes.fromhex(b), t) for a, b, t in rows]
    return found


def walk(insns, random):
    """Executions of each instruction; None: it does not come to an end or leaves the function."""
    index = {address: i for i, (address, _, _) in enumerate(insns)}
    jumps = {}
    for i, (_, _, text) in enumerate(insns):
        m = re.match(r"(?:bnd )?j(\w+) +([0-9a-f]+)", text)
        if m:
            to = index.get(int(m[2], 16))
            backwards = to is not None and to <= i
            jumps[i] = (to, 1.0 if m[1] == "mp" else random.uniform(0.7, 0.98) if backwards else random.betavariate(0.5, 0.5))
    runs = [0] * len(insns)
    at = steps = 0
    while steps < STEPS or at:
        if steps > 20 * STEPS:
            return None
        steps += 1
        runs[at] += 1
        nxt = at + 1
        if at in jumps and random.random() < jumps[at][1]:
            nxt = jumps[at][0]
        leaves = insns[at][2].startswith("ret") or re.search(r"call.*(abort|exit|fail)", insns[at][2])
        at = 0 if leaves or nxt is None or nxt >= len(insns) else nxt
    return runs


def main():
    rng = random.Random(1)
    code = functions()
    chosen = {}
    for name in rng.sample(sorted(code), len(code)):
        runs = walk(code[name], rng)
        if runs and len(chosen) < FUNCTIONS:
            chosen[name] = (runs, rng.paretovariate(1.0))  # a few functions are hot, as in programs
    places, weights = [], []
    for name, (runs, heat) in chosen.items():
        total = sum(runs)
        for (address, _, _), n in zip(code[name], runs):
            places.append((name, address))
            weights.append(heat * n / total)
    sums = list(itertools.accumulate(weights))
    print(f"{len(chosen)} functions, {len(places)} instructions; part of samples in blocks whose estimate is within 5, 10, 15 %, and within "
          "the interval of 95 % that is said")
    print("DCPI, figure 8 (by instruction, in-order processors, cycles)       73     87     92")
    for nr in (1000, 10000, 100000, 1000000):
        drawn = collections.Counter(places[bisect.bisect(sums, rng.random() * sums[-1])] for _ in range(nr))
        scale = {name: heat / sum(runs) / sums[-1] * nr * PERIOD for name, (runs, heat) in chosen.items()}  # exact executions of one run
        trace = Trace(record("HEADER", 0, 2, "test", 0, "host", "x86_64", "6.1", 1, "/", [["host"]]) +
                      record("EVENT", 0, 0, "instructions", "instructions", 0, 1, PERIOD, 0, 0, 0, 0, 0, "cpu", 0))
        body = record("PROCESS", 1000, 1, "/usr/bin/host", "host")
        for i, name in enumerate(chosen):
            data = b"".join(b for _, b, _ in code[name])
            start = code[name][0][0] + (1 << 32)
            body += record("LOAD", 1000, 1000, 1000, start, start, len(data), i + 1, name, data)
        trace.add(RECORDS, body)
        ips = sorted(itertools.chain.from_iterable([a + (1 << 32)] * n for (_, a), n in drawn.items()))
        trace.add_ips(ips, PERIOD)
        trace.write(OUT)
        rows = json.loads(subprocess.run([f"{B}/tailor", "report", "--view", "cpi", "--top", "0", "--json", "--processor", "none", OUT],
                                         stdout=subprocess.PIPE, check=True, text=True).stdout)["tables"]["cpi"]
        within, covered, all_samples = collections.Counter(), 0, 0
        exact = {(name, a - code[name][0][0]): n * scale[name] for name, (runs, _) in chosen.items()
                 for (a, _, _), n in zip(code[name], runs)}
        for r in rows:
            n, true = r["samples"] or 0, exact[r["function"], r["offset"]]
            if not n or not true:
                continue
            all_samples += n
            error = abs(r["executions"] / true - 1)
            for limit in (5, 10, 15):
                within[limit] += n * (error <= limit / 100)
            covered += n * (r["executions_low"] <= true <= r["executions_high"])
        print(f"{nr:8} samples, {len(rows):5} blocks{'':34}" +
              "".join(f"{100 * within[limit] / all_samples:7.0f}" for limit in (5, 10, 15)) + f"{100 * covered / all_samples:7.0f}")
    os.unlink(OUT)


main()
