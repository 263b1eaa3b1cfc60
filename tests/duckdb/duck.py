# SPDX-License-Identifier: MIT
"""DuckDB's library in a program that runs TPC-H's queries, and what tailor says of their samples."""
import collections
import glob
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../postgres")
import profile
import rank

TASK = "_ZN6duckdb12ExecutorTask7ExecuteENS_17TaskExecutionModeE"
END = "end of the plan"
PROFILING = "(profiling)" # what the agent does in a task, which is no work of the task's


class Failed(Exception):
    pass


def queries(names):
    """{"q01": text}."""
    wanted = {f"q{int(n.lstrip('q')):02}" for n in names.replace(",", " ").split()} if names else None
    texts = {os.path.basename(f)[:-4]: open(f).read() for f in sorted(glob.glob(HERE + "/../postgres/queries/*.sql"))}
    return {q: t for q, t in texts.items() if not wanted or q in wanted}


class Row:
    def __init__(self, query, threads):
        self.query, self.threads = query, threads
        self.samples = self.tasks = self.found = self.between = self.in_query = 0
        self.reasons = collections.Counter()
        self.by_thread = collections.Counter()
        self.same = None


class Duck:
    def __init__(self, build, folder, scale, rate):
        self.tailor, self.host = build + "/tailor", build + "/duckdb/host"
        self.library = os.path.abspath(os.environ.get("LIBDUCKDB", build + "/duckdb/libduckdb.so"))
        self.folder, self.rate, self.database = folder, rate, folder + "/tpch.db"
        numbers = {"CUSTOMERS": 150000, "ORDERS": 1500000, "PARTS": 200000, "SUPPLIERS": 10000}
        text = open(HERE + "/data.sql").read()
        for name, nr in numbers.items():
            text = re.sub(rf"\b{name}\b", str(int(nr * scale)), text)
        self.run(text)

    def run(self, script, trace=None, words=None):
        """What the host prints.  words: of a command that stands before it."""
        command = [*(words or []), self.host, self.library, self.database]
        if trace:
            command[:0] = [self.tailor, "run", "-q", "-r", str(self.rate), "--stack", "16384", "-o", trace, "--"]
        p = subprocess.run(command, input=script, capture_output=True, text=True)
        if p.returncode:
            raise Failed(f"{' '.join(command)}: exit {p.returncode}: {p.stderr.strip()}")
        if p.stderr:
            raise Failed(f"{' '.join(command)} prints on stderr: {p.stderr.strip()}")
        return p.stdout

    def repeat(self, texts, threads, seconds, trace=None):
        """[(query, begin, end, hash of its rows)]."""
        script = f"set threads={threads};\n" + "".join(f"-- repeat {seconds}\n{t.strip()}\n" for t in texts.values())
        lines = [line.split() for line in self.run(script, trace).splitlines() if line.startswith("repeated ")]
        return [(q, int(line[1]), int(line[2]), line[4]) for q, line in zip(texts, lines, strict=True)]

    def in_tasks(self, trace):
        return in_tasks(self.tailor, trace, self.library)

    def operators(self, texts, threads, seconds, trace):
        bare = {q: rows for q, _, _, rows in self.repeat(texts, threads, 0.01)}
        windows = self.repeat(texts, threads, seconds, trace)
        in_task = self.in_tasks(trace)
        rows = {q: Row(q, threads) for q in texts}
        for q, _, _, hash_ in windows:
            rows[q].same = hash_ == bare[q]
        for s in samples(self.tailor, trace):
            q = next((w[0] for w in windows if w[1] <= s["time_ns"] < w[2]), None)
            if q is None:
                continue
            r = rows[q]
            r.samples += 1
            r.in_query += bool(s["query"])
            if is_of_task(s, in_task):
                r.tasks += 1
                r.by_thread[s["tid"]] += 1
                r.between += s["operator"].startswith("(")
                r.found += on_operator(s)
                if not s["operator"]:
                    r.reasons[s["function"]] += 1
        return list(rows.values())

    # ------------------------------------------------------------------------------------------------------------- rank

    def explained(self, text, threads, runs):
        """[{path of names: its own processor time}] of so many runs."""
        each = f"-- print\nexplain (analyze, format json)\n{text.strip()}\n-- print\nselect '{END}';\n"
        script = f"set threads={threads};\n-- processor time\n" + each * runs
        times = []
        for part in self.run(script).split(END)[:runs]:
            plan = json.loads(part[part.index("{"):])
            seen = collections.Counter()

            def add(node, path):
                info = node.get("extra_info") or {}
                name = node.get("operator_name", "").strip()
                path = path if name == "EXPLAIN_ANALYZE" else path + ((name + " " + info["Table"]) if info.get("Table") else name,)
                if path:
                    seen[path] += node["operator_timing"]
                for below in node["children"]:
                    add(below, path)

            for below in plan["children"]:
                add(below, ())
            times.append(seen)
        return times

    def sampled(self, trace, windows):
        """{query: {path of names: samples}}."""
        paths = {n: tuple(name for name in path if name != "RESULT_COLLECTOR")
                 for n, path in profile.tree_paths(profile.report(self.tailor, trace), "operator").items()}
        out = collections.defaultdict(collections.Counter)
        for s in samples(self.tailor, trace):
            q = next((w[0] for w in windows if w[1] <= s["time_ns"] < w[2]), None)
            if q and on_operator(s):
                out[q][paths[s["operator_id"]]] += 1
        return out


def in_tasks(tailor, trace, library):
    """{(time, tid)} of the samples in tasks."""
    lo, hi = profile.function_range(library, TASK)
    bias = load_bias(tailor, trace, library)
    return profile.in_function(tailor, trace, lo + bias, hi + bias)[0]


def is_of_task(s, in_task):
    return (s["time_ns"], s["tid"]) in in_task and s["operator"] != PROFILING


def on_operator(s):
    """Not in a class of work."""
    return bool(s["operator"]) and not s["operator"].startswith("(")


def load_bias(tailor, trace, library):
    out = subprocess.run([tailor, "dump", trace], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"IMAGE load_bias=(\S+) .*%s" % re.escape(os.path.basename(library)), out).group(1), 16)


def samples(tailor, trace):
    p = subprocess.Popen([tailor, "report", "--samples", "--mark", "all", trace], stdout=subprocess.PIPE, text=True, errors="replace")
    heads = p.stdout.readline().rstrip("\n").split("\t")
    if "operator" not in heads:
        raise Failed(f"tailor report --samples {trace} prints no operators: {heads}")
    for line in p.stdout:
        s = dict(zip(heads, line.rstrip("\n").split("\t")))
        for level in ("operator", "pipeline", "query"):
            s[level], s[level + "_id"] = profile.split(s.get(level, ""))
        s["time_ns"], s["tid"] = int(s["time_ns"]), int(s["tid"])
        yield s
    if p.wait():
        raise Failed(f"tailor report --samples {trace}: exit {p.returncode}")


def least(runs):
    """{path of names: the least time of several runs}."""
    times = {}
    for run in runs:
        for path, s in run.items():
            times[path] = min(s, times.get(path, s))
    return times


def correlation(explained, sampled, share=0.02):
    """(pairs of shares, those that EXPLAIN knows and samples do not).  A delim join calls its join and its aggregation: EXPLAIN counts their
    time as its own, samples have them apart; they are left out."""
    explained, sampled = ({p: n for p, n in of.items() if not any("DELIM_JOIN" in name for name in p[-2:])} for of in (explained, sampled))
    all_time, all_samples = sum(explained.values()), sum(sampled.values())
    if not all_time or not all_samples:
        return [], []
    large = [p for p in explained if explained[p] / all_time >= share or sampled.get(p, 0) / all_samples >= share]
    return [(explained[p] / all_time, sampled.get(p, 0) / all_samples) for p in large], [p for p in large if not sampled.get(p)]
