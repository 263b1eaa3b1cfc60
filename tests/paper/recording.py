# SPDX-License-Identifier: MIT
"""What paper.py runs, and the page it writes: commands, their output, tables, statements that hold or do not."""
import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys

B = sys.argv[1]
SCALE = os.environ.get("SCALE", "1")
QUERIES = ["q1", "q3", "q6", "q16", "q18"]


class Page:
    def __init__(self, heading):
        os.makedirs(f"{B}/paper", exist_ok=True)
        self.text = [f"# {heading}\n"]
        self.held = self.nr = 0

    def title(self, text):
        self.text.append(f"## {text}\n")

    def paper(self, text):
        self.text.append(f"*In the paper:* {text}\n")

    def words(self, text):
        self.text.append(f"{text}\n")

    def holds(self, condition, text):
        self.text.append(f"- **{'yes' if condition else 'no'}**: {text}\n")
        self.held += bool(condition)
        self.nr += 1
        if not condition:
            print(f"paper: does not hold: {text}", file=sys.stderr)

    def table(self, heading, rows):
        lines = [heading, ["---"] * len(heading)] + rows
        self.text.append("\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n")

    def command(self, *command):
        self.text.append("    $ " + shlex.join(command) + "\n")

    def show(self, *arguments, between=None, until=None, lines=60):
        """tailor with these arguments, and what it said: all, or until a line, or from one to another; there only parts (ended by
        lines without text) with at least 1 % in a line."""
        command = [f"{B}/tailor", *arguments]
        out = run(*command).rstrip().split("\n")
        if between:
            begin = next((n for n, line in enumerate(out) if between[0] in line), 0)
            end = next((n for n in range(begin, len(out)) if out[n].rstrip().endswith(between[1])), len(out) - 1)
            out = out[:4] + ["..."] + cut("\n".join(out[begin:end + 1])).split("\n")
        if until:
            out = out[:next((n for n, line in enumerate(out) if line.startswith(until)), len(out))]
        if len(out) > lines and not between:
            out = out[:lines] + [f"... {len(out) - lines} more lines"]
        self.command(*command)
        self.text.append("```\n" + "\n".join(out).rstrip() + "\n```\n")

    def write(self):
        self.text.append(f"---\n\n{self.held} of {self.nr} statements hold.\n")
        with open(f"{B}/paper.md", "w", encoding="utf-8") as f:
            f.write("\n".join(self.text))
        print(f"{B}/paper.md: {self.held} of {self.nr} statements hold")


def cut(listing):
    """Parts with something in them, the others as dots."""
    out = []
    for part in re.split(r"\n(?= *\d+ *$)", listing, flags=re.M):
        if "define " in part or re.search(r"^ *[1-9][0-9]*\.\d %", part, re.M):
            out.append(part)
        elif not out or out[-1] != "...":
            out.append("...")
    return "\n".join(out)


def run(*command):
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=3600, check=False)
    if p.returncode:
        sys.exit(f"paper: {shlex.join(command)}: exit {p.returncode}\n{p.stdout[-1000:]}{p.stderr[-2000:]}")
    return p.stdout


def json_of(*arguments, page=None):
    if page:
        page.command(f"{B}/tailor", *arguments)
    return json.loads(run(f"{B}/tailor", *arguments))


def engine(query, repeat, *options):
    return [f"{B}/engine", "--query", query, "--scale", SCALE, "--threads", "1", "--repeat", str(repeat), *options]


def times(text):
    """How long the engine's executions took, in ms."""
    return [float(ms) for ms in re.findall(r"^run \d+: ([0-9.]+) ms", text, re.M)]


def record(page, query, repeat, options=(), how=()):
    """One trace of a query on one thread, and what the engine printed.  options: tailor's; how: the engine's."""
    trace = f"{B}/paper/{query}{''.join(options + how).replace('--', '-').replace(',', '-')}.tlr"
    command = [f"{B}/tailor", "run", "-q", "-o", trace, *options, "--", *engine(query, repeat, *how)]
    out = run(*command)
    page.command(*command)
    return trace, out


def samples_of(trace, mark):
    """The samples of one execution (of all, and what is between them, where mark is None) in the order of time; ms: since its first."""
    out = list(csv.DictReader(io.StringIO(run(f"{B}/tailor", "export", "--format", "csv", *(["--mark", mark] if mark else []), trace))))
    out.sort(key=lambda r: int(r["time_ns"]))
    for r in out:
        r["ms"] = (int(r["time_ns"]) - int(out[0]["time_ns"])) / 1e6
        r["weight"] = float(r["weight"]) * float(r["share"])
    return out
