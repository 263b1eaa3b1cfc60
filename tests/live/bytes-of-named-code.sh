#!/bin/bash
# SPDX-License-Identifier: MIT
# Of code that a perf map only names, the bytes of what was sampled are read from memory: of each of two functions that had the same
# address one after the other its own; `asm` shows them, and says that they were read later; scrub --drop-code drops them; Node's, too.
# Of code that nobody names, sampled pages.
. tests/live/begin.bash
judge /usr/bin/python3 - "$B" "$dir" <<'PYTHON'
import atexit, json, os, re, shutil, signal, subprocess, sys, time

B, D, PATIENCE_S = os.path.abspath(sys.argv[1]), sys.argv[2], int(os.environ.get("PATIENCE_S", 300))
HERE = os.getcwd()


def tailor(*arguments):
    p = subprocess.run([f"{B}/tailor", *arguments], capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"tailor {' '.join(arguments)}: exit {p.returncode}\n{p.stdout[-1000:]}{p.stderr[-1000:]}")
    return p.stdout


def read_so_far(trace):
    """Of a trace that grows, too: (name, hex) of what was read, in order; name None: a page of code that had none."""
    p = subprocess.run([f"{B}/tailor", "dump", "--json", trace], capture_output=True, text=True)
    names, got = {}, []
    for line in p.stdout.splitlines():
        r = json.loads(line)
        f = r["fields"]
        if r["record"] == "LOAD":
            names[f["code_addr"], r["time_ns"]] = f["name"]
        elif r["record"] == "CODE_BYTES":
            got.append((names.get((f["address"], f["loaded_ns"])), f["code"]["hex"]))
    return got


def samples_of(function, trace):
    """... so far, of a trace that grows"""
    command = [f"{B}/tailor", "top", "--once", "--json", "--rows", "0", "--by", "functions", trace]
    p = subprocess.run(command, capture_output=True, text=True)
    return sum(row["samples"] for row in json.loads(p.stdout or '{"rows": []}')["rows"] if re.search(function, row["name"]))


class Host:
    """... under tailor.  The recorder reads memory when it gets to it: so a host goes on when the trace has what was wanted of it."""
    def __init__(self, name, *command, more=()):
        self.name, self.trace = name, f"{D}/{name}.tlr"
        self.process = subprocess.Popen([f"{B}/tailor", "run", "-q", *more, "-o", self.trace, "--", *command], cwd=D,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.terminate)  # (the signal is passed on to the host)

    def wait_until(self, what, condition):
        begin = time.monotonic()
        while not condition():
            if time.monotonic() > begin + PATIENCE_S or self.process.poll() is not None:
                state = self.process.poll()
                self.process.terminate()
                sys.exit(f"{self.name}: expected {what} within {PATIENCE_S} s, got {read_so_far(self.trace)}; "
                         f"{'the host runs' if state is None else f'exit {state}'}")
            time.sleep(0.05)

    def wait_for(self, what, condition):
        self.wait_until(f"the bytes of {what} to be read", lambda: any(condition(name) for name, _ in read_so_far(self.trace)))

    def tell(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self, wanted=0):
        out, _ = self.process.communicate(timeout=PATIENCE_S)
        if self.process.returncode != wanted:
            sys.exit(f"{self.name}: expected exit {wanted}, got {self.process.returncode}: {out}")
        return out


def check_asm(trace, parts):
    text = tailor("report", "--view", "asm", "--top", "0", trace)
    for part in parts:
        if not re.search(part, text, re.M):
            sys.exit(f"report --view asm {trace}: expected '{part}', got:\n{text}")


def check_scrubbed(trace):
    tailor("scrub", "--drop-code", "-o", f"{D}/s.tlr", trace)
    text = tailor("report", "--view", "asm", f"{D}/s.tlr")
    if re.search("imul|dec ecx", text):
        sys.exit(f"scrub --drop-code {trace}: expected no code, got:\n{text}")


host = Host("named", f"{B}/hosts/named_code")
host.wait_for("code without a name", lambda name: name is None)
host.tell()
host.wait_for("first", lambda name: name == "first")
host.tell()
host.wait_for("second", lambda name: name == "second")
host.tell()
wanted = dict(line.split() for line in host.end().splitlines())
got = [g for g in read_so_far(host.trace) if g[0]]  # (the others are pages, before there was a name)
if {n for n, _ in got} != set(wanted) or any(code != wanted[n] for n, code in got):
    sys.exit(f"expected the bytes {wanted}, got {got}")
print("FIGURE bytes of both functions at one address, each its own")
check_asm(host.trace, ["first at 0x", "second at 0x", "imul rax, rdi", "xor rax, rdi", "were read from memory"])
check_scrubbed(host.trace)

host = Host("silent", f"{B}/hosts/named_code", "silent")
host.wait_for("code without a name", lambda name: name is None)
host.tell()
host.end()
check_asm(host.trace, ["^anonymous code, mapped by .* in named_code at 0x", "dec ecx"])
check_scrubbed(host.trace)

if shutil.which("node"):
    host = Host("node", "node", "--perf-basic-prof", f"{HERE}/tests/hosts/jits/fib.js", str(4 * PATIENCE_S), f"{D}/rounds",
                more=["--no-adapt"])
    host.wait_for("fib", lambda name: name and re.search(r"\bfib ", name))
    host.wait_until("100 samples of fib(), since code with a single one is not listed", lambda: samples_of(r"\bfib\b", host.trace) >= 100)
    host.process.send_signal(signal.SIGTERM)
    host.end(128 + signal.SIGTERM)
    for p in json.loads(tailor("report", "--json", host.trace))["processes"]:
        if os.path.exists(f"/tmp/perf-{p['pid']}.map"):
            os.unlink(f"/tmp/perf-{p['pid']}.map")
    check_asm(host.trace, ["fib .*at 0x", "push rbp"])
PYTHON
finish
