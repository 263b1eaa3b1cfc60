# SPDX-License-Identifier: MIT
"""Unmodified hosts with a JIT, each run alone and under tailor, one row each.

jits.py BUILD [--seconds N] [--install] [--stacks] [--check] [HOST[:CHANNEL]...]

samples: in generated code; named, lines: how many of them have a function's name, a source line; stacks: how many of all
samples have a call stack that ends where the thread began (--stacks: by a second recording, of 32 KiB of stack); slower: rounds
that the host did in the same time, alone and so.  README.md has the table of a whole run.

A host that is not here is skipped in a sentence.  --install fetches Debian packages first (npm:NAME: npm's, into BUILD/npm).
--check: exit 1 when a row is worse than it should be (output or exit status changed, too few samples in generated code, too few
of them named or with a line, too few stacks complete).
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
JITS = os.path.join(HERE, "jits")
BUN = "{build}/npm/node_modules/bun/bin/bun.exe"
DENO = "$(echo {build}/npm/node_modules/@deno/*/deno)"
PHP = "php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=32M -d opcache.jit=tracing"

# One backend, without a server; not as root, which PostgreSQL refuses.
AS_POSTGRES = "" if os.getuid() else "setpriv --reuid=postgres --regid=postgres --init-groups "
POSTGRES_PREPARE = (
    "chmod 755 {dir}; d={dir}/pg; mkdir -p $d; for i in $(seq {s}); do cat {jits}/query.sql; done >{dir}/query.sql; "
    "[ $(id -u) != 0 ] || chown postgres $d; " + AS_POSTGRES +
    "/usr/lib/postgresql/15/bin/initdb -D $d >/dev/null")
POSTGRES = AS_POSTGRES + "/usr/lib/postgresql/15/bin/postgres --single -D {dir}/pg -c jit=on -c jit_above_cost=0"


class Host:
    def __init__(self, name, packages, version, prepare, channels):
        self.name, self.packages, self.version, self.prepare, self.channels = name, packages, version, prepare, channels


class Channel:
    """named, lines, stacks: per cent of the samples in generated code that must have a name, a line; of all, a whole stack.
    stack_bytes: how much of it is recorded."""
    def __init__(self, name, command, env=None, named=98, lines=0, stacks=0, rounds=True, stack_bytes=32768):
        self.name, self.command, self.env, self.rounds, self.stack_bytes = name, command, env or {}, rounds, stack_bytes
        self.named, self.lines, self.stacks = named, lines, stacks


def hosts(build):
    """{jits}: this folder's programs; {dir}: a scratch folder; {s}: seconds; {r}: the file for the number of rounds."""
    return [
        Host("node", "nodejs", "node --version", None, [
            Channel("adapter", "node {jits}/fib.js {s} {r}", lines=95),
            Channel("jitdump", "node --perf-prof --perf-prof-delete-file {jits}/fib.js {s} {r}", lines=95),
            Channel("perf map", "node --perf-basic-prof {jits}/fib.js {s} {r}"),
        ]),
        Host("node wasm", "nodejs", "node --version", None, [
            Channel("adapter", "node {jits}/wasm.js {s} {r}", named=90),  # jump tables are announced by nobody
        ]),
        Host("bun", "npm:bun", BUN + " --version", None, [
            Channel("jitdump", BUN + " {jits}/fib.js {s} {r}", {"BUN_JSC_useJITDump": "1", "BUN_JSC_jitDumpDirectory": "{dir}"}),
        ]),
        Host("deno", "npm:deno", DENO + " --version", None, [
            Channel("jitdump", DENO + " run -A --v8-flags=--perf-prof,--perf-prof-delete-file {jits}/fib.js {s} {r}", lines=95),
        ]),
        Host("openjdk", "openjdk-17-jdk-headless", "java --version", "javac -d {dir} {jits}/Fib.java", [
            Channel("adapter", "java -cp {dir} Fib {s} {r}", lines=95),
            Channel("perf map", "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -cp {dir} Fib {s} {r}"),
        ]),
        Host("php", "php8.2-cli", "php --version", None, [
            Channel("adapter", PHP + " {jits}/fib.php {s} {r}"),
            Channel("gdb", PHP + " -d opcache.jit_debug=0x100 {jits}/fib.php {s} {r}"),
            Channel("intel", PHP + " -d opcache.jit_debug=0x80 {jits}/fib.php {s} {r}",
                    {"INTEL_JIT_PROFILER64": "{build}/libtailor-intel.so"}),
            Channel("jitdump", PHP + " -d opcache.jit_debug=0x20 {jits}/fib.php {s} {r}"),
            Channel("perf map", PHP + " -d opcache.jit_debug=0x10 {jits}/fib.php {s} {r}"),
        ]),
        Host("luajit", "luajit", "luajit -v", None, [
            Channel("adapter", "luajit {jits}/fib.lua {s} {r}", lines=95),
        ]),
        Host("mono", "mono-runtime mono-mcs", "mono --version", "mcs -debug -out:{dir}/fib.exe {jits}/fib.cs", [
            Channel("adapter", "mono {dir}/fib.exe {s} {r}"),
            Channel("adapter", "mono --debug {dir}/fib.exe {s} {r}", lines=95),
            Channel("perf map", "mono --jitmap {dir}/fib.exe {s} {r}"),
        ]),
        Host("erlang", "erlang-base", "cat /usr/lib/erlang/releases/*/OTP_VERSION", "cd {dir} && erlc +debug_info {jits}/fib.erl", [
            Channel("gdb", "erl -noshell -pa {dir} -s fib main {s} {r}", lines=95),
            Channel("perf map", "erl +JPperf map -noshell -pa {dir} -s fib main {s} {r}"),
            Channel("jitdump", "erl +JPperf dump -noshell -pa {dir} -s fib main {s} {r}"),
        ]),
        Host("guile", "guile-3.0", "guile --version", "GUILE_AUTO_COMPILE=0 guile -c 1", [
            Channel("perf map", "guile --no-auto-compile {jits}/fib.scm {s} {r}", {"GUILE_JIT_LOG": "1"}, stacks=60),
        ]),
        Host("javascriptcore", "libjavascriptcoregtk-4.0-bin", "dpkg-query -W -f '${{Version}}' libjavascriptcoregtk-4.0-bin", None, [
            Channel("adapter", "jsc {jits}/fib.js -- {s}", rounds=False),
            Channel("jitdump", "jsc {jits}/fib.js -- {s}", {"JSC_useJITDump": "1", "JSC_jitDumpDirectory": "{dir}"}, rounds=False),
        ]),
        Host("libgccjit", "libgccjit-12-dev", "gcc-12 --version",
             "gcc -O1 -o {dir}/gccjit -I/usr/lib/gcc/x86_64-linux-gnu/12/include {jits}/gccjit.c -lgccjit", [
            Channel("image", "{dir}/gccjit {s} {r}"),
            Channel("image", "{dir}/gccjit {s} {r}", {"GCCJIT_DEBUG": "1"}, lines=95),
        ]),
        Host("ruby", "ruby3.1 ruby3.1-dev", "ruby --version", None, [
            Channel("image", "ruby --mjit --mjit-min-calls=5 --mjit-wait --mjit-max-cache=20 {jits}/fib.rb {s} {r}", named=98),
            Channel("adapter", "ruby --yjit {jits}/fib.rb {s} {r}", lines=95, stacks=90),
        ]),
        Host("pypy", "pypy3", "pypy3 --version", None, [
            Channel("adapter", "pypy3 {jits}/fib.py {s} {r}"),
        ]),
        Host("postgresql", "postgresql-15", "/usr/lib/postgresql/15/bin/postgres --version", POSTGRES_PREPARE, [
            Channel("adapter", POSTGRES + " -c jit_optimize_above_cost=0 -c jit_inline_above_cost=0 template1 <{dir}/query.sql", rounds=False),
            Channel("adapter", POSTGRES + " -c jit_optimize_above_cost=-1 -c jit_inline_above_cost=-1 template1 <{dir}/query.sql",
                    rounds=False),
        ]),
        Host("halide", "libhalide14-0-dev g++", "dpkg-query -W -f '${{Version}}' libhalide14-0-dev",
             "g++ -O1 -std=c++17 -w -I/usr/include/halide14 -o {dir}/halide {jits}/halide.cc -lHalide14 || "
             "g++ -O1 -std=c++17 -w -I/usr/include/halide14 -o {dir}/halide {jits}/halide.cc -lHalide", [
            Channel("gdb", "{dir}/halide {s} {r}"),
        ]),
        Host("faust", "libfaust2 faust-common", "dpkg-query -W -f '${{Version}}' libfaust2",
             "gcc -O1 -o {dir}/faust {jits}/faust.c /usr/lib/*/libfaust.so.2", [
            Channel("gdb", "{dir}/faust {s} {r}", stacks=90),
        ]),
        Host("pocl", "pocl-opencl-icd ocl-icd-opencl-dev", "dpkg-query -W -f '${{Version}}' pocl-opencl-icd",
             "gcc -O1 -w -o {dir}/opencl {jits}/opencl.c -lOpenCL", [
            Channel("image", "{dir}/opencl {s} {r}", {"POCL_CACHE_DIR": "{dir}/cache"}, stacks=90),
            Channel("image", "{dir}/opencl {s} {r}", {"POCL_CACHE_DIR": "{dir}/cache-g", "POCL_EXTRA_BUILD_FLAGS": "-g -cl-opt-disable"},
                    lines=95, stacks=90, stack_bytes=57344), # it keeps all variables of a work group on the stack
        ]),
        Host("mesa llvmpipe", "libosmesa6-dev libgl-dev", "dpkg-query -W -f '${{Version}}' libosmesa6",
             "gcc -O1 -o {dir}/osmesa {jits}/osmesa.c -lOSMesa -lGL", [
            Channel("gdb", "{dir}/osmesa {s} {r}"),
        ]),
        Host("qemu-user", "qemu-user", "qemu-x86_64 --version", "gcc -O1 -static -o {dir}/fib {jits}/fib.c", [
            Channel("gdb", "qemu-x86_64 {dir}/fib {s} {r}"),
        ]),
        Host("spidermonkey", "libmozjs-102-dev", "dpkg-query -W -f '${{Version}}' libmozjs-102-dev", None, [
            Channel("region", "js102 {jits}/fib.js {s}", named=0, rounds=False),
        ]),
        Host("numba", "python3-numba", "/usr/bin/python3 -c 'import numba; print(numba.__version__)'", None, [
            Channel("gdb", "/usr/bin/python3 {jits}/../numba_host.py {s}", stacks=90, rounds=False),
            Channel("gdb", "/usr/bin/python3 {jits}/../numba_host.py {s}", {"NUMBA_DEBUGINFO": "1"}, lines=95, rounds=False),
        ]),
        Host("lli-14", "llvm-14 clang-14", "lli-14 --version",
             "clang-14 -g -O1 -c -emit-llvm -o {dir}/sieve.bc {jits}/../bitcode/sieve.c", [
            Channel("gdb", "lli-14 --jit-kind=mcjit {dir}/sieve.bc", lines=95, rounds=False),
            Channel("gdb", "lli-14 --jit-kind=orc {dir}/sieve.bc", lines=95, rounds=False),
        ]),
    ]


def shell(command, **more):
    return subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, **more)


def written():
    """Files that hosts leave behind."""
    return set(glob.glob("/tmp/perf-*.map") + glob.glob("/tmp/jit-*.dump"))


class Bench:
    def __init__(self, build, seconds, stacks):
        self.build, self.seconds, self.stacks = build, seconds, stacks
        self.dir = tempfile.mkdtemp(prefix="tailor-jits-")
        self.bad = 0

    def fill(self, text):
        return text.format(build=self.build, jits=JITS, dir=self.dir, s=self.seconds, r=self.dir + "/rounds")

    def run(self, command, env):
        rounds = self.dir + "/rounds"
        if os.path.exists(rounds):
            os.unlink(rounds)
        before = written()
        p = shell("exec " + command, cwd=self.dir, env=dict(os.environ, **{k: self.fill(v) for k, v in env.items()}))
        for f in written() - before:
            if not os.path.exists("/proc/" + re.sub("[^0-9]", "", os.path.basename(f))):
                os.unlink(f)
        try:
            with open(rounds) as f:
                return p, int(f.read())
        except (OSError, ValueError):
            return p, 0

    def complete_stacks(self, command, channel):
        """A recording of its own: whole stacks are larger than what a profile usually keeps of them."""
        trace = self.dir + "/stacks.tlr"
        self.run(f"{self.build}/tailor run -q --stack {channel.stack_bytes} --rate 1000 -o {trace} -- {command}", channel.env)
        out = shell(f"{self.build}/tailor unwind {trace}").stdout
        total, complete = re.search(rb"^(\d+) samples", out), re.search(rb"memo: (\d+) complete", out)
        return 100 * int(complete.group(1)) / max(int(total.group(1)), 1) if total and complete else 0

    def row(self, host, version, channel):
        command = self.fill(channel.command)
        trace = self.dir + "/t.tlr"
        alone, rounds_alone = self.run(command, channel.env)
        if alone.returncode:
            print(f"{host.name}: skipped, because it does not run here: {alone.stderr.decode(errors='replace')[-200:]!r}")
            return
        under, rounds = self.run(f"{self.build}/tailor run -q -o {trace} -- {command}", channel.env)
        same = under.returncode == alone.returncode and under.stdout == alone.stdout
        report = shell(f"{self.build}/tailor report --json {trace}")
        if report.returncode:
            print(f"{host.name}, {channel.name}: the trace cannot be read: {report.stderr.decode()}")
            self.bad += 1
            return
        r = json.loads(report.stdout)
        unknown = sum(f["samples"] for f in r["functions"] if f["image"] == "[unknown]")
        n = r["jit"]["samples"] + unknown
        named, lines = 100 * r["jit"]["named"] / max(n, 1), 100 * r["jit"]["with_lines"] / max(n, 1)
        complete = self.complete_stacks(command, channel) if self.stacks else 0
        stacks = f"{complete:.1f} %" if self.stacks else "-"
        slower = f"{100 * rounds_alone / rounds - 100:+.1f} %" if rounds and rounds_alone else "-"
        print(f"FIGURE {host.name:<15} {version:<16} {channel.name:<9} {n:>7} {named:>6.2f} % {lines:>6.2f} % {stacks:>7} {slower:>8} "
              f"{'same' if same else 'CHANGED'}", flush=True)
        wrong = []
        if not same:
            wrong.append(f"alone: exit {alone.returncode}, {alone.stdout[-300:]!r}; under tailor: exit {under.returncode}, "
                         f"{under.stdout[-300:]!r} {under.stderr[-300:]!r}")
        if n < 500 * self.seconds:
            wrong.append(f"expected at least {500 * self.seconds} samples in generated code, got {n}")
        if named < channel.named:
            wrong.append(f"expected {channel.named} % or more with a name, got {named:.2f} %")
        if lines < channel.lines:
            wrong.append(f"expected {channel.lines} % or more with a source line, got {lines:.2f} %")
        if self.stacks and complete < channel.stacks:
            wrong.append(f"expected {channel.stacks} % or more of the stacks complete, got {complete:.2f} %")
        for w in wrong:
            print(f"{host.name}, {channel.name} ({command}): {w}")
        self.bad += bool(wrong)

    def host(self, host, channels, install):
        if install and host.packages.startswith("npm:"):
            shell(f"npm install --no-audit --no-fund --prefix {self.build}/npm {host.packages[4:]}")
        elif install:
            subprocess.run([os.path.join(HERE, "..", "deps.sh")] + host.packages.split(), check=False)
        version = shell(self.fill(host.version))
        number = re.search(rb"[0-9]+(\.[0-9]+)+[-+.0-9a-z]*", version.stdout + version.stderr)
        if version.returncode or not number:
            print(f"{host.name}: skipped, because it is not installed ({host.packages})")
            return
        if host.prepare:
            p = shell(self.fill(host.prepare))
            if p.returncode:
                print(f"{host.name}: skipped, because its program could not be made: {p.stderr.decode(errors='replace')[-300:]}")
                return
        for channel in channels:
            self.row(host, number.group(0).decode()[:16], channel)

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("hosts", nargs="*")
    p.add_argument("--seconds", type=int, default=5)
    p.add_argument("--install", action="store_true")
    p.add_argument("--stacks", action="store_true")
    p.add_argument("--check", action="store_true")
    a = p.parse_intermixed_args()
    b = Bench(os.path.abspath(a.build), a.seconds, a.stacks)
    print(f"FIGURE {'host':<15} {'version':<16} {'channel':<9} {'samples':>7} {'named':>8} {'lines':>8} {'stacks':>7} {'slower':>8} output")
    for h in hosts(a.build):
        channels = [c for c in h.channels if not a.hosts or h.name in a.hosts or f"{h.name}:{c.name}" in a.hosts]
        if channels:
            b.host(h, channels, a.install)
    b.close()
    sys.exit(1 if a.check and b.bad else 0)


if __name__ == "__main__":
    main()
