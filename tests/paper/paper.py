#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The figures and the table of "Tailored Profiling" (A. Beischl et al., Profiling Dataflow Systems on Multiple Abstraction Levels,
EuroSys 2021) for the test engine, measured now: paper.py BUILD writes BUILD/paper.md, with the command lines that were used and the
paper's own figures beside ours.  What the page says in words of its own measurements is computed from them: a line that begins with
"yes" was found to hold, one that begins with "no" was not.

It is a report, not a vote: the exit status is 0 whatever holds, and 1 when a command fails.  Environment: SCALE (1).
"""
import json
import os
import platform
import re
import statistics
import sys

sys.dont_write_bytecode = True  # the tree stays as it is
import figures
from recording import B, QUERIES, SCALE, Page, engine, json_of, record, run, samples_of, times

PAPER = "A. Beischl, T. Kersten, M. Bandle, J. Giceva, T. Neumann: *Profiling Dataflow Systems on Multiple Abstraction Levels*, EuroSys 2021"

INLINE = ("--optimize", "inline,llvm")  # as Umbra does


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        model = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), "unknown")
    return f"{os.cpu_count()} × {model}, Linux {platform.release()}"


def plan_of(trace):
    return json_of("report", "--view", "plan", "--json", "--top", "0", trace)["tables"]["plan"]


def figure_6(page, fig9):
    page.title("Figure 6: the same samples on two levels")
    page.paper("(a) the query plan, each operator with its costs; (b) the IR of one pipeline, each instruction with its operator, each basic "
               "block with its operators' sums, in percent of the pipeline's samples.")
    page.words("The query is figure 9's, and so is (a): see there. (b) is the pipeline that scans lineitem, probes the join and groups; blocks in "
               "which no line has 1 % are left out. Generated code probes the hash tables itself here (`--optimize inline`), as the "
               "paper's listing does; what ran in the shared runtime is under a tag, which names the task, not a line.")
    pipeline = figures.pipeline_name(fig9, "scan lineitem")
    page.show("report", "--view", "ir", "--component", f"pipeline:{pipeline}", fig9, between=("define void @pipeline_2", "}"))
    lines = figures.ir_lines(fig9, pipeline)
    operators = {line["operator"] for line in lines if line["operator"]}
    changes = sum(a["operator"] != b["operator"] for a, b in zip(lines, lines[1:]) if a["operator"] and b["operator"])
    page.holds({"scan lineitem", "hash join", "group by"} <= operators,
               f"operators are fused: {len(operators)} of them have lines in one function ({', '.join(sorted(operators))}), and going down "
               f"the listing, the operator changes {changes} times")
    blocks = figures.block_sums(lines)
    hot = max(lines, key=lambda line: line["share"] or 0)
    page.holds(hot["operator"] in ("hash join", "group by"), f"the hottest line is one of a hash table (paper: the join's directory, 32.1 %): "
               f"{100 * hot['share']:.1f} %, {hot['operator']}, `{hot['text'].strip()}`")
    worst = max((abs(b["said"] - sum(b["operators"].values())) for b in blocks), default=1)
    counted = figures.line_shares(samples_of(fig9, None), pipeline)
    off = max((abs((line["share"] or 0) - counted.get(line["line"], 0)) for line in lines), default=1)
    page.holds(len(blocks) > 1 and worst < 1e-9 and off < 0.03 and counted,
               f"each of {len(blocks)} blocks' totals is the sum of its lines, and each line has what the CSV says, within {100 * off:.1f} "
               "points (more where it called what was sampled)")
    page.table(["block", "of the pipeline's samples", "of it"],
               [[b["name"], f"{100 * b['said']:.1f} %", ", ".join(f"{name} {100 * share:.1f} %" for name, share in
                                                                  sorted(b["operators"].items(), key=lambda i: -i[1]) if share > 0.0005)]
                for b in blocks])


def figure_7(page, fig9):
    page.title("Figure 7: operators over time")
    page.paper("each sample belongs to an operator and has a time, which gives operator activity over the query's runtime.")
    page.show("report", "--view", "timeline", "--mark", "run#3", fig9, until="Share per time slice")
    rows = samples_of(fig9, "run#3")
    first = {}
    for r in rows:
        if r["operator"]:
            first.setdefault(r["operator"], r["ms"])
    page.words("First seen, in ms of the execution: " + ", ".join(f"{name} {ms:.0f}" for name, ms in sorted(first.items(), key=lambda i: i[1])) +
               ".")
    join = [r["ms"] for r in rows if r["task"] == "hash join build"]
    group = [r["ms"] for r in rows if r["operator"] == "group by"]
    output = [r["ms"] for r in rows if r["operator"] == "output"]
    both = figures.overlap([r["ms"] for r in rows if r["task"] == "hash join probe"], [r["ms"] for r in rows if r["task"] == "group by insert"])
    page.holds(join and group and figures.quantile(join, 0.99) <= figures.quantile(group, 0.01),
               f"the join's build side comes before all grouping: 99 % of its samples before {figures.quantile(join, 0.99):.0f} ms, 99 % of the "
               f"group-by's after {figures.quantile(group, 0.01):.0f} ms")
    page.holds(both > 0.9, f"probing and grouping run in one pipeline, at the same time: their samples share {100 * both:.0f} % of the time "
               "in which either is seen")
    page.holds(output and figures.quantile(output, 0.01) >= figures.quantile(group, 0.9),
               f"the output comes last: 99 % of its samples after {figures.quantile(output, 0.01):.0f} ms")


def figure_9(page, fig9):
    page.title("Figure 9: the plan with its costs (domain expert)")
    page.paper("the user sees at a glance that 65 % of the time is spent in the aggregation and 32 % in the join.")
    page.show("report", "--view", "plan", fig9)
    ours = {line["name"]: line["share"] for line in plan_of(fig9)}
    paper = {"group by": 65.1, "hash join": 32.4, "scan lineitem": 1.6, "scan orders": 0.6, "select": 0.3}
    page.table(["operator", "paper", "here"], [[name, f"{share} %", f"{100 * ours.get(name, 0):.1f} %"] for name, share in paper.items()])
    most = sorted(ours, key=lambda name: -ours[name])[:2]
    both = ours["group by"] + ours["hash join"]
    page.holds(set(most) == {"group by", "hash join"} and both > 0.9,
               f"aggregation and join are what costs: together {100 * both:.1f} % (paper: 97.5 %)")
    page.holds(most[0] == "group by", f"the dearest is the {most[0]} (paper: the group by)")


def figure_11(page):
    page.title("Figure 11: one query, two plans (optimizer developer)")
    page.paper("both plans have equally large intermediate results. The alternative, which probes orders first, is faster. It shows why: lineitem "
               "lies in the order of the join attribute; until 70 ms the join on orders finds a match for all tuples, and from then on "
               "none, so that the hash table of partsupp is not probed at all.")
    page.words("`part` stands for the paper's `partsupp`. `fig10a` probes part first, `fig10b` orders first.")
    took, traces = {}, {}
    for query in ("fig10a", "fig10b"):
        traces[query], out = record(page, query, 7, how=INLINE)
        took[query] = times(out)
    for query, trace in traces.items():
        page.show("report", "--view", "timeline", "--mark", "run#3", trace, until="Share per time slice")
    best = {query: min(t) for query, t in took.items()}
    page.holds(best["fig10b"] < best["fig10a"], f"the alternative is faster: fig10a {best['fig10a']:.0f} ms, fig10b {best['fig10b']:.0f} ms, "
               f"the best of {len(took['fig10a'])} executions each")
    rows = {}
    for query, trace in traces.items():
        c = figures.phase_change(samples_of(trace, "run#3"), "scan lineitem", "join part")
        share = figures.shares_around(samples_of(trace, "run#3"), "scan lineitem", c["ms"])
        rows[query] = c
        page.table([f"{query}, probing pipeline", f"before {c['ms']:.0f} ms", "after"],
                   [[name, f"{100 * before:.1f} %", f"{100 * after:.1f} %"] for name, (before, after) in share.items()])
    b, a = rows["fig10b"], rows["fig10a"]
    page.holds(b["before"] > 0.2 and b["after"] < 0.02,
               f"phase change in fig10b at {b['ms']:.0f} ms: the join on part has {100 * b['before']:.1f} % of the probing pipeline before, and "
               f"{100 * b['after']:.1f} % after it")
    page.holds(abs(a["before"] - a["after"]) < (b["before"] - b["after"]) / 2,
               f"no such change in fig10a: {100 * a['before']:.1f} % before and {100 * a['after']:.1f} % after the point that divides it best")
    page.holds(figures.boundary(samples_of(traces["fig10b"], "run#3"), "scan lineitem", b["ms"]),
               "the change lies inside of the probing pipeline, not at its ends")


def figure_12(page):
    page.title("Figure 12: memory accesses per operator (operator developer)")
    page.paper("table scans on orders and lineitem show a linear access pattern over time; join and group by access memory in a more widespread "
               "fashion, because of their hash tables.")
    page.words("Precise memory events are not needed: an address is computed from the sampled registers and the instruction that was about to "
               "run.")
    trace, _ = record(page, "fig9", 3, options=("--registers", "all", "--rate", "40000"), how=INLINE)
    page.show("report", "--view", "memory", trace, lines=100)
    found = figures.orders_in_time(samples_of(trace, "run#2") + samples_of(trace, "run#3"))
    page.table(["operator, IR line", "accesses", "span", "rank correlation of address and time"],
               [[f["name"], str(f["nr"]), figures.bytes_text(f["bytes"]), f"{f['rho']:.3f}"] for f in found])
    scans = [f for f in found if f["operator"].startswith("scan lineitem")]
    page.holds(scans and all(f["rho"] > 0.99 for f in scans), f"the scan of lineitem is linear in time: correlation at least "
               f"{min((f['rho'] for f in scans), default=0):.3f}, of {sum(f['nr'] for f in scans)} accesses")
    spread = [f for f in found if f["operator"] == "hash join" and f["bytes"] > 1 << 20 and abs(f["rho"]) < 0.5]
    page.holds(spread, "the join's accesses are widespread: lines whose address does not go with time: " +
               (", ".join(f"{f['name']} {f['rho']:.2f} over {figures.bytes_text(f['bytes'])}" for f in spread) or "none"))
    for name in ("scan lineitem", "hash join", "group by"):
        nr, of = figures.with_address(samples_of(trace, "run#2") + samples_of(trace, "run#3"), name)
        page.holds(nr >= 0.9 * of, f"9 of 10 samples of {name} have an address: {100 * nr / max(of, 1):.1f} % of {of} (paper: each, by precise "
                   "events of loads)")
    groups = [f for f in found if f["operator"] == "group by" and f["bytes"] > 1 << 20]
    page.holds(any(abs(f["rho"]) < 0.5 for f in groups), "the group-by's accesses are widespread, too: " +
               (", ".join(f"{f['name']} {f['rho']:.2f} over {figures.bytes_text(f['bytes'])}" for f in groups) or "none"))
    page.words("Lineitem comes in the order of its keys here, and groups are allocated as they come, so this engine's go with time.")
    page.words("Without precise events the sampled instruction is the one that waits: where that is not the load itself but what needs its result, "
               "as at the group by's directory, there is no address.")


def figure_13(page):
    page.title("Figure 13: what sampling costs")
    page.paper("query 16 at 0.7 MHz (a sample every 5,000 cycles, PEBS, scale 10): IP and time 35 %, with registers 38 %, with call stacks 529 %; "
               "54 bytes a sample, 265 with a call stack; reserving a register costs 2.8 % (mean of 22 queries).")
    out = json_of("overhead", "--json", "--rates", "1000,10000,50000", "--rounds", "3", "--svg", f"{B}/paper/overhead.svg", "--",
                  f"{B}/engine", "--query", "q16", "--scale", SCALE, "--threads", "1", "--repeat", "2", page=page)

    def text(value, form):
        return "" if value is None else form.format(value)

    page.table(["samples/s", "capture", "run time added (interval)", "bytes a sample", "attributed"],
               [[str(r["rate"]), r["name"], f"{100 * r['added_wall']['median']:.1f} % ({100 * r['added_wall']['low']:.1f} to "
                 f"{100 * r['added_wall']['high']:.1f})", text(r["bytes_per_sample"]["median"], "{:.1f}"),
                 text(r["attributed"]["median"] and 100 * r["attributed"]["median"], "{:.1f} %")] for r in out["rows"]])
    page.words("![overhead](paper/overhead.svg)")
    by = {(r["capture"], r["rate"]): r for r in out["rows"]}
    tag, stack = ({rate: by[(capture, rate)] for rate in (1000, 10000, 50000)} for capture in ("tag", "stack-8k"))

    def added(row):
        return 100 * row["added_wall"]["median"]

    page.holds(added(tag[50000]) > added(tag[1000]), f"more samples cost more: with the tag register, {added(tag[1000]):.1f} % at 1,000 and "
               f"{added(tag[50000]):.1f} % at 50,000 samples a second")
    page.holds(added(stack[50000]) > 2 * added(tag[50000]), "the tag register costs less than half of what call stacks do (paper: 38 and 529 %): "
               f"at 50,000 samples a second {added(tag[50000]):.1f} % and {added(stack[50000]):.1f} %")
    page.holds(tag[10000]["bytes_per_sample"]["median"] <= 10 and stack[10000]["bytes_per_sample"]["median"] <= 300,
               f"a sample takes {tag[10000]['bytes_per_sample']['median']:.1f} bytes with a tag (paper: 54), "
               f"{stack[10000]['bytes_per_sample']['median']:.1f} with the call stack (paper: 265)")
    register(page)


def register(page):
    """What the tag costs that no sample is taken of: --tag register against --tag none, in turn."""
    rounds, ratio = 5, {}
    for query in QUERIES:
        with_tag, without = [], []
        for _ in range(rounds):
            for how, list_ in (("register", with_tag), ("none", without)):
                list_.append(min(times(run(*engine(query, 3, "--tag", how)))))
        ratio[query] = statistics.median(a / b for a, b in zip(with_tag, without))
    page.command(*engine("QUERY", 3, "--tag", "register|none"))
    page.table(["query"] + QUERIES + ["mean"], [["register against none"] + [f"{100 * (r - 1):+.1f} %" for r in ratio.values()] +
                                                [f"{100 * (statistics.mean(ratio.values()) - 1):+.1f} %"]])
    by_tag = {}
    for how in ("register", "none"):
        methods = json_of("report", "--json", record(page, "q18", 3, how=("--tag", how))[0])["run"]["methods"]
        by_tag[how] = methods["tag"] / max(1, sum(methods.values()))
    page.holds(by_tag["register"] > 0.5 and by_tag["none"] == 0, f"that is the tag's cost: of q18's samples it names "
               f"{100 * by_tag['register']:.1f} %, and without it {100 * by_tag['none']:.1f} %")
    mean = statistics.mean(ratio.values()) - 1
    page.holds(mean < 0.05, f"the tag itself costs {100 * mean:.1f} % (mean of {len(ratio)} queries, {rounds} rounds in turn; paper: 2.8 %)")


def records_of(trace):
    return [json.loads(line) for line in run(f"{B}/tailor", "dump", "--json", trace).splitlines()]


def table_1(page):
    page.title("Table 1: optimizations")
    page.paper("the Tagging Dictionary survives what compilation engines do to their code. Umbra has operator fusion, code elimination, constant "
               "folding, common subexpressions and fused operators of the dataflow graph; it has no instruction fusing, unrolling or "
               "polyhedral optimizations.")
    page.words("Operator fusion is figure 6. Each of the others alone, against the code as it was generated (`--optimize none`):")
    rows, same, other, attributed, plain = [], [], [], [], {}
    for name, umbra, query, word in (("instruction fusing", "no", "q6", "fuse"), ("code elimination", "yes", "fig9", "eliminate"),
                                     ("constant folding", "yes", "calibrate-inline", "fold"), ("common subexpressions", "yes", "fig9", "cse"),
                                     ("unrolling, interleaving", "no", "calibrate-inline", "unroll"),
                                     ("vectorised loop (polyhedral)", "no", "q6", "vector"),
                                     ("operators fused in the graph", "yes", "q3-groupjoin", "none")):
        base = "q3" if query == "q3-groupjoin" else query
        if base not in plain:
            plain[base] = figures.instructions(record(page, base, 3, how=("--optimize", "none"))[0])
        trace, out = record(page, query, 3, how=("--optimize", word))
        bare = run(*engine(base, 3, "--optimize", "none"))
        result = [re.search(r"(\d+) rows, checksum (\w+)", text) for text in (out, bare)]
        d = figures.dictionary_of(records_of(trace))
        on = json_of("report", "--json", trace)["run"]["on_operator"]
        same.append(int(result[0][1]) > 0 and result[0].groups() == result[1].groups())
        other.append(d["removed"] > 0 or figures.differ(figures.instructions(trace), plain[base]))
        attributed.append(on)
        rows.append([name, umbra, f"{query}, `{word}`", f"{min(times(bare)):.1f} to {min(times(out)):.1f} ms", str(d["removed"]), str(d["shared"]),
                     f"{100 * on:.1f} %"])
    page.table(["optimization", "in Umbra", "here", "an execution, without and with it, recorded", "lines removed", "lines of several operators",
                "on operators"], rows)
    page.holds(all(same) and all(other), f"all {len(same)} leave the result as it was, and {sum(other)} of them change the code")
    page.holds(min(attributed) >= 0.98, f"at least {100 * min(attributed):.1f} % of the samples end on operators under each")
    page.holds(all(int(row[5]) > 0 for row in rows if row[2].endswith(("`fuse`", "`cse`"))) and
               all(int(row[4]) > 0 for row in rows if row[2].endswith(("`fuse`", "`cse`", "`fold`", "`eliminate`"))),
               "instructions that were fused, or are common, are of several operators; removed ones have left the dictionary")


def iterations(page):
    page.title("Section 4.2.6: iterations")
    page.paper("the dictionary cannot differ between iterations; post-processing uses the samples' time stamps to tell them apart.")
    trace, _ = record(page, "pagerank", 5)
    begins = {}
    for r in records_of(trace):
        if r["record"] == "MARK" and r["fields"]["name"] == "iteration" and r["fields"]["action"] == 1:
            begins.setdefault(r["fields"]["parent_instance"], []).append(r["time_ns"])
    best = min(begins, key=lambda n: figures.unevenness(begins[n]))
    page.words(f"Execution {best} of {len(begins)}, whose iterations were marked at the most even times:")
    page.show("report", "--view", "timeline", "--mark", f"run#{best}", trace)
    marks = begins[best]
    each = (marks[-1] - marks[0]) / (len(marks) - 1) / 1e6
    found = json_of("report", "--view", "timeline", "--mark", f"run#{best}", "--json", trace)["tables"]["periods"]
    found = [p for p in found if p["name"] != "(unattributed)"]
    good = [p for p in found if abs(p["period_ns"] / 1e6 / each - 1) < 0.1]
    page.holds(good, f"iterations found by time agree with the engine's marks: {len(marks)}, one each {each:.1f} ms, were marked; found were " +
               (", ".join(f"{p['times']} each {p['period_ns'] / 1e6:.1f} ms ({p['name']})" for p in found) or "none"))


def table_2(page):
    page.title("Table 2: samples that are attributed")
    page.paper("all 22 TPC-H queries: 98.0 % attributed, 95.4 % to operators and 2.6 % to kernel tasks; 2.0 % not. A query's dictionary has about "
               "1,320 entries.")
    total = {"operators": 0, "kernel": 0, "none": 0}
    rows = []
    for query in QUERIES:
        trace, _ = record(page, query, 5)
        mine = {"operators": 0, "kernel": 0, "none": 0}
        for r in json_of("report", "--view", "methods", "--json", trace)["tables"]["methods"]:
            if r["method"] == "none":
                mine["none"] += r["samples"]
            else:
                mine["kernel"] += round(r["samples"] * r["kernel"])
                mine["operators"] += r["samples"] - round(r["samples"] * r["kernel"])
        rows.append([query, sum(mine.values()), mine, figures.dictionary_of(records_of(trace))["entries"]])
        for key in total:
            total[key] += mine[key]
    rows.append(["all", sum(total.values()), total, sum(r[3] for r in rows) // len(QUERIES)])
    page.command(f"{B}/tailor", "report", "--view", "methods", "TRACE")
    page.table(["query", "samples", "operators", "kernel, for an operator", "none", "dictionary entries"],
               [[q, str(nr)] + [f"{100 * m[key] / nr:.1f} %" for key in total] + [str(links)] for q, nr, m, links in rows])
    page.words(f"The engine has {len(QUERIES)} of the 22: the others need joins of two keys, subqueries, outer joins or texts that match a pattern.")
    page.words("Most kernel time is page faults: the engine gives all memory back after each execution.")
    nr = sum(total.values())
    page.holds((nr - total["none"]) / nr >= 0.995, f"{100 * (nr - total['none']) / nr:.2f} % of {nr} samples are attributed (paper: 98.0 %)")
    page.words("Why the others are not, in the query with most of them:")
    worst = max(rows[:-1], key=lambda r: r[2]["none"])
    page.show("report", "--view", "reasons", f"{B}/paper/{worst[0]}.tlr")


def main():
    page = Page("Profiling Dataflow Systems on Multiple Abstraction Levels: its figures, for the test engine")
    page.words(f"{PAPER}.\n\nMeasured on {machine()}, at scale {SCALE} (1 is six million lineitems) on one thread, like the paper's use cases. "
               "Shares are of cycles where the machine has that counter, and of time else. Lines that begin with **yes** or **no** are "
               "statements that were checked on what was just measured.")
    fig9, _ = record(page, "fig9", 5, how=INLINE)
    figure_6(page, fig9)
    figure_7(page, fig9)
    figure_9(page, fig9)
    figure_11(page)
    figure_12(page)
    figure_13(page)
    table_2(page)
    table_1(page)
    iterations(page)
    page.write()


main()
