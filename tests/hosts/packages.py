# SPDX-License-Identifier: MIT
"""Hosts with a JIT as their users get them, from a language's own package manager: one table.

packages.py BUILD [--samples N] [HOST...]

Each package is installed at one version into BUILD/packages by its ordinary client: pypi: (venv and pip), npm:, cargo:, maven: (mvn);
here: what this machine has.  A planted program runs fib() three times as often as bif(), and is recorded in three ways: `tailor run`,
`tailor attach` once it runs, `tailor attach --inject`.  samples: in generated code; named, lines: how many of these have a function's name,
a source line; planted: the share of fib() in the samples of both; stacks: how many of all samples have a call stack that ends where the
thread began.  Where code has no names, the report's first sentence says what helps: it is followed, and the line below, marked +, is the
result.  attach waits until the host has run for a while, and is repeated for longer until there are samples enough.

What cannot be had is a line "skipped, because ...".  Exit 1 when a line is worse than it should be: fewer named, fib()'s share far from
75 %, no sentence or one that does not help, a host that did not go on.
"""
import argparse
import contextlib
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from jits import BIF, FIB, JITS, PLANTED, PLANTED_WITHIN, Seen, refuse_unknown, shell

WAYS = ("run", "attach", "inject")
SAMPLES = 300
WARM_S = 1.0       # of processor time, before an attach
LONGEST_S = 60
INSTALL_S = 3600   # cargo compiles for ten minutes where there is one processor
SENTENCE = re.compile(r"ran in (?:code that .*? generated and did not name\. .*?|\w+'s interpreter: .*?)\.(?: [^ ]|$)")


class Follow:
    """What the sentence asks for, done: another command, more environment, another way to record, or a view of the same recording."""
    def __init__(self, said, command=None, env=None, way=None, view=None):
        self.said, self.command, self.env, self.way, self.view = said, command, env or {}, way, view


class Row:
    """planted: as in jits.py; "versions": code objects of one name, the later one bif()'s or fib()'s; None: not asked.  unnamed: by which
    ways code has no names, and what then helps, or a list, of which the first counts that is what the report says.  native: no code is
    generated.  callers, trampolines: as in jits.py."""
    def __init__(self, name, package, command, planted=(FIB, BIF), lines=0, named=95, unnamed=None, native=False, prepare=None, env=None,
                 within=PLANTED_WITHIN, channel="", python=((3, 9), (3, 99)), rust=None, jdk="", seconds=2.0, warm_s=WARM_S,
                 callers=False, trampolines=False):
        self.name, self.package, self.command, self.planted, self.lines, self.named = name, package, command, planted, lines, named
        self.unnamed, self.native, self.prepare, self.env, self.within = unnamed or {}, native, prepare, env or {}, within
        self.channel, self.python, self.rust, self.jdk, self.seconds, self.warm_s = channel, python, rust, jdk, seconds, warm_s
        self.callers, self.trampolines = callers, trampolines


def every(follow):
    return {way: follow for way in WAYS}


FIB_JS = "{jits}/fib.js {s} {r}"
NODE = "{at}/node_modules/node/bin/node "
DENO = "$(echo {at}/node_modules/@deno/*/deno) run -A "
BUN = "{at}/node_modules/bun/bin/bun.exe "
PY = "{at}/bin/python3 {jits}/"
CARGO = "{build}/packages/cargo/debug/"
GRAAL = ("{java} -XX:+UnlockExperimentalVMOptions -XX:+EnableJVMCI -XX:-UseJVMCICompiler --upgrade-module-path {at}/compiler -p {at}/lib "
         "--add-modules org.graalvm.polyglot,org.graalvm.js -cp {dir} ")
PERF_MAP = "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit "

ROWS = [
    *(Row("node", f"npm:node@{version}", NODE + FIB_JS,
          unnamed={"attach": [Follow("--inject", way="inject"), Follow("--perf-basic-prof", NODE + "--perf-basic-prof " + FIB_JS)]})
      for version in ("22.23.3", "24.21.0", "26.10.0")),
    Row("deno", "npm:deno@2.9.6", DENO + FIB_JS,
        unnamed={way: Follow("--v8-flags=--perf-prof", DENO.replace("run -A", "run -A --v8-flags=--perf-prof,--perf-prof-delete-file")
                             + FIB_JS) for way in ("attach", "inject")}),
    Row("bun", "npm:bun@1.4.5", BUN + FIB_JS,
        unnamed=every(Follow("BUN_JSC_useJITDump=1", env={"BUN_JSC_useJITDump": "1", "BUN_JSC_jitDumpDirectory": "{dir}"}))),
    Row("wasmtime", "pypi:wasmtime==50.0.1", PY + "wasm.py wasmtime {s} {r}",
        unnamed=every(Follow('profiler "perfmap"', PY + "wasm.py wasmtime --perfmap {s} {r}"))),
    # its other engine, which writes a library, does not load it: "undefined symbol: wasmer_vm_probestack"
    Row("wasmer", "pypi:wasmer==1.1.0 wasmer_compiler_cranelift==1.1.0", PY + "wasm.py wasmer {s} {r}", python=((3, 9), (3, 10)),
        unnamed=every(Follow("--view asm", view="asm"))),
    Row("numba", "pypi:numba==0.68.1", PY + "numba_planted.py {s} {r}"),
    Row("numba", "pypi:numba==0.68.1", PY + "numba_planted.py {s} {r}", env={"NUMBA_DEBUGINFO": "1"}, lines=90, channel="DEBUGINFO"),
    Row("llvmlite LLJIT", "pypi:llvmlite==0.50.0", PY + "llvmlite_host.py {s} {r}"),
    Row("llvmlite JITLink", "pypi:llvmlite==0.50.0", PY + "llvmlite_host.py --jitlink {s} {r}",
        unnamed=every(Follow("without use_jit_link", PY + "llvmlite_host.py {s} {r}"))),
    Row("jax", "pypi:jax==0.12.0.1", PY + "jax_host.py {s} {r}", planted="versions", python=((3, 12), (3, 99)), warm_s=4.0),
    Row("polars", "pypi:polars==2.1.0", PY + "polars_host.py {s} {r}", native=True),
    Row("triton", "pypi:triton==3.9.0", PY + "triton_host.py {s} {r}"),
    Row("wasmtime", "cargo:wasmtime@48.0.0", CARGO + "wasmtime_host {s} {r}", rust="1.95",
        unnamed=every(Follow("perf map", CARGO + "wasmtime_host --perfmap {s} {r}"))),
    Row("cranelift-jit", "cargo:cranelift-jit@0.135.0", CARGO + "cranelift_host {s} {r}", rust="1.95",
        unnamed=every(Follow("perf map", env={"PERF_BUILDID_DIR": "{dir}"}))),
    Row("openjdk", "here:openjdk", "{java} -cp {dir} Fib {s} {r}", prepare="{java}c -d {dir} {jits}/Fib.java", jdk="/usr/lib/jvm/*-17-*"),
    Row("temurin", "here:temurin", "{java} -cp {dir} Fib {s} {r}", prepare="{java}c -d {dir} {jits}/Fib.java",
        jdk="/usr/lib/jvm/temurin-25*"),
    # the JVM tells nobody of code that another compiler than its own brings; its perf map has it.  The compiler is compiled itself, first.
    Row("graaljs", "maven:org.graalvm.polyglot@25.0.1", GRAAL + "Graal {s} {r}", jdk="/usr/lib/jvm/*25*", seconds=30.0, warm_s=40.0,
        within=12, prepare="{java}c -d {dir} -p {at}/lib --add-modules org.graalvm.polyglot {jits}/Graal.java",
        unnamed={"run": Follow("DumpPerfMapAtExit", GRAAL + PERF_MAP + "Graal {s} {r}")}),
]

UNAVAILABLE = {
    "triton": "its back ends generate code for GPUs only, and its CPU back end is no package of PyPI",
}


class Skip(Exception):
    """Why a host is not here."""


def numbers(text):
    return [int(n) for n in re.findall(r"\d+", text)]


def find_python(at_least, at_most, newest=False):
    """The system's Python where it is one of these versions, else another one of the PATH or of pyenv; newest: in the other order."""
    found = ["/usr/bin/python3", "python3", *(f"python3.{n}" for n in range(9, 16)),
             *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")), key=numbers)]
    for python in reversed(found) if newest else found:
        p = shell(f"{python} -c 'import ensurepip, sys; sys.exit(not {at_least} <= sys.version_info[:2] <= {at_most})'")
        if p.returncode == 0:
            return python
    raise Skip(f"no Python {at_least[0]}.{at_least[1]} to {at_most[0]}.{at_most[1]} with ensurepip is here")


class Installer:
    SECONDS = INSTALL_S  # for one command

    def __init__(self, build):
        self.build, self.done = build, {}

    def get(self, row):
        """A folder with it, and its version.  Once for all rows."""
        if row.package not in self.done:
            try:
                self.done[row.package] = self.install(row)
            except Skip as why:
                self.done[row.package] = why
        if isinstance(self.done[row.package], Skip):
            raise self.done[row.package]
        return self.done[row.package]

    @staticmethod
    def java(row):
        found = sorted(f for f in glob.glob(row.jdk + "/bin/java") if not os.path.islink(os.path.dirname(os.path.dirname(f)))
                       and os.path.exists(f + "c")) if row.jdk else [""]
        if not found:
            raise Skip(f"this machine has no {row.jdk}/bin/javac")
        return found[0]

    def ask(self, command, what):
        p = subprocess.run(["timeout", "-k", "10", str(self.SECONDS), "bash", "-c", command], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if p.returncode in (124, 137):
            raise Skip(f"{what}: not done after {self.SECONDS} s")
        if p.returncode:
            last = (p.stderr or p.stdout).decode(errors="replace").strip().splitlines()
            raise Skip(f"{what}: {last[-1][:200] if last else f'exit {p.returncode}'}")
        return p.stdout.decode(errors="replace")

    @staticmethod
    def find_python(row):
        return find_python(*row.python)

    @staticmethod
    def pip(_):
        return "--only-binary :all:"

    @staticmethod
    def maven(_):
        return ""

    @staticmethod
    def slug(what):
        return re.sub(r"[^A-Za-z0-9.]+", "-", what).strip("-.")

    def folder(self, kind, what):
        return os.path.join(self.build, "packages", kind, self.slug(what))

    def install(self, row):
        kind, _, what = row.package.partition(":")
        if row.name in UNAVAILABLE:
            raise Skip(UNAVAILABLE[row.name])
        at = self.folder(kind, what)
        if kind == "here":
            said = shell(f"{self.java(row)} -version")
            return at, re.search(r'version "([^"]+)"', (said.stdout + said.stderr).decode()).group(1)
        if row.jdk:
            self.java(row)
        version, stamp = re.split(r"==|@| ", what)[1], os.path.join(at, "installed")
        if not os.path.exists(stamp):
            self.fetch(row, kind, what, at)
            with open(stamp, "w"):
                pass
        return at, version

    def fetch(self, row, kind, what, at):
        if not shutil.which({"npm": "npm", "cargo": "cargo", "maven": "mvn"}.get(kind, "sh")):
            raise Skip(f"{kind} is not installed")
        os.makedirs(at, exist_ok=True)
        if kind == "pypi":
            self.ask(f"{self.find_python(row)} -m venv {at} && {at}/bin/pip install -q --disable-pip-version-check "
                     f"{self.pip(row)} {what}", "pip")
        elif kind == "npm":
            self.ask(f"npm install --no-audit --no-fund --prefix {at} {what}", "npm")
        elif kind == "cargo":
            rust = self.ask("rustc --version", "rustc").split()[1]
            if [int(n) for n in rust.split(".")[:2]] < [int(n) for n in row.rust.split(".")]:
                raise Skip(f"it needs Rust {row.rust}, and {rust} is here")
            self.ask(f"CARGO_TARGET_DIR={self.build}/packages/cargo nice cargo build -q --locked -j1 --manifest-path "
                     f"{JITS}/cargo/Cargo.toml", "cargo")
        elif kind == "maven":
            shutil.rmtree(at)
            self.ask(f"mvn -q -B -f {JITS}/maven/pom.xml {self.maven(row)} dependency:copy-dependencies -DoutputDirectory={at}/lib "
                     f"-DincludeTypes=jar && mkdir -p {at}/compiler && mv {at}/lib/compiler-*.jar {at}/compiler", "mvn")


class Recording:
    """What one recording has to say."""
    def __init__(self, bench, trace, row):
        report = shell(f"{bench.tailor} report --json {trace}")
        if report.returncode:
            raise ValueError(f"the trace cannot be read: {report.stderr.decode()}")
        r = json.loads(report.stdout)
        self.total, self.notices = r["samples"]["total"], r["notices"]
        self.lacks = [f"{l['host']} {l['version']}: {l['missing']} are missing, because {l['reason']}" for l in r["host_lacks"]]
        self.nameless = {w["image"]: f"functions without names: {w['cause']}" for w in r["without_names"]}
        seen = Seen(bench.tailor, trace, r, row)
        self.samples, self.named, self.lines, self.planted, self.planted_n = seen.n, seen.named, seen.lines, seen.planted, seen.planted_n
        first = " ".join(" ".join(shell(f"{bench.tailor} report {trace}").stdout.decode().splitlines()[:6]).split())
        self.first = first
        said = SENTENCE.search(first)
        self.said = said.group(0).rsplit(".", 1)[0] + "." if said else ""
        unwound = shell(f"{bench.tailor} unwind {trace}").stdout
        total, complete = re.search(rb"^(\d+) samples", unwound), re.search(rb"memo: (\d+) complete", unwound)
        self.stacks = 100 * int(complete.group(1)) / max(int(total.group(1)), 1) if total and complete else 0


class Bench:
    OPTIONS = "-q --stack 32768 --rate 2000"

    def __init__(self, build, samples):
        self.build, self.tailor, self.samples = build, build + "/tailor", samples
        self.dir, self.bad = tempfile.mkdtemp(prefix="tailor-packages-"), 0
        self.trace, self.java = self.dir + "/t.tlr", ""

    def fill(self, text, at, seconds):
        return text.format(build=self.build, at=at, java=self.java, jits=JITS, dir=self.dir, s=f"{seconds:g}", r=self.dir + "/rounds")

    def shell_text(self, row, text, at, seconds):
        """What bash is to run, filled in."""
        del row
        return self.fill(text, at, seconds)

    def run_options(self, _):
        return self.OPTIONS

    def environment(self, env, at):
        return dict(os.environ, **{k: self.fill(v, at, 0) for k, v in env.items()})

    def enough(self, row, r):
        return r.total >= self.samples if row.native else r.samples >= self.samples

    def run(self, row, command, env, at):
        seconds = row.seconds
        while True:
            p = subprocess.run(["bash", "-c", f"exec {self.tailor} run {self.run_options(row)} -o {self.trace} -- "
                                + self.shell_text(row, command, at, seconds)], cwd=self.dir, env=self.environment(env, at), timeout=600,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            said = shell(f"{self.tailor} report --view processes --json {self.trace}").stdout
            self.clean(int(pid) for pid in re.findall(rb'"pid": (\d+)', said))
            if p.returncode:
                raise ValueError(f"exit {p.returncode}: {p.stderr.decode(errors='replace')[-300:]}")
            r = Recording(self, self.trace, row)
            if self.enough(row, r) or seconds >= LONGEST_S:
                return r
            seconds *= 2

    def attach(self, row, command, env, at, inject):
        """... for longer and longer; the host runs on until this is done, and has to."""
        pid = 0
        with subprocess.Popen(["bash", "-c", "exec " + self.shell_text(row, command, at, 100000)], cwd=self.dir,
                              env=self.environment(env, at), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True) as p:
            try:
                pid = self.wait_until_warm(p, row.warm_s)
                seconds = 2.0
                while True:
                    a = subprocess.run([self.tailor, "attach", *self.OPTIONS.split(), *(["--inject"] if inject else []), "-o", self.trace,
                                        "--duration", f"{seconds:g}", str(pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       timeout=600)
                    if a.returncode or p.poll() is not None:
                        raise ValueError(f"tailor attach: exit {a.returncode}: {a.stderr.decode(errors='replace')[-300:]}; "
                                         f"the host: {p.poll()}")
                    r = Recording(self, self.trace, row)
                    if self.enough(row, r) or seconds >= LONGEST_S:
                        return r
                    seconds *= 2
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(p.pid, signal.SIGKILL)
                self.clean([pid])

    @staticmethod
    def wait_until_warm(p, seconds):
        """The host's process: the one of its session that has used most processor time."""
        ticks, end = os.sysconf("SC_CLK_TCK"), time.monotonic() + 300
        while time.monotonic() < end:
            if p.poll() is not None:
                raise ValueError(f"the host ended: {p.stderr.read().decode(errors='replace')[-300:]}")
            used = {}
            for path in glob.glob("/proc/[0-9]*/stat"):
                try:
                    with open(path) as f:
                        fields = f.read().rpartition(")")[2].split()
                except OSError:  # it has ended
                    continue
                if int(fields[3]) == p.pid:
                    used[int(path.split("/")[2])] = (int(fields[11]) + int(fields[12])) / ticks
            pid = max(used, key=used.get, default=0)
            if pid and used[pid] >= seconds:
                return pid
            time.sleep(0.1)
        raise ValueError("the host does not run")

    def clean(self, pids):
        """What hosts leave behind, of these processes only."""
        for f in (name for pid in pids for name in (f"/tmp/perf-{pid}.map", f"/tmp/jit-{pid}.dump")):
            if os.path.exists(f) and os.stat(f).st_uid == os.getuid():
                os.unlink(f)

    def record(self, row, way, command, env, at):
        return self.run(row, command, env, at) if way == "run" else self.attach(row, command, env, at, way == "inject")

    def line(self, name, version, channel, way, r):
        planted = "-" if r.planted is None else f"{r.planted:.1f} %"
        print(f"FIGURE {name:<16} {version:<10} {channel:<6} {way:<8} {r.samples:>7} {r.named:>6.1f} % {r.lines:>6.1f} % {planted:>7} "
              f"{r.stacks:>6.1f} %  {r.said}", flush=True)

    def wrong(self, row, r, named):
        if r.samples < self.samples and not row.native:
            return f"expected {self.samples} samples in generated code, got {r.samples}"
        if row.native:
            return f"expected no samples in generated code, got {r.samples} of {r.total}" if r.samples > 0.01 * r.total else ""
        if not named:
            return ""
        if r.named < row.named:
            return f"expected {row.named} % named, got {r.named:.1f} %"
        if row.planted and (r.planted is None or abs(r.planted - PLANTED) > row.within + 4 * 50 / max(r.planted_n, 1) ** 0.5):
            return f"expected {PLANTED} % of fib()'s and bif()'s samples in fib(), got {r.planted}"
        return ""

    def fault(self, text):
        print(text, flush=True)
        self.bad += 1

    def way(self, row, version, way, at):
        channel = row.channel or row.package.partition(":")[0]
        what = f"{row.name} {version}, {way} ({row.command})"
        follows = row.unnamed.get(way, [])
        follows = follows if isinstance(follows, list) else [follows]
        r = self.record(row, way, row.command, row.env, at)
        follow = next((f for f in follows if re.search(f.said, r.said)), None)
        self.line(row.name, version, channel, way, r)
        wrong = self.wrong(row, r, not follow)
        if r.lines < row.lines and not follow:
            wrong = wrong or f"expected {row.lines} % with a line, got {r.lines:.1f} %"
        if wrong and follows and not follow:
            wrong += f"; expected a sentence with {' or '.join(f.said for f in follows)}, got \"{r.said}\""
        if wrong:
            self.fault(f"{what}: {wrong}")
        if follow and follow.view:
            said = shell(f"{self.tailor} report --view {follow.view} {self.trace}").stdout.decode(errors="replace")
            n = len(re.findall(r"\b(?:mov|add|sub|lea|cmp|call|ret|push|pop)[lq]?\b", said))
            print(f"FIGURE {row.name:<16} {version:<10} {channel:<6} + asm    {n} instructions", flush=True)
            if not n:
                self.fault(f"{what}: the sentence does not help: no instructions in --view {follow.view}")
        elif follow and r.named < row.named:
            then = follow.way or way
            r = self.record(row, then, follow.command or row.command, dict(row.env, **follow.env), at)
            self.line(row.name, version, channel, "+ " + then, r)
            wrong = self.wrong(row, r, True)
            if wrong:
                self.fault(f"{what}: the sentence does not help: {wrong}")

    def prepare(self, row, at):
        p = shell(self.shell_text(row, row.prepare, at, 0))
        if p.returncode:
            raise ValueError(p.stderr.decode(errors="replace")[-300:])

    def row(self, row, at, version):
        self.java = Installer.java(row)
        for way in WAYS:
            try:
                if row.prepare and way == WAYS[0]:
                    self.prepare(row, at)
                self.way(row, version, way, at)
            except (ValueError, subprocess.TimeoutExpired) as e:
                self.fault(f"{row.name} {version}, {way}: {e}")

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("hosts", nargs="*")
    p.add_argument("--samples", type=int, default=SAMPLES)
    a = p.parse_intermixed_args()
    refuse_unknown(p, a.hosts, [row.name for row in ROWS])
    b, installer = Bench(os.path.abspath(a.build), a.samples), Installer(os.path.abspath(a.build))
    try:
        print(f"FIGURE {'host':<16} {'version':<10} {'from':<6} {'way':<8} {'samples':>7} {'named':>8} {'lines':>8} {'planted':>7} "
              f"{'stacks':>8}  what the report says first")
        for row in ROWS:
            if a.hosts and row.name not in a.hosts:
                continue
            try:
                at, version = installer.get(row)
            except Skip as why:
                print(f"{row.name} ({row.package}): skipped, because {why}", flush=True)
                continue
            b.row(row, at, version)
    finally:
        b.close()
    sys.exit(b.bad > 0)


if __name__ == "__main__":
    main()
