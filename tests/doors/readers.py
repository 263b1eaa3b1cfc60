# SPDX-License-Identifier: MIT
"""Ways of reading.  Each takes a Recording and gives an Answer: rows (name, share of the whole), the first one first, and the text."""
import collections
import gzip
import json
import os
import re
import subprocess
import sys

from common import PATIENCE_S, Refused, sh

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../golden")
from protobuf import fields, numbers  # noqa: E402

WIDE = dict(os.environ, COLUMNS="240", LC_ALL="C.UTF-8", NO_COLOR="1")


class Answer:
    """by_order: the rows come with the largest first, as a user sees them, and not as totals, which overlap.  leading: of a whole machine,
    the names that the answer begins with where no process is asked for, or None.  of_host: the rows are of the host alone.
    changed: names that are said to have changed."""
    def __init__(self, rows, text, by_order=True, leading=None, of_host=True, changed=()):
        self.rows, self.text, self.by_order, self.leading, self.of_host, self.changed = rows, text, by_order, leading, of_host, changed


def said(r, *arguments):
    return sh([r.tailor, *arguments], r.messages, env=WIDE)


BLOCKS = "".join(map(chr, range(0x2580, 0x2590)))


def tables(text):
    """Of a report's text: the rows of each table, a share and the rest of the line; total in front of self."""
    table = []
    for line in text.splitlines() + [""]:
        m = re.match(rf" *([\d.]+) %(?: +[{BLOCKS}]+)?(?: +([\d.]+) %)? (.*)$", line)
        if m:
            table.append((m[3], float(m[1])))
        elif not line.strip() and table:
            yield table
            table = []


def of_process(r):
    """Options of commands that read traces.  Of a whole machine the process is asked for whose clock is the truth."""
    return ["--process", str(r.process)] if r.process else []


def labelled(r, tables):
    """The first one of the tables that has a kind of planted work, or none."""
    kinds = re.compile("|".join(r.host.names))
    return next((t for t in tables if any(kinds.search(name) for name, _ in t)), [])


def report(r):
    options = of_process(r) + {"queries": ["--view", "queries"]}.get(r.host.shows, [])
    text = said(r, "report", *options, r.trace())
    head = said(r, "report", r.trace()) if options else text
    leading = [name for name, _ in next(tables(head), [])] if r.process else None
    if r.process and re.search(r"^Programs$", head, re.M):  # the largest ones only
        leading.append(r.program)
    return Answer(labelled(r, tables(text)), head + text, leading=leading, of_host=r.process or not r.whole_machine)


def rows_of(document, value, name=("name",)):
    table = next(iter(document["tables"].values()), []) if "tables" in document else document["rows"]
    return [(" ".join(str(row.get(n) or "") for n in name), 100 * (row.get(value) or 0)) for row in table]


def named(r, *more):
    """What of the JSON is a row's name."""
    return ("name", "detail", "text", "query", *more)


def page(r):
    p = subprocess.run(["node", HERE + "/page.mjs", os.path.dirname(r.tailor), r.trace(), r.file("page.html"), *of_process(r)],
                       capture_output=True, timeout=PATIENCE_S)
    if p.returncode:
        raise Refused(p.stderr.decode(errors="replace"))
    document = json.loads(p.stdout)
    every = [[(row["name"], 100 * row["share"]) for row in table] for table in document["tables"]]
    return Answer(labelled(r, every) or every[0], document["text"], of_host=r.process or not r.whole_machine)


def top(r):
    level = {"queries": "queries", "programs": "commands"}.get(r.host.shows)
    options = of_process(r) + (["--by", level] if level else [])
    text = said(r, "top", "--once", *options, r.trace())

    def rows(*more):
        return rows_of(json.loads(said(r, "top", "--once", "--json", "--rows", "0", *more, r.trace())), "share", named(r))
    return Answer(rows(*options), text, leading=[name for name, _ in rows()] if r.process else None, of_host=r.process or not r.whole_machine)


def of_store(verb):
    def read(r):
        options = (["--process", r.program] if r.process else []) + (["--view", "queries"] if r.host.shows == "queries" else [])
        text = said(r, "db", verb, r.store(), *options)

        def rows(*more):
            return rows_of(json.loads(said(r, "db", verb, r.store(), "--json", "--top", "0", *more)), "share", named(r))
        # other processes of the machine may run the same program
        return Answer(rows(*options), text, leading=[name for name, _ in rows()] if r.process else None, of_host=not r.whole_machine)
    return read


def changes(r):
    """The same work in both halves: no row may be named; of a whole machine none of the planted work."""
    p = subprocess.run([r.tailor, "db", "changes", "--json", r.store()], capture_output=True, timeout=PATIENCE_S, env=WIDE)
    if p.returncode not in (0, 3):
        raise Refused(p.stderr.decode(errors="replace"))
    text = said_of_changes(r)
    if any(sentence in text for sentence in ("two are needed to compare", "not compared, since")):
        raise Refused(text)
    named_rows = [name for name, _ in rows_of(json.loads(p.stdout), "before", named(r))]
    if r.whole_machine:
        named_rows = [name for name in named_rows if any(re.search(pattern, name) for pattern in r.host.names)]
    return Answer(None, text, changed=named_rows)


def said_of_changes(r):
    p = subprocess.run([r.tailor, "db", "changes", r.store()], capture_output=True, timeout=PATIENCE_S, env=WIDE)
    return " ".join(p.stdout.decode(errors="replace").split())


def compared(verb, value):
    def read(r):
        options = ["--all"] if verb == "diff" else ["--top", "0"]
        text = said(r, verb, *of_process(r), r.trace(), r.trace())

        def rows(*more):
            found = rows_of(json.loads(said(r, verb, "--json", *options, *more, r.trace(), r.trace())), value, named(r, "place"))
            return sorted(found, key=lambda row: -row[1])
        return Answer(rows(*of_process(r)), text, leading=[name for name, _ in rows()] if r.process else None,
                      of_host=r.process or not r.whole_machine)
    return read


def whatif(r):
    return Answer(None, said(r, "whatif", r.trace()))


# --------------------------------------------------------------------------------------------------------- exports

def totals(stacks):
    """Rows of totals; stacks: (names, value)."""
    of_name, whole = collections.Counter(), 0
    for names, value in stacks:
        whole += value
        for name in set(names):
            of_name[name] += value
    return Answer([(name, 100 * value / max(whole, 1)) for name, value in of_name.most_common()], "", by_order=False)


def export(r, kind, ending):
    """Frames of some formats are functions, and the command says with which level they are queries."""
    path = r.file("x." + ending)
    begin = [r.tailor, "export", "--overwrite", "-f", kind, "-o", path, *of_process(r)]
    sh([*begin, r.trace()], r.messages)
    if r.host.shows == "queries" and "--level query exports the plan" in "".join(r.messages):
        sh([*begin, "--level", "query", r.trace()], r.messages)
    return path


def folded(r):
    with open(export(r, "folded", "folded"), encoding="utf-8", errors="replace") as f:
        return totals((stack.split(";"), int(value)) for stack, _, value in (line.rpartition(" ") for line in f))


def pprof(r):
    """profile.proto: strings 6, functions 5 (id 1, name 2), locations 4 (id 1, lines 4 with a function 1), samples 2 (locations 1, values 2,
    labels 3 with a text 2)"""
    data = gzip.open(export(r, "pprof", "pb.gz")).read()
    parts = collections.defaultdict(list)
    for number, value in fields(data):
        parts[number].append(value)
    text = [t.decode(errors="replace") for t in parts[6]]
    function = {numbers(f, 1)[0]: text[numbers(f, 2)[0]] for f in parts[5]}
    location = {numbers(one, 1)[0]: [function[numbers(line, 1)[0]] for n, line in fields(one) if n == 4] for one in parts[4]}
    stacks = []
    for sample in parts[2]:
        names = [name for id in numbers(sample, 1) for name in location[id]]
        labels = [text[v] for n, label in fields(sample) if n == 3 for v in numbers(label, 2)]
        stacks.append((names + labels, numbers(sample, 2)[-1]))
    return totals(stacks)


def firefox(r):
    document = json.load(open(export(r, "firefox", "json"), encoding="utf-8"))
    t, stacks = document["shared"], []
    frame = [t["stringArray"][t["funcTable"]["name"][f]] for f in t["frameTable"]["func"]]
    prefix, own = t["stackTable"]["prefix"], t["stackTable"]["frame"]
    for thread in document["threads"]:
        for stack, weight in zip(thread["samples"]["stack"], thread["samples"]["weight"]):
            names = []
            while stack is not None:
                names.append(frame[own[stack]])
                stack = prefix[stack]
            stacks.append((names, weight))
    return totals(stacks)


def otlp(r):
    import otlp as decoder  # tests/golden; needs protoc
    profiles = decoder.Profiles(open(export(r, "otlp", "otlp"), "rb").read())
    first = profiles.samples[0][1] if profiles.samples else None
    return totals((names, value) for _, kind, _, names, _, value in profiles.samples if kind == first)


READERS = {"report": report, "page": page, "top": top, "db-report": of_store("report"), "db-timeline": of_store("timeline"),
           "db-changes": changes, "diff": compared("diff", "share_a"), "stat": compared("stat", "sum_share"), "whatif": whatif,
           "pprof": pprof, "folded": folded, "firefox": firefox, "otlp": otlp}
