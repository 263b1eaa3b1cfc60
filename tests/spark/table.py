# SPDX-License-Identifier: MIT
"""Of one trace with Spark's plans: samples of task threads by statement, and which part of them is an operator's or a named class of Spark's own
work; and the time of tasks of at least 200 samples beside Spark's own count.  table.py TAILOR TRACE EVENTLOG"""
import collections
import glob
import json
import subprocess
import sys

tailor, trace, log = sys.argv[1:4]


def samples():
    p = subprocess.Popen([tailor, "report", "--samples", trace], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace")
    names = next(p.stdout).rstrip("\n").split("\t")
    at = [names.index(n) for n in ("task", "query", "operator", "weight")]
    for line in p.stdout:
        fields = line.rstrip("\n").split("\t")
        if fields[at[0]]:  # numbers behind a name tell equal names apart
            yield [fields[i].split("#")[0] for i in at]


def is_own_work(operator):
    return operator[:1].islower() or operator == "Python functions"


PLANTED = {"Filter": 1, "Project": 3, "HashAggregate": 6}  # times four rounds of sha2 in "planted 1:3:6"


def print_planted(of):
    nr, rounds = sum(of[name] for name in PLANTED), sum(PLANTED.values())
    if nr:
        print("planted 1:3:6: " + ", ".join(f"{n} {100 * of[n] / nr:.1f}% ({100 * r / rounds:.0f}% planted)" for n, r in PLANTED.items()))


def spark_says():
    cpu = {}
    for name in glob.glob(log + "/*/events_*") + glob.glob(log + "/*-*"):
        try:
            lines = open(name, errors="replace")
        except IsADirectoryError:
            continue
        for line in lines:
            if line.startswith('{"Event":"SparkListenerTaskEnd"'):
                e = json.loads(line)
                m = e["Task Metrics"]
                cpu[e["Task Info"]["Task ID"]] = m["Executor CPU Time"] + m["Executor Deserialize CPU Time"]
    return cpu


def off_by(cpu, task_ns, uncounted_ns):
    off = sorted(100 * ((task_ns[t] - uncounted_ns) / ns - 1) for t, ns in cpu.items())
    near = sum(abs(o) <= 5 for o in off)
    return f"{off[0]:+.1f}% to {off[-1]:+.1f}%, median {off[len(off) // 2]:+.1f}%, {near} of {len(off)} within 5%"


def print_tasks(task_ns, task_nr):
    """A task's thread works before Spark's first look at its clock and after its last.  How long, short tasks say; the long ones are compared."""
    cpu = {t: ns for t, ns in spark_says().items() if ns}
    short = sorted(task_ns[t] - ns for t, ns in cpu.items() if 0 < task_nr[t] < 100)
    long = {t: ns for t, ns in cpu.items() if task_nr[t] >= 200}
    if long:
        print("tasks of 200 samples or more, time beside Spark's: " + off_by(long, task_ns, 0))
    if long and short:
        uncounted = short[len(short) // 2]
        print(f"without the {uncounted / 1e6:.2f} ms of each task that Spark does not count ({len(short)} short tasks): " + off_by(long, task_ns, uncounted))


def main():
    by_query = collections.defaultdict(lambda: [0, 0, 0])
    own, task_ns, task_nr, planted, workers = (collections.Counter() for _ in range(5))
    for task, query, operator, weight in samples():
        if task.startswith("Python workers"):
            workers[operator or "(neither)"] += 1
            continue
        kind = 2 if not operator else 1 if is_own_work(operator) else 0
        by_query[query or "(no query)"][kind] += 1
        if kind == 1:
            own[operator] += 1
        if query == "planted 1:3:6":
            planted[operator] += 1
        number = int(task.split()[1])
        task_ns[number] += int(weight)
        task_nr[number] += 1
    print(f"{'statement':28} {'samples':>8} {'operators':>10} {'own work':>9} {'neither':>8}")
    total = [sum(n[k] for n in by_query.values()) for k in range(3)]
    for query, n in sorted(by_query.items()) + [("all", total)]:
        nr = sum(n) or 1
        print(f"{query:28.28} {sum(n):8} {100 * n[0] / nr:9.1f}% {100 * n[1] / nr:8.1f}% {100 * n[2] / nr:7.1f}%")
    print("own work: " + ", ".join(f"{w} {100 * n / sum(total):.1f}%" for w, n in own.most_common()))
    if workers:
        print("Python workers: " + ", ".join(f"{o} {n}" for o, n in workers.most_common()))
    print_planted(planted)
    print_tasks(task_ns, task_nr)


if __name__ == "__main__":
    main()
