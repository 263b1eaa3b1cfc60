#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the defaults cost four real programs, beside perf record: real_programs.py BUILD [ROUNDS] [PROGRAM...]

tsc compiles generated TypeScript; redis-server answers redis-benchmark, and nginx answers ab, a fixed number of requests; make -j2
compiles a part of this project, once more with the agent preloaded beside perf record -a.  Each round runs every program alone, under
`tailor run` and under `perf record` with the same event, rate and stack bytes, in an order that rotates.  What counts is processor
time of the program, its children and its recorder (wait4's rusage of the whole tree), not of the clients: run times of a shared
machine prove nothing.  Printed are medians of what was added in the same round, with the bootstrap's 95 % interval.  Programs that are
not installed are skipped; TSC names TypeScript's tsc.js if `tsc` is not in PATH.

--rate N and --stack BYTES are for both, instead of tailor's defaults.  --source FOLDER is made instead of this project's part, a copy of it
each time; --target WORDS are make's.  Nothing here fails a check.
"""
import argparse
import glob
import hashlib
import json
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

CLIENTS = 20
READY_S = 60  # a server has so long to listen, and to end
MODULES = 10

arguments = argparse.ArgumentParser()
arguments.add_argument("build")
arguments.add_argument("rounds", nargs="?", type=int, default=10)
arguments.add_argument("programs", nargs="*", help="tsc redis nginx make preloaded")
arguments.add_argument("--rate", type=int)
arguments.add_argument("--stack", type=int)
arguments.add_argument("--source")
arguments.add_argument("--target", default="")
arguments.add_argument("--requests", type=int, default=40000)
A = arguments.parse_args()
B = os.path.abspath(A.build)
PERF = shutil.which("perf")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

TYPESCRIPT = """
export interface I{i}<T> {{ a: T; b: keyof T; kind: 'k{i}'; next?: I{i}<T[]>; map<U>(g: (x: T) => U): I{i}<U> }}
export type U{i} = {{ kind: 'a', v: number }} | {{ kind: 'b', v: string }} | {{ kind: 'c', v: U{i}[] }};
export function f{i}<T extends {{ id: number, name: string }}>(xs: T[], y: U{i}): number {{
  const r = xs.filter(x => x.id > 1).map(x => ({{ ...x, extra: x.name.length }})).reduce((s, x) => s + x.extra, 0);
  switch (y.kind) {{
    case 'a': return y.v + r; case 'b': return y.v.length; case 'c': return y.v.reduce((s, z) => s + f{i}(xs, z), 0);
  }}
}}
export class C{i} {{
  q: Partial<Record<keyof U{i}, string>> = {{}};
  m(): Promise<number> {{ return Promise.resolve(f{i}([{{ id: 1, name: 'x' }}], {{ kind: 'a', v: 2 }})); }}
}}
"""
NGINX = """
daemon off; pid {d}/nginx.pid; error_log {d}/error.log; worker_processes 1;
events {{ worker_connections 256; }}
http {{ access_log {d}/access.log;
client_body_temp_path {d}/body; proxy_temp_path {d}/proxy; fastcgi_temp_path {d}/fastcgi; uwsgi_temp_path {d}/uwsgi;
scgi_temp_path {d}/scgi; server {{ listen 127.0.0.1:{port}; location / {{ root {d}/www; }} }} }}
"""


def quietly(command, **more):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)


def processor_seconds(process, what):
    """Of a process and its children, which end now."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"real_programs: {what}: exit {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def listens(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def serve(command, port, clients, stop, what):
    """Processor seconds of a server that answers the clients' requests and is stopped then."""
    server = quietly(command)
    until = time.monotonic() + READY_S
    while not listens(port):
        if time.monotonic() > until or server.poll() is not None:
            sys.exit(f"real_programs: {what} does not listen")
        time.sleep(0.05)
    for client in clients:
        subprocess.run(client, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    stop()
    return processor_seconds(server, what)


class Tsc:
    name, needs = "tsc", ["node"]

    def __init__(self, directory):
        self.compiler = os.environ.get("TSC") or os.path.realpath(shutil.which("tsc") or "")
        self.missing = "" if os.path.isfile(self.compiler) else "tsc (npm install typescript; TSC=…/typescript/lib/tsc.js)"
        if os.path.basename(self.compiler) == "tsc":  # npm's link leads to bin/tsc
            self.compiler = os.path.join(os.path.dirname(self.compiler), "../lib/tsc.js")
        self.files = []
        for module in range(MODULES):
            self.files.append(f"{directory}/m{module}.ts")
            with open(self.files[-1], "w", encoding="utf-8") as f:
                f.write("".join(TYPESCRIPT.format(i=f"{module}_{i}") for i in range(20)))

    def run(self, prefix):
        command = ["node", self.compiler, "--noEmit", "--target", "es2020", "--lib", "es2020", "--strict"] + self.files
        return processor_seconds(quietly(prefix + command), "tsc")


class Redis:
    name, needs, missing = "redis-server", ["redis-server", "redis-benchmark", "redis-cli"], ""

    def __init__(self, directory):
        self.directory = directory

    def run(self, prefix):
        port = free_port()
        at = ["-h", "127.0.0.1", "-p", str(port)]
        server = ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no", "--dir", self.directory]
        client = ["redis-benchmark"] + at + ["-t", "get,set", "-n", str(A.requests), "-c", str(CLIENTS), "-q"]
        return serve(prefix + server, port, [client], lambda: subprocess.run(["redis-cli"] + at + ["shutdown", "nosave"],
                                                                             capture_output=True), "redis-server")


class Nginx:
    name, needs, missing = "nginx", ["nginx", "ab"], ""

    def __init__(self, directory):
        self.directory = directory
        os.makedirs(f"{directory}/www")
        with open(f"{directory}/www/index.html", "w", encoding="utf-8") as f:
            f.write("<p>a page\n" * 100)
        for path in (directory, f"{directory}/www"):
            os.chmod(path, 0o755)

    def stop(self):
        with open(f"{self.directory}/nginx.pid", encoding="utf-8") as f:
            os.kill(int(f.read()), signal.SIGQUIT)

    def run(self, prefix):
        port = free_port()
        with open(f"{self.directory}/nginx.conf", "w", encoding="utf-8") as f:
            f.write(NGINX.format(d=self.directory, port=port))
        server = ["nginx", "-e", f"{self.directory}/error.log", "-c", f"{self.directory}/nginx.conf"]
        client = ["ab", "-q", "-n", str(A.requests), "-c", str(CLIENTS), f"http://127.0.0.1:{port}/"]
        return serve(prefix + server, port, [client], self.stop, "nginx")


class Make:
    name, needs, missing = "make -j2", ["make", "gcc"], ""

    def __init__(self, directory):
        self.directory = directory
        self.objects = None

    def run(self, prefix):
        out = f"{self.directory}/out"
        shutil.rmtree(out, ignore_errors=True)
        # the compiler itself, not a cache of what it made
        path = ":".join(p for p in os.environ["PATH"].split(":") if "ccache" not in p)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE") and k != "MFLAGS"}
        command = ["make", "-s", "-j2", f"B={out}", f"{out}/libtrace.a"]
        if A.source:
            shutil.copytree(A.source, out, symlinks=True)
            command = ["make", "-s", "-j2", "-C", out, *A.target.split()]
        seconds = processor_seconds(quietly(prefix + command, cwd=ROOT, env=dict(environment, PATH=path)), "make")
        digests = {}
        for name in sorted(glob.glob(f"{out}/**/*.o", recursive=True)):
            with open(name, "rb") as f:
                digests[os.path.relpath(name, out)] = hashlib.sha256(f.read()).hexdigest()
        self.objects = self.objects or digests
        if not digests or digests != self.objects:
            sys.exit("real_programs: objects of make differ from those that it made first")
        return seconds


class Preloaded(Make):
    """The agent preloaded, which starts a recorder of its own, beside perf record -a."""
    name = "… preloaded"

    def run(self, prefix):
        if not prefix:
            return super().run(prefix)
        if prefix[0] == PERF:
            return super().run(prefix[:2] + ["-a"] + prefix[2:])
        option = dict(zip(prefix[2:], prefix[3:]))
        trace = f"{self.directory}/own.tlr"
        if os.path.exists(trace):
            os.unlink(trace)
        seconds = super().run(["env", f"LD_PRELOAD={B}/libtailor.so", f"TAILOR_OUTPUT={trace}",
                               f"TAILOR_RATE={option['--rate']}", f"TAILOR_STACK={option['--stack']}"])
        until = time.monotonic() + READY_S
        while time.monotonic() < until:  # the recorder outlives make
            report = subprocess.run([f"{B}/tailor", "report", "--json", trace], capture_output=True, check=False)
            recorder = json.loads(report.stdout)["recorder_cpu_ns"] if report.returncode == 0 else None
            if recorder:
                return seconds + recorder / 1e9
            time.sleep(0.1)
        sys.exit("real_programs: the recorder of a preloaded agent has not ended")


def interval(values):
    rng = random.Random(1)
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(2000))
    return medians[50], medians[1949]


def default(pattern):
    """What `tailor run` says of its options."""
    text = " ".join(subprocess.run([f"{B}/tailor", "run", "--help"], capture_output=True, text=True, check=True).stdout.split())
    return int(re.search(pattern, text).group(1))


def prefixes(directory):
    """way -> command before the program's."""
    rate = A.rate or default(r"events without a period \((\d+)\)")
    stack = default(r"0 to 65528 \((\d+);") if A.stack is None else A.stack
    ours = [f"{B}/tailor", "run", "-q", "--rate", str(rate), "--stack", str(stack), "-o"]
    probe = f"{directory}/probe.tlr"
    subprocess.run(ours + [probe, "--", "/bin/sh", "-c", "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done"], check=True)
    report = json.loads(subprocess.run([f"{B}/tailor", "report", "--json", probe], capture_output=True, check=True).stdout)
    event = "task-clock" if "clock" in report["events"][0]["name"] else "cycles"
    ways = {"alone": [], "tailor": ours + [f"{directory}/t.tlr", "--"]}
    if PERF:
        content = ["--call-graph", f"dwarf,{stack}"] if stack else []
        ways["perf"] = [PERF, "record", "-q", "-B", "-N", "-e", event, "-F", str(rate)] + content + ["-o", f"{directory}/p.data", "--"]
    print(f"{event}, {rate} samples per second, {stack} stack bytes; {A.rounds} rounds, in turn", flush=True)
    return ways


def main():
    with tempfile.TemporaryDirectory() as d:
        os.chmod(d, 0o755)  # nginx' workers have another user
        ways = prefixes(d)
        if not PERF:
            print("perf is not installed (package linux-perf); its column is missing")
        print("processor time of the program and its recorder: added to that of the program alone, median (95 % interval)\n")
        print(f"{'program':14}{'alone, s':>9}" + "".join(f"{way:>27}" for way in list(ways)[1:]), flush=True)
        for kind in (Tsc, Redis, Nginx, Make, Preloaded):
            if A.programs and kind.__name__.lower() not in A.programs:
                continue
            directory = f"{d}/{kind.__name__}"
            os.makedirs(directory)
            program = kind(directory)
            missing = program.missing or ", ".join(n for n in kind.needs if not shutil.which(n))
            if missing:
                print(f"{kind.name:14} skipped: not installed: {missing}")
                continue
            got, names = {way: [] for way in ways}, list(ways)
            for n in range(A.rounds):
                for way in names[n % len(names):] + names[:n % len(names)]:
                    for trace in glob.glob(f"{d}/*.tlr") + glob.glob(f"{d}/p.data*"):
                        os.unlink(trace)
                    got[way].append(program.run(ways[way]))
            line = f"{kind.name:14}{statistics.median(got['alone']):9.2f}"
            for way in names[1:]:
                added = [100 * (a / b - 1) for a, b in zip(got[way], got["alone"])]
                low, high = interval(added)
                line += f"{f'{statistics.median(added):+.1f} % ({low:+.1f} to {high:+.1f})':>27}"
            print(line, flush=True)


main()
