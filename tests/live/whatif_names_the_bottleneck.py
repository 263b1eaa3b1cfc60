# SPDX-License-Identifier: MIT
"""Twelve planted bottlenecks: python3 whatif_names_the_bottleneck.py BUILD FOLDER"""
import json, os, subprocess, sys

B, DIR = sys.argv[1:]
ATTEMPTS = 3
CPUS = ",".join(str(c) for c in sorted(os.sched_getaffinity(0))[:2])
ONE = "one thread at a time"

# what, arguments, the resource, a text in the sentence
CASES = [
    ("lock", "locked --threads 2 --work 4000 --share 80", ("lock",), "take_ticket"),
    ("disk", f"reading --threads 2 --work 800 --file {DIR}/data", ("disk",), ""),
    ("network", "asking --work 300", ("network",), ""),
    ("straggler", "straggler --threads 2 --work 4000", ("skew",), ""),
    ("too few tasks", "even --threads 1 --work 4000", ("processor",), ONE),
    ("sleep", "sleeping --threads 2 --work 500", ("sleep",), ""),
    ("page faults", "faulting --threads 2 --work 150", ("fault", "kernel"), ""),
    ("spinning", "spinning --threads 2 --work 4000", ("processor",), ""),
    ("scheduler", "even --threads 6 --work 6000", ("run-queue",), ""),
    ("serial part", "serial --threads 2 --work 4000 --share 90", ("processor",), ONE),
    ("operator", "even --threads 2 --work 2000 --slow a=400", ("processor",), ""),
    ("pipeline", "pipeline --work 4000", ("processor", "skew"), ""),
]


def said(arguments):
    trace = f"{DIR}/t.tlr"
    subprocess.run(["chrt", "-r", "1", "taskset", "-c", CPUS, f"{B}/tailor", "run", "-q", "--no-preload", "-e", "task-clock,context-switches",
                    "--rate", "500", "--stack", "2048", "-o", trace, "--", f"{B}/hosts/tasks"] + arguments.split(),
                   check=True, stdout=subprocess.DEVNULL)
    r = subprocess.run([f"{B}/tailor", "whatif", "--json", trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if r.returncode:
        return None, r.stderr
    return json.loads(r.stdout), ""


bad = refused = 0
for name, arguments, bounds, text in CASES:
    for attempt in range(ATTEMPTS):
        answer, why = said(arguments)
        ok = answer and answer["bound"] in bounds and text in answer["bound_text"]
        if ok and name == "operator":
            first = [r for r in answer["tables"]["predictions"] if r["option"].startswith("component=")][0]
            ok = first["option"] == "component=function:step_a=-20%"
        if ok:
            break
    if ok:
        print(f"FIGURE {name}: {answer['bound_text']}; replay {100 * answer['replay_error']:+.1f} %")
    elif answer is None:
        refused += 1
        print(f"FIGURE {name}: {why.strip()}")
    else:
        bad += 1
        print(f"{name}: expected {bounds} {text}, got {answer['bound']}: {answer['bound_text']}; {answer['tables']['predictions'][:3]}")
# all components of a name change together
trace = f"{DIR}/q3.tlr"
subprocess.run([f"{B}/tailor", "run", "-q", "-e", "task-clock,context-switches", "-o", trace, "--", f"{B}/engine", "--query", "q3", "--scale",
                "0.02"], check=True, stdout=subprocess.DEVNULL)
said_of_both = subprocess.run([f"{B}/tailor", "whatif", "--force", "--json", "--component", "operator:hash join=-50%", trace],
                              stdout=subprocess.PIPE, check=True, text=True).stdout
options = [r["option"] for r in json.loads(said_of_both)["tables"]["predictions"]]
if [o.count("operator:hash join=-50%") for o in options] != [2]:
    print(f"two hash joins: expected both to change, got {options}")
    bad += 1
if refused == len(CASES) and not bad:
    print("skipped, because other programs had the processors whenever something was recorded")
    sys.exit(77)
sys.exit(bad > 0)
