# SPDX-License-Identifier: MIT
"""What is computed from samples for paper.py's statements."""
import re
import statistics

from recording import json_of

CELLS = 100  # of time, where samples are compared in stretches


def quantile(values, q):
    return sorted(values)[min(int(q * len(values)), len(values) - 1)] if values else float("nan")


def overlap(a, b):
    """Of the cells of time between the first and the last of either: the part in which both occur."""
    if not a or not b:
        return 0
    low, high = min(a + b), max(a + b)
    # the ends may have a few samples only
    cells = [{min(int(CELLS * (x - low) / (high - low)), CELLS - 1) for x in list_} for list_ in (a, b)]
    return len(cells[0] & cells[1]) / len(cells[0] | cells[1])


def pipeline_name(trace, what):
    """The pipeline's name by what it scans."""
    rows = json_of("report", "--view", "components", "--level", "pipeline", "--json", "--top", "0", trace)["tables"]
    return next(r["name"] for r in list(rows.values())[0] if r["name"].endswith(what))


def ir_lines(trace, pipeline):
    return [r for r in json_of("report", "--view", "ir", "--component", f"pipeline:{pipeline}", "--json", trace)["tables"]["ir"]
            if r["pipeline"] in (pipeline, "")]


def block_sums(lines):
    """Each basic block with samples: its name, what the view said, and the sum by operator."""
    blocks = []
    for line in lines:
        label = re.match(r"([\w.]+):", line["text"])
        if label:
            blocks.append({"name": label[1], "said": line["block"] or 0, "operators": {}})
        elif blocks and line["operator"] and line["share"]:
            of = blocks[-1]["operators"]
            of[line["operator"]] = of.get(line["operator"], 0) + line["share"]
    return [b for b in blocks if b["said"] or b["operators"]]


def line_shares(samples, pipeline):
    """The same from the samples themselves: line -> part of the pipeline's weight."""
    rows, by = [r for r in samples if r["pipeline"] == pipeline], {}
    total = sum(r["weight"] for r in rows)
    for r in rows:
        if r["file"].endswith(".ll"):
            by[int(r["line"])] = by.get(int(r["line"]), 0) + r["weight"] / total
    return by


def instructions(trace):
    """Of each generated function with samples: the names of its instructions, in order.  (Addresses are others in each process.)"""
    by = {}
    for r in json_of("report", "--view", "asm", "--json", "--top", "0", trace)["tables"]["asm"]:
        if (r["file"] or "").endswith(".ll"):
            by.setdefault(r["function"], []).append(r["text"].split()[0])
    return by


def differ(a, b):
    """Whether there is a function that both have, and not with the same instructions; or none that both have."""
    return not set(a) & set(b) or any(a[name] != b[name] for name in set(a) & set(b))


def in_pipeline(samples, what):
    return [r for r in samples if r["pipeline"].endswith(what)]


def phase_change(samples, pipeline, operator):
    """Where the pipeline's samples are divided best by whether they are the operator's: most difference of the two sides' shares,
    weighted by how many samples are on each side (the least sum of squares), with a tenth of them at least; ms from the execution's start."""
    rows = in_pipeline(samples, pipeline)
    is_one = [r["operator"] == operator for r in rows]
    total, best, left = sum(is_one), None, 0
    for n in range(1, len(rows)):
        left += is_one[n - 1]
        before, after = left / n, (total - left) / (len(rows) - n)
        gain = n * (len(rows) - n) / len(rows) * (before - after) ** 2
        if len(rows) / 10 < n < 0.9 * len(rows) and (best is None or gain > best["gain"]):
            best = {"gain": gain, "ms": rows[n]["ms"], "before": before, "after": after}
    return best


def shares_around(samples, pipeline, ms):
    """Of each operator in the pipeline: its share before and after."""
    sums = {}
    for r in in_pipeline(samples, pipeline):
        sums.setdefault(r["operator"], [0, 0])[r["ms"] >= ms] += r["weight"]
    all_ = [sum(s[side] for s in sums.values()) or 1 for side in (0, 1)]
    return {name: (s[0] / all_[0], s[1] / all_[1]) for name, s in sorted(sums.items(), key=lambda i: -sum(i[1]))}


def boundary(samples, pipeline, ms):
    """Whether it lies inside of the pipeline's time: not in the first or the last tenth."""
    at = [r["ms"] for r in in_pipeline(samples, pipeline)]
    return min(at) + 0.1 * (max(at) - min(at)) < ms < max(at) - 0.1 * (max(at) - min(at))


def ranks(values):
    order = sorted(range(len(values)), key=lambda i: values[i])
    out = [0.0] * len(values)
    for rank, i in enumerate(order):
        out[i] = float(rank)
    return out


def largest_region(accesses):
    """Of (time, address): those in the largest group of addresses that lie less than 64 MB from the next."""
    order = sorted(accesses, key=lambda x: x[1])
    groups = [[order[0]]]
    for a, b in zip(order, order[1:]):
        if b[1] - a[1] > 64 << 20:
            groups.append([])
        groups[-1].append(b)
    return max(groups, key=len)


def with_address(samples, operator):
    """Of an operator's samples in generated code: those with a computed address, and all."""
    rows = [r for r in samples if r["operator"] == operator and r["file"].endswith(".ll")]
    return sum(int(r["address"], 16) != 0 for r in rows), len(rows)


def orders_in_time(samples):
    """Each generated line with at least 20 computed addresses: whether they go up with time, in the largest stretch of addresses."""
    by = {}
    for r in samples:
        if int(r["address"], 16) and r["operator"] and r["file"].endswith(".ll"):
            by.setdefault((r["phase"], r["operator"], int(r["line"])), []).append((float(r["time_ns"]), int(r["address"], 16)))
    lines = {}
    for (_, operator, line), list_ in by.items():
        list_ = largest_region(list_)
        if len(list_) < 20:
            continue
        x, y = ranks([t for t, _ in list_]), ranks([a for _, a in list_])
        lines.setdefault((operator, line), []).append(
            (len(list_), max(a for _, a in list_) - min(a for _, a in list_), statistics.correlation(x, y)))
    return [{"operator": operator, "name": f"{operator}, line {line}", "nr": sum(n for n, _, _ in runs), "bytes": max(b for _, b, _ in runs),
             "rho": statistics.mean(rho for _, _, rho in runs)} for (operator, line), runs in sorted(lines.items(), key=lambda i: i[0])]


def dictionary_of(dump):
    """From a dump's lines: how many lines of IR are of several operators, how many were removed, and how many entries there are."""
    tasks, links, removed, nr = {}, {}, set(), 0
    for r in dump:
        f = r.get("fields", {})
        nr += r["record"] == "LINK"
        if r["record"] == "LINK" and f["upper_level"] == 1:
            tasks[f["lower"]] = f["upper"]
        elif r["record"] == "LINK" and f["lower_level"] == 4:
            links.setdefault(f["lower"], set()).add(f["upper"])
        elif r["record"] == "UNLINK" and f["lower_level"] == 4:
            links[f["lower"]] = set()
            removed.add(f["lower"])
    return {"shared": sum(len({tasks[t] for t in of}) > 1 for of in links.values()), "removed": len(removed), "entries": nr}


def unevenness(begins):
    took = sorted(b - a for a, b in zip(begins, begins[1:]))
    return took[-1] / took[0]


def bytes_text(n):
    for unit in ("B", "kB", "MB"):
        if n < 1000:
            return f"{n:.0f} {unit}"
        n /= 1000
    return f"{n:.1f} GB"
