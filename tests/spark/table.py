# SPDX-License-Identifier: MIT
"""Of one trace with Spark's plans: samples of task threads by statement, and which part of them is an operator's or a named class of Spark's own
work; and the time of tasks of at least 200 samples beside Spark's own count.  table.py TAILOR TRACE EVENTLOG"""
import collections
import glob
import json
import subprocess
import sys

tailor, trace, log = sys.argv[1:4]


def samples(*options):
    p = subprocess.Popen([tailor, "report", "--samples", *options, trace], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, errors="replace")
    names = next(p.stdout).rstrip("\n").split("\t")
    at = [names.index(n) for n in ("task", "query", "operator", "weight", "function", "time_ns")]
    for line in p.stdout:
        fields = line.rstrip("\n").split("\t")
        if fields[at[0]]:
            yield [fields[i] for i in at]


def name_of(component):
    return component.split("#")[0]  # numbers behind a name tell equal names apart


def is_own_work(operator):
    return operator[:1].islower() or operator == "Python functions"


PLANTED = {  # rounds of sha2 of each row, times rows
    "planted 1:3:6": {"Filter": 4, "Project": 12, "HashAggregate": 24},
    "rows x 1": {"Filter": 1, "Project": 3, "HashAggregate": 2},
    "rows x 10": {"Filter": 10, "Project": 3, "HashAggregate": 2},
}


def print_planted(statement, of):
    work = PLANTED[statement]
    nr, rounds = sum(of[name] for name in work), sum(work.values())
    if nr < sum(of.values()) / 2:
        print(f"{statement}: {nr} of {sum(of.values())} samples are one operator's")
    elif nr:
        print(f"{statement}: " + ", ".join(f"{n} {100 * of[n] / nr:.1f}% ({100 * r / rounds:.1f}% planted)" for n, r in work.items()))


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


def print_tasks(cpu, task_ns, what):
    off = sorted(100 * (task_ns[t] / ns - 1) for t, ns in cpu.items())
    if off:
        near = sum(abs(o) <= 5 for o in off)
        print(f"{what}: {off[0]:+.1f}% to {off[-1]:+.1f}%, median {off[len(off) // 2]:+.1f}%, {near} of {len(off)} within 5%")


def main():
    by_query = collections.defaultdict(lambda: [0, 0, 0])
    own, task_ns, task_nr, counted_ns, workers, generated = (collections.Counter() for _ in range(6))
    of_statement = collections.defaultdict(collections.Counter)
    end = {}  # Spark counts until Task.run returns; then the thread tells the driver of the result
    for task, *_, time_ns in samples("--below=function:org.apache.spark.scheduler.Task.run"):
        end[name_of(task)] = max(end.get(name_of(task), 0), int(time_ns))
    for task, query, operator, weight, function, time_ns in samples():
        task, query, node = name_of(task), name_of(query), name_of(operator)
        if task.startswith("Python workers"):
            workers[node or "(neither)"] += 1
            continue
        kind = 2 if not node else 1 if is_own_work(node) else 0
        by_query[query or "(no query)"][kind] += 1
        if kind == 1:
            own[node] += 1
        of_statement[query][operator if query == "two broadcast joins" else node] += 1
        if "GeneratedIteratorForCodegenStage" in function:
            generated["one" if kind == 0 and not node.startswith("WholeStageCodegen") else "none"] += 1
        number = int(task.split()[1])
        task_ns[number] += int(weight)
        task_nr[number] += 1
        if int(time_ns) <= end.get(task, 0):
            counted_ns[number] += int(weight)
    print(f"{'statement':28} {'samples':>8} {'operators':>10} {'own work':>9} {'neither':>8}")
    total = [sum(n[k] for n in by_query.values()) for k in range(3)]
    for query, n in sorted(by_query.items()) + [("all", total)]:
        nr = sum(n) or 1
        print(f"{query:28.28} {sum(n):8} {100 * n[0] / nr:9.1f}% {100 * n[1] / nr:8.1f}% {100 * n[2] / nr:7.1f}%")
    print("own work: " + ", ".join(f"{w} {100 * n / sum(total):.1f}%" for w, n in own.most_common()))
    if workers:
        print("Python workers: " + ", ".join(f"{o} {n}" for o, n in workers.most_common()))
    if generated:
        print(f"generated code: {sum(generated.values())} samples, {100 * generated['one'] / sum(generated.values()):.1f}% on one node")
    joins = {o: n for o, n in of_statement["two broadcast joins"].items() if o.startswith("BroadcastHashJoin")}
    print("two broadcast joins: " + ", ".join(f"{o} {n}" for o, n in sorted(joins.items())))
    for statement in PLANTED:
        print_planted(statement, of_statement[statement])
    cpu = {t: ns for t, ns in spark_says().items() if ns and task_nr[t] >= 200}
    print_tasks(cpu, task_ns, "tasks of 200 samples or more, time beside Spark's")
    print_tasks(cpu, counted_ns, "until Task.run returns, as Spark counts")


if __name__ == "__main__":
    main()
