# SPDX-License-Identifier: MIT
"""Unmodified hosts with a JIT, each run alone and under tailor, one row each.

jits.py BUILD [--seconds N] [--install] [--stacks] [--check [--samples N]] [HOST[:CHANNEL]...]

samples: in generated code; named, lines: how many of them have a function's name, a source line; planted: the share of fib() in the
samples of fib() and bif(), which do the same work, one three times as often; stacks: how many of all samples have a call stack that
ends where the thread began (--stacks: by a second recording, of 32 KiB of stack); slower: rounds that the host did a second, alone
and so; check: what `tailor check` finds in the recording.  README.md has the table of a whole run.

A host's first row is how it runs without options or variables for a profiler.  Where its code has no names then, the first five lines
of the report must be what would name it.

A host that is not here is skipped in a sentence.  --install fetches Debian packages first (npm:NAME: npm's, into BUILD/npm).
Exit 1 when a row is worse than it should be: output or exit status changed, too few of the samples named or with a line, fib()'s share
far from 75 %, findings, no remedy; it is run again, for longer, before.  --check: likewise, and when too few stacks are complete.
A host is run again, for longer, until it has had enough samples in generated code (--samples) and the beginning, in which code is not
named yet or is interpreted, weighs little; exit 77 when this machine does not give them, or no host is here.
"""
import argparse
import glob
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from evidence import allowed_rate, decide, skip  # noqa: E402
JITS = os.path.join(HERE, "jits")
# Debian's compiler in C is of one version with its library.
GCC_MAJOR = subprocess.run(["gcc", "-dumpversion"], capture_output=True, text=True).stdout.strip() if shutil.which("gcc") else ""
NPM_S = 570  # less than shell() waits
BUN = "{build}/npm/node_modules/bun/bin/bun.exe"
DENO = "$(echo {build}/npm/node_modules/@deno/*/deno)"
RUBY, PYTHON = os.environ.get("RUBY", "ruby"), os.environ.get("PYTHON3", "/usr/bin/python3")
OTP = "[ $(cut -d . -f 1 /usr/lib/erlang/releases/*/OTP_VERSION) "
PHP = "php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=32M -d opcache.jit=tracing"

# The newest server that is installed; one that is not, where there is none: its row is skipped.
POSTGRES_BIN = max(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda f: int(re.sub(r"\D", "", f) or 0), default="/usr/lib/postgresql/15/bin")
# One backend, without a server; not as root, which PostgreSQL refuses.
AS_POSTGRES = "" if os.getuid() else "setpriv --reuid=postgres --regid=postgres --init-groups "
POSTGRES_PREPARE = (
    "chmod 755 {dir}; d={dir}/pg; mkdir -p $d; for i in $(seq {s}); do cat {jits}/query.sql; done >{dir}/query.sql; "
    "[ $(id -u) != 0 ] || chown postgres $d; " + AS_POSTGRES +
    POSTGRES_BIN + "/initdb -D $d >/dev/null")
POSTGRES = AS_POSTGRES + POSTGRES_BIN + "/postgres --single -D {dir}/pg -c jit=on -c jit_above_cost=0"


class Host:
    def __init__(self, name, packages, version, prepare, channels):
        self.name, self.packages, self.version, self.prepare, self.channels = name, packages, version, prepare, channels


# fib() is in the name of three quarters of the samples, bif() in that of one quarter: names of functions, without paths.
FIB, BIF = r"(?<![A-Za-z0-9])fib(?![A-Za-z0-9_])", r"(?<![A-Za-z0-9])bif(?![A-Za-z0-9_])"
TRAMPOLINE = re.compile("py::")
PLANTED, PLANTED_WITHIN = 75, 6  # per cent, and how much more or less may come of what is compiled into what


class Channel:
    """named, lines, stacks: per cent of the samples in generated code that must have a name, a line; of all, a whole stack.
    stack_bytes: how much of it is recorded.  table: also where no channel was asked for.  remedy: that code has no names, and what
    the report says in its first five lines.  planted: patterns of names, or first and last lines, of fib() and bif(); within: how far
    the share of fib() may be from 75 %; callers: samples of what the two call count as theirs, because the host's compiler inlines one of
    them, at its choice, into a function of its runtime and that into the other.  trampolines: generated code is one trampoline for each
    function of an interpreter, which calls the interpreter: all samples count, and those are named whose stack has such a function.
    needs: a command that fails where this build of the host has no such JIT or interface."""
    def __init__(self, name, command, env=None, named=98, lines=0, stacks=0, stack_bytes=32768, table=True, remedy=None,
                 planted=None, within=PLANTED_WITHIN, callers=False, trampolines=False, needs=None):
        self.name, self.command, self.env, self.stack_bytes, self.table = name, command, env or {}, stack_bytes, table
        self.named, self.lines, self.stacks = 0 if remedy else named, lines, stacks
        self.remedy, self.planted, self.within, self.callers = remedy, planted, within, callers or trampolines
        self.trampolines, self.needs = trampolines, needs


def llvm_orc():
    """LLVM's LLJIT by its C interface, linked as by default and by RuntimeDyld: the build's LLVM, and each other version that there is."""
    for v in [""] + [f" {n}" for n in range(15, 23)]:
        config = "llvm-config" + v.replace(" ", "-")
        packages = f"llvm-{v.strip()}-dev" if v else "llvm-14-dev|llvm-dev"
        yield Host("llvm orc" + v, packages + " clang", config + " --version",
                   f"clang -g -O1 -c -emit-llvm -o {{dir}}/fib.bc {{jits}}/fib.c && gcc -O1 -w -I$({config} --includedir) -o {{dir}}/lljit "
                   f"{{jits}}/lljit.c $({config} --ldflags --libs)", [
                       Channel("adapter", "{dir}/lljit {dir}/fib.bc {s} {r}", lines=95, planted=(FIB, BIF)),
                       Channel("adapter", "{dir}/lljit {dir}/fib.bc {s} {r}", {"LLJIT_RTDYLD": "1"}, lines=95, planted=(FIB, BIF)),
                   ])


def hosts(build):
    """The first row of each is without options.  {jits}: this folder's programs; {dir}: a scratch folder; {s}: seconds; {r}: the file for
    the number of rounds."""
    return [
        Host("node", "nodejs", "node --version", None, [
            Channel("adapter", "node {jits}/fib.js {s} {r}", lines=95, planted=(FIB, BIF)),
            Channel("jitdump", "node --perf-prof --perf-prof-delete-file {jits}/fib.js {s} {r}", lines=95),
            Channel("perf map", "node --perf-basic-prof {jits}/fib.js {s} {r}"),
        ]),
        Host("node wasm", "nodejs", "node --version", None, [
            Channel("adapter", "node {jits}/wasm.js {s} {r}", named=85),  # jump tables, 11 % of Node 20's, are announced by nobody
        ]),
        # by any way into a script, whether it opens a file or not
        Host("node module", "nodejs", "node --version", None, [Channel("adapter", "node {jits}/fib.mjs {s} {r}", lines=95)]),
        Host("node -e", "nodejs", "node --version", None, [
            Channel("adapter", 'node -e "$(cat {jits}/fib.js)" fib.js {s} {r}', lines=95),
        ]),
        Host("node stdin", "nodejs", "node --version", None, [Channel("adapter", "node - {s} {r} <{jits}/fib.js", lines=95)]),
        Host("node worker", "nodejs", "node --version", None, [Channel("adapter", "node {jits}/node_worker.js {s} {r}", lines=95)]),
        Host("node cluster", "nodejs", "node --version", None, [Channel("adapter", "node {jits}/node_cluster.js {s} {r}", lines=95)]),
        Host("node vm", "nodejs", "node --version", None, [Channel("adapter", "node {jits}/node_vm.js {s} {r}", lines=95)]),
        Host("v8 embedded", "nodejs g++", "node --version",
             "g++ -O1 -w -std=c++17 -fPIC -shared -DNODE_GYP_MODULE_NAME=embedded -DBUILDING_NODE_EXTENSION "
             "-I$(dirname $(ls /usr/include/node/node.h /usr/include/nodejs/src/node.h 2>/dev/null | head -n 1)) "
             "-o {dir}/embedded.node {jits}/v8_embedded.cc", [
            Channel("adapter", "node -e 'require(`{dir}/embedded.node`).run(`{jits}/fib.js`, {s})'"),
        ]),
        Host("bun", "npm:bun", BUN + " --version", None, [
            Channel("region", BUN + " {jits}/fib.js {s} {r}", remedy="Set BUN_JSC_useJITDump=1 BUN_JSC_jitDumpDirectory=/tmp."),
            Channel("jitdump", BUN + " {jits}/fib.js {s} {r}", {"BUN_JSC_useJITDump": "1", "BUN_JSC_jitDumpDirectory": "{dir}"},
                    planted=(FIB, BIF)),
        ]),
        Host("deno", "npm:deno", DENO + " --version", None, [
            Channel("adapter", DENO + " run -A {jits}/fib.js {s} {r}", lines=95, planted=(FIB, BIF)),
            Channel("jitdump", DENO + " run -A --v8-flags=--perf-prof,--perf-prof-delete-file {jits}/fib.js {s} {r}", lines=95),
        ]),
        Host("openjdk", "openjdk-17-jdk-headless", "java --version", "javac -d {dir} {jits}/Fib.java", [
            Channel("adapter", "java -cp {dir} Fib {s} {r}", lines=95, planted=(FIB, BIF)),
            Channel("perf map", "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -cp {dir} Fib {s} {r}"),
        ]),
        Host("openjdk embedded", "openjdk-17-jdk-headless gcc", "java --version",
             "javac -d {dir} {jits}/Fib.java && home=$(dirname $(dirname $(readlink -f $(command -v javac)))) && "
             "c=\"gcc -O1 -I$home/include -I$home/include/linux {jits}/jvm_embedded.c\" && "
             "$c -o {dir}/embedded -L$home/lib/server -ljvm -Wl,-rpath,$home/lib/server && "
             "$c -o {dir}/loads -DLIBRARY=\\\"$home/lib/server/libjvm.so\\\"", [
            Channel("adapter", "{dir}/embedded {dir} {s} {r}", lines=95),
            # as its code is compiled by default: places of calls and loops only
            Channel("memory", "{dir}/loads {dir} {s} {r}", lines=75, stacks=90, table=False),
        ]),
        Host("php", "php8.2-cli|php-cli", "php --version", None, [
            Channel("adapter", PHP + " {jits}/fib.php {s} {r}", planted=(FIB, BIF)),
            Channel("gdb", PHP + " -d opcache.jit_debug=0x100 {jits}/fib.php {s} {r}"),
            Channel("intel", PHP + " -d opcache.jit_debug=0x80 {jits}/fib.php {s} {r}",
                    {"INTEL_JIT_PROFILER64": "{build}/libtailor-intel.so"},
                    # PHP 8.4's JIT is another one, without it
                    needs="grep -q INTEL_JIT_PROFILER64 $(php -r 'echo PHP_EXTENSION_DIR;')/opcache.so"),
            Channel("jitdump", PHP + " -d opcache.jit_debug=0x20 {jits}/fib.php {s} {r}"),
            Channel("perf map", PHP + " -d opcache.jit_debug=0x10 {jits}/fib.php {s} {r}"),
        ]),
        Host("luajit", "luajit", "luajit -v", None, [
            # its traces lead from one function into the other
            Channel("adapter", "luajit {jits}/fib.lua {s} {r}", lines=95, planted=((3, 6), (7, 10)), within=24),
        ]),
        Host("luajit embedded", "libluajit-5.1-dev gcc", "luajit -v",
             "c='gcc -O1 -I/usr/include/luajit-2.1 {jits}/luajit_embedded.c -lluajit-5.1'; cd {dir} && "
             "$c -Wl,-z,lazy -o embedded && $c -DLIBRARY -fPIC -shared -Wl,-z,lazy -o plugin.so && "
             "for binding in LAZY NOW; do $c -DPLUGIN='\"{dir}/plugin.so\"' -DBINDING=RTLD_$binding -Wl,--as-needed -o loads_$binding || exit 1; "
             "done", [
            Channel("adapter", "{dir}/embedded {jits}/fib.lua {s} {r}", lines=95),
            Channel("adapter", "{dir}/loads_LAZY {jits}/fib.lua {s} {r}", lines=95, table=False),
            Channel("adapter", "{dir}/loads_NOW {jits}/fib.lua {s} {r}", lines=95, table=False),
        ]),
        Host("nginx lua", "nginx-light apache2-utils curl", "nginx -v", "{jits}/nginx_lua.sh --get {build}/nginx-lua", [
            Channel("adapter", "{jits}/nginx_lua.sh {build}/nginx-lua {dir} {s}", lines=95),
        ]),
        Host("mono", "mono-runtime mono-mcs", "mono --version", "mcs -debug -out:{dir}/fib.exe {jits}/fib.cs", [
            Channel("adapter", "mono {dir}/fib.exe {s} {r}", planted=(":Fib", ":Bif")),
            Channel("adapter", "mono --debug {dir}/fib.exe {s} {r}", lines=95),
            Channel("perf map", "mono --jitmap {dir}/fib.exe {s} {r}"),
        ]),
        Host("erlang", "erlang-base", "cat /usr/lib/erlang/releases/*/OTP_VERSION", "cd {dir} && erlc +debug_info {jits}/fib.erl", [
            # a function's first instructions (CodeInfoPrologue) have no line: 4 to 10 % of the samples, by the processor
            Channel("gdb", "erl -noshell -pa {dir} -s fib main {s} {r}", lines=85, planted=("fib:fib/1", "fib:bif/1"), needs=OTP + "-lt 29 ]"),
            # it registers nothing for debuggers any more
            Channel("region", "erl -noshell -pa {dir} -s fib main {s} {r}", remedy="Run erl with +JPperf true.", needs=OTP + "-ge 29 ]"),
            Channel("jitdump", "erl +JPperf true -noshell -pa {dir} -s fib main {s} {r}", planted=("fib:fib/1", "fib:bif/1")), # advised
            Channel("perf map", "erl +JPperf map -noshell -pa {dir} -s fib main {s} {r}"),
            Channel("jitdump", "erl +JPperf dump -noshell -pa {dir} -s fib main {s} {r}"),
        ]),
        Host("guile", "guile-3.0", "guile --version", "GUILE_AUTO_COMPILE=0 guile -c 1", [
            Channel("region", "guile --no-auto-compile {jits}/fib.scm {s} {r}", stacks=60, remedy="Set GUILE_JIT_LOG=1."),
            Channel("perf map", "guile --no-auto-compile {jits}/fib.scm {s} {r}", {"GUILE_JIT_LOG": "1"}, stacks=60),
        ]),
        Host("javascriptcore", "libjavascriptcoregtk-4.0-bin|libjavascriptcoregtk-bin", "dpkg-query -W -f '${{Version}} ' 'libjavascriptcoregtk-*bin'", None, [
            Channel("adapter", "jsc {jits}/fib.js -- {s}", planted=(FIB, BIF)),
            Channel("jitdump", "jsc {jits}/fib.js -- {s}", {"JSC_useJITDump": "1", "JSC_jitDumpDirectory": "{dir}"}),
        ]),
        Host("libgccjit", f"libgccjit-{GCC_MAJOR}-dev", "gcc --version",
             "gcc -O1 -o {dir}/gccjit {jits}/gccjit.c -lgccjit", [
            Channel("image", "{dir}/gccjit {s} {r}"),
            Channel("image", "{dir}/gccjit {s} {r}", {"GCCJIT_DEBUG": "1"}, lines=95),
        ]),
        # Debian's are built without YJIT after 3.1; RUBY is another one's command
        Host("ruby", "ruby ruby-dev", RUBY + " --version", None, [
            Channel("adapter", RUBY + " --yjit {jits}/fib.rb {s} {r}", lines=95, stacks=90, planted=(FIB, BIF),
                    needs=RUBY + " --yjit -e 'exit RubyVM::YJIT.enabled? && RUBY_VERSION < %q(3.2)'"),
            Channel("perf map", RUBY + " --yjit {jits}/fib.rb {s} {r}", stacks=90, planted=(FIB, BIF),
                    needs=RUBY + " --yjit -e 'exit RubyVM::YJIT.enabled? && RUBY_VERSION >= %q(3.3)'"),
            Channel("perf map", RUBY + " --yjit --yjit-perf {jits}/fib.rb {s} {r} > >(grep -v ^YJIT)", stacks=90, planted=(FIB, BIF),
                    needs=RUBY + " --yjit -e 'exit RubyVM::YJIT.enabled? && RUBY_VERSION >= %q(3.3)'"),
            Channel("image", RUBY + " --mjit --mjit-min-calls=5 --mjit-wait --mjit-max-cache=20 {jits}/fib.rb {s} {r}", named=98,
                    needs=RUBY + " --mjit -e 'exit RubyVM::MJIT.enabled?'"),  # it compiles with the headers of ruby-dev
            Channel("region", RUBY + " --rjit {jits}/fib.rb {s} {r}", remedy="(Ruby 3.2's YJIT and RJIT have no JIT interface)",
                    needs=RUBY + " --rjit -e 'exit RubyVM::RJIT.enabled?'"),
        ]),
        Host("python", "python3", PYTHON + " --version", None, [
            Channel("adapter", PYTHON + " {jits}/fib.py {s} {r}", named=90, stacks=90, planted=("py::fib:", "py::bif:"), trampolines=True),
            Channel("perf map", PYTHON + " -X perf {jits}/fib.py {s} {r}", named=90, stacks=90, planted=("py::fib:", "py::bif:"),
                    trampolines=True, needs=PYTHON + " -X perf -c 'import sys; sys.exit(sys.version_info < (3, 12))'"),
            Channel("jitdump", PYTHON + " -X perf_jit {jits}/fib.py {s} {r}", named=90, stacks=90, planted=("py::fib:", "py::bif:"),
                    trampolines=True,
                    needs=PYTHON + " -X perf_jit -c 'import sys; sys.exit(sys.version_info < (3, 13))'"),
        ]),
        Host("pypy", "pypy3", "pypy3 --version", None, [
            Channel("adapter", "pypy3 {jits}/fib.py {s} {r}", planted=(FIB, BIF), within=12),
        ]),
        Host("postgresql", "postgresql-15", POSTGRES_BIN + "/postgres --version", POSTGRES_PREPARE, [
            Channel("adapter", POSTGRES + " -c jit_optimize_above_cost=0 -c jit_inline_above_cost=0 template1 <{dir}/query.sql"),
            Channel("adapter", POSTGRES + " -c jit_optimize_above_cost=-1 -c jit_inline_above_cost=-1 template1 <{dir}/query.sql"),
        ]),
        Host("halide", "libhalide14-0-dev g++", "dpkg-query -W -f '${{Version}}' libhalide14-0-dev",
             "g++ -O1 -std=c++17 -w -I/usr/include/halide14 -o {dir}/halide {jits}/halide.cc -lHalide14 || "
             "g++ -O1 -std=c++17 -w -I/usr/include/halide14 -o {dir}/halide {jits}/halide.cc -lHalide", [
            Channel("gdb", "{dir}/halide {s} {r}"),
        ]),
        Host("halide 19", "libhalide19-dev g++", "dpkg-query -W -f '${{Version}}' libhalide19-dev",
             "g++ -O1 -std=c++17 -w -I/usr/include/halide19 -o {dir}/halide19 {jits}/halide.cc -lHalide19", [
            Channel("adapter", "{dir}/halide19 {s} {r}"),
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
            Channel("region", "qemu-x86_64 {dir}/fib {s} {r}", remedy="Run QEMU 8 or later with -perfmap;"),
        ]),
        Host("spidermonkey", "libmozjs-102-dev", "dpkg-query -W -f '${{Version}}' libmozjs-102-dev", None, [
            Channel("region", "js102 {jits}/fib.js {s}", remedy="`tailor report --view asm`"),
        ]),
        Host("numba", "python3-numba", "/usr/bin/python3 -c 'import numba; print(numba.__version__)'", None, [
            Channel("gdb", "/usr/bin/python3 {jits}/../numba_host.py {s}", stacks=90, stack_bytes=65528), # modules import modules
            Channel("gdb", "/usr/bin/python3 {jits}/../numba_host.py {s}", {"NUMBA_DEBUGINFO": "1"}, lines=95),
        ]),
        Host("lli", "llvm clang", "lli --version",
             "for c in sieve inlined seconds; do clang -g -O1 -c -emit-llvm -o {dir}/$c.bc {jits}/../bitcode/$c.c || exit 1; done", [
            Channel("gdb", "lli --jit-kind=mcjit {dir}/sieve.bc {s}", lines=95),
            Channel("gdb", "lli --jit-kind=orc {dir}/sieve.bc {s}", lines=95),
            Channel("gdb", "lli --jit-kind=mcjit {dir}/inlined.bc {s}", lines=95, table=False),
            Channel("gdb", "lli --jit-kind=mcjit {dir}/seconds.bc {s}", lines=95, table=False),
        ]),
        *llvm_orc(),
        Host("clang-repl", "clang", "clang-repl --version", None, [
            Channel("adapter", "env SECONDS={s} clang-repl <{jits}/fib.repl", planted=(FIB, BIF)),
        ]),
        Host("moarvm", "raku", "raku --version", None, [
            Channel("adapter", "raku {jits}/fib.raku {s} {r}", planted=(FIB, BIF)),
        ]),
        Host("sbcl", "sbcl", "sbcl --version", None, [
            Channel("region", "sbcl --script {jits}/fib.lisp {s} {r}", remedy="(require :sb-sprof)"),
        ]),
        Host("racket", "racket", "racket --version", None, [
            Channel("region", "racket {jits}/fib.rkt {s} {r}", remedy="`raco profile FILE`"),
        ]),
        Host("chez scheme", "chezscheme", "chezscheme --version", None, [
            Channel("region", "chezscheme --script {jits}/fib.ss {s} {r}", remedy="(compile-profile #t), (profile-dump-html)"),
        ]),
        Host("poly/ml", "polyml", "poly -v", None, [
            Channel("region", "env SECONDS={s} ROUNDS_FILE={r} poly -q --use {jits}/fib.sml", remedy="PolyML.Profiling.profile"),
        ]),
        Host("sml/nj", "smlnj", "dpkg-query -W -f '${{Version}}' smlnj", None, [
            Channel("region", "env SECONDS={s} ROUNDS_FILE={r} sml {jits}/fib.sml", remedy="`tailor report --view asm`"),
        ]),
        Host("gjs", "gjs", "gjs --version", None, [
            Channel("region", "gjs {jits}/fib.js {s} {r}", remedy="`tailor report --view asm`"),
        ]),
        Host("qml", "qml", "dpkg-query -W -f '${{Version}}' qml", None, [
            Channel("adapter", "sh -c 'qml -apptype core {jits}/fib.qml -- {s}; [ $? = 2 ]'", planted=(FIB, BIF)),
        ]),
        Host("pcre2", "libpcre2-dev", "pcre2-config --version", "gcc -O1 -o {dir}/pcre2 {jits}/pcre2.c -lpcre2-8", [
            Channel("adapter", "{dir}/pcre2 {s} {r}", planted=(r"\[01\]/", r"\[23\]/")),
        ]),
        Host("grep -P", "grep", "grep --version", "seq 4000000 >{dir}/numbers", [
            Channel("adapter", "grep -cP '(1+2?)+3$|(.)7\\2' {dir}/numbers"),
        ]),
        Host("orc", "liborc-0.4-dev", "dpkg-query -W -f '${{Version}}' liborc-0.4-dev",
             "gcc -O1 -I/usr/include/orc-0.4 -o {dir}/orc {jits}/orc.c -lorc-0.4", [
            Channel("region", "{dir}/orc {s} {r}", remedy="with ORC_CODE=backup its programs run as compiled C"),
        ]),
        Host("asmjit", "libasmjit-dev g++", "dpkg-query -W -f '${{Version}}' libasmjit-dev",
             "g++ -O1 -o {dir}/asmjit {jits}/asmjit.cc -lasmjit", [
            Channel("region", "{dir}/asmjit {s} {r}", remedy="jitreg_code_load()"),
        ]),
        Host("tinycc", "libtcc-dev", "dpkg-query -W -f '${{Version}}' libtcc-dev", "gcc -O1 -o {dir}/tcc {jits}/tcc.c -ltcc -ldl", [
            Channel("region", "{dir}/tcc {s} {r}", remedy="jitreg_code_load()"),
        ]),
        Host("elixir", "elixir", "dpkg-query -W -f '${{Version}}' elixir", None, [
            Channel("gdb", "elixir {jits}/fib.exs {s} {r}", lines=80, planted=(r"'Elixir\.Fib':fib/", r"'Elixir\.Fib':bif/")),
        ]),
        Host("clojure", "clojure", "dpkg-query -W -f '${{Version}}' clojure", None, [
            Channel("adapter", "clojure {jits}/Fib.clj {s} {r}", named=95, planted=(r"user\$fib", r"user\$bif"), within=12),
        ]),
        Host("groovy", "groovy", "dpkg-query -W -f '${{Version}}' groovy", None, [
            Channel("adapter", "groovy {jits}/Fib.groovy {s} {r}", named=95, planted=(FIB, BIF)),
        ]),
        Host("jruby", "jruby", "dpkg-query -W -f '${{Version}}' jruby", None, [
            Channel("adapter", "jruby {jits}/fib.rb {s} {r}", named=85, planted=(r"method\$fib\$", r"method\$bif\$"), within=12),
        ]),
        Host("jython", "jython", "dpkg-query -W -f '${{Version}}' jython", None, [
            Channel("adapter", "jython {jits}/fib.py {s} {r}", named=95),  # its functions share the interpreter's
        ]),
        Host("rhino", "rhino", "dpkg-query -W -f '${{Version}}' rhino", None, [
            Channel("adapter", "rhino {jits}/fib.js {s} {r}", named=95, planted=("_c_fib_", "_c_bif_"), within=12, callers=True),
        ]),
    ]


def shell(command, **more):
    return subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600, **more)


# Of --check.  A fault that leaves names, lines or stacks to 5 % fewer of a block's samples than the bound says lets it agree once in a
# thousand (a binomial's lower tail, 500 samples), one that takes them all lets it never: so one block that agrees is enough.
WRONG = 0.001
SAMPLES = 500
STACKS = 200       # ... 10 % fewer
FIRST_S = 0.5
# A block of less processor time than this (host and recorder, as wait(2) says) agrees or is none: OpenJDK is interpreted for about 0.03 s of
# generated code, named late for 0.006 s, which is 5 % and 2 % of a block that is too short.
COUNTS_S = 2.5


def processor_time():
    """... of all children so far."""
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def is_code(path, number):
    """A line that can be one of code: it is there, and neither empty nor a comment."""
    with open(path, errors="replace") as f:
        lines = f.read().splitlines()
    text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    return bool(text) and not text.startswith(("#", "//", "/*", "* ", "--", "%", ";"))


PLANTED_FEWEST = 40
ODD_MOST = 10  # samples of a script as such, whose line is its first, whatever stands there


def planted_share(report, planted):
    """Per cent of the samples of fib() and bif() that are fib()'s, and how many they are; None: not asked for, or there are none."""
    n = [0, 0]
    if not planted:
        return None, 0
    if isinstance(planted[0], str):
        for f in report["functions"]:
            name = re.sub(r"(?:^|(?<=[\s(]))(?:file:)?/(?:\S*/)\S*[^\s/]", "", f["name"])  # without paths
            for i in (1, 0):
                if re.search(planted[i], name):
                    n[i] += f["samples"]
                    break
    else:
        lines = [(l["file"], l["line"], l["samples"]) for l in report["lines"]]
        named = [(*m.groups(), f["samples"]) for f in report["functions"] for m in [re.search(r"(/\S+):(\d+)$", f["name"])] if m]
        # `tailor attach` has names of LuaJIT's traces, which end with where they begin, and no lines.
        for file, line, samples in lines if any(file.startswith(JITS) for file, _, _ in lines) else named:
            for i, (first, last) in enumerate(planted):
                n[i] += samples if file.startswith(JITS) and first <= int(line) <= last else 0
    return 100 * n[0] / sum(n) if sum(n) else None, sum(n)


def planted_share_of_stacks(folded, planted):
    """The same by the innermost of the two in each stack, with samples by their weight: lines of `export --format folded`."""
    weight, stacks = [0, 0], 0
    for line in folded.splitlines():
        stack, _, weighs = line.rpartition(" ")
        found = [i for frame in reversed(stack.split(";")) for i in (0, 1) if re.search(planted[i], frame)]
        if found:
            weight[found[0]] += int(weighs)
            stacks += 1
    return 100 * weight[0] / sum(weight) if sum(weight) else None, stacks


class Seen:
    """What a recording has of generated code: samples (n), per cent of them with a name and with a line, and the planted share."""
    def __init__(self, tailor, trace, report, of):
        """of: a channel or a row, with planted, callers and trampolines as Channel says; planted "versions": code objects of one name, the
        two with most samples."""
        self.n = report["jit"]["samples"] + sum(f["samples"] for f in report["functions"] if f["image"] == "[unknown]")
        if of.planted == "versions":
            objects = json.loads(shell(f"{tailor} report --view code --json {trace}").stdout)["tables"]["objects"]
            two = sorted((o["samples"] for o in objects if o["samples"]), reverse=True)[:2]
            self.planted, self.planted_n = (100 * two[0] / sum(two), sum(two)) if len(two) == 2 else (None, 0)
        elif of.callers:
            folded = shell(f"{tailor} export --format folded {trace}").stdout.decode(errors="replace")
            self.planted, self.planted_n = planted_share_of_stacks(folded, of.planted)
        else:
            self.planted, self.planted_n = planted_share(report, of.planted)
        self.named, self.lines = (100 * report["jit"][what] / max(self.n, 1) for what in ("named", "with_lines"))
        if of.trampolines:
            self.n = report["samples"]["total"]
            self.named = 100 * sum(c["samples"] for c in report["components"]
                                   if c["level"] == "code object" and TRAMPOLINE.match(c["name"])) / max(self.n, 1)


class Fault(Exception):
    """A block says what no machine excuses."""


class Bench:
    def __init__(self, build, seconds, stacks, samples):
        """samples: how many --check wants in generated code; None: one recording, no check."""
        self.build, self.seconds, self.stacks, self.samples = build, seconds, stacks, samples
        self.dir = tempfile.mkdtemp(prefix="tailor-jits-")
        self.bad, self.rows, self.undecided = 0, 0, []
        self.used = 0  # processor time of the last run

    def fill(self, text, seconds=0):
        return text.format(build=self.build, jits=JITS, dir=self.dir, s=f"{seconds:g}", r=self.dir + "/rounds")

    def run(self, command, env, trace=None):
        """... under tailor, if there is to be a trace.  Returns what came of it, and how many rounds it did."""
        rounds = self.dir + "/rounds"
        if os.path.exists(rounds):
            os.unlink(rounds)
        used = processor_time()
        with subprocess.Popen(["bash", "-c", "exec " + command], cwd=self.dir, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=dict(os.environ, **{k: self.fill(v) for k, v in env.items()})) as p:
            try:
                out, err = p.communicate(timeout=600)
            except subprocess.TimeoutExpired:
                p.kill()
                raise
        done = subprocess.CompletedProcess(command, p.returncode, out, err)
        self.used = processor_time() - used
        # what hosts leave behind, of these processes only: other tests run beside
        pids = [p.pid]
        if trace:
            said = shell(f"{self.build}/tailor report --view processes --json {trace}").stdout
            pids += [int(pid) for pid in re.findall(rb'"pid": (\d+)', said)]
        for pid in pids:
            for f in (f"/tmp/perf-{pid}.map", f"/tmp/jit-{pid}.dump"):
                if os.path.exists(f) and os.stat(f).st_uid == os.getuid():  # not another user's, of a process that had the number before
                    os.unlink(f)
        try:
            with open(rounds) as f:
                return done, int(f.read())
        except (OSError, ValueError):
            return done, 0

    def complete_stacks(self, channel, seconds):
        """A recording of its own: whole stacks are larger than what a profile usually keeps of them.  Returns samples, and of how many
        the stack is whole; None where it fails."""
        trace = self.dir + "/stacks.tlr"
        command = (f"{self.build}/tailor run -q --stack {channel.stack_bytes} --rate {allowed_rate(1000)} -o {trace} -- "
                   + self.fill(channel.command, seconds))
        p, _ = self.run(command, channel.env, trace)
        unwound = shell(f"{self.build}/tailor unwind {trace}")
        total, complete = re.search(rb"^(\d+) samples", unwound.stdout), re.search(rb"memo: (\d+) complete", unwound.stdout)
        if p.returncode or unwound.returncode or not total or not complete:
            self.fault(f"{command}: exit {p.returncode}, {p.stderr[-300:]!r}; tailor unwind: exit {unwound.returncode}, "
                       f"{unwound.stdout[-300:]!r} {unwound.stderr[-300:]!r}")
            return None
        return int(total.group(1)), int(complete.group(1))

    def record(self, host, version, channel, seconds, alone):
        """One recording, and its line of the table.  alone: what it did alone.  Returns how many samples there are in generated code,
        and what is wrong with their names and lines; None where that cannot be asked."""
        command, trace = self.fill(channel.command, seconds), self.dir + "/t.tlr"
        under, rounds = self.run(f"{self.build}/tailor run -q -o {trace} -- {command}", channel.env, trace)
        report = shell(f"{self.build}/tailor report --json {trace}")
        if report.returncode:
            self.fault(f"{host.name}, {channel.name} ({command}): the trace cannot be read: {report.stderr.decode()}; "
                       f"tailor run: exit {under.returncode}, {under.stderr[-300:]!r}")
            return None
        r = json.loads(report.stdout)
        seen = Seen(f"{self.build}/tailor", trace, r, channel)
        n, named, lines, planted, planted_n = seen.n, seen.named, seen.lines, seen.planted, seen.planted_n
        findings = None if self.samples else shell(f"{self.build}/tailor check {trace}")
        first = "" if self.samples and not channel.remedy else " ".join(
            " ".join(shell(f"{self.build}/tailor report {trace}").stdout.decode().splitlines()[:5]).split())
        same = (under.returncode, under.stdout) == (alone.returncode, alone.stdout)
        stacks = "-"
        if self.stacks and not self.samples:
            total, complete = self.complete_stacks(channel, seconds) or (0, 0)
            stacks = f"{100 * complete / max(total, 1):.1f} %"
        slower = f"{100 * alone.rate * seconds / rounds - 100:+.1f} %" if rounds and alone.rate else "-"
        print(f"FIGURE {host.name:<15} {version:<16} {channel.name:<9} {n:>7} {named:>6.2f} % {lines:>6.2f} % "
              f"{'-' if planted is None else f'{planted:.1f} %':>7} {stacks:>7} {slower:>8} "
              f"{'-' if not findings else 'FOUND' if findings.returncode else 'clean':<5} {'same' if same else 'CHANGED'}", flush=True)
        if not same:
            self.fault(f"{host.name}, {channel.name} ({command}): alone: exit {alone.returncode}, {alone.stdout[-300:]!r}; under tailor: "
                       f"exit {under.returncode}, {under.stdout[-300:]!r} {under.stderr[-300:]!r}")
            return None
        wrong = [f"expected {bound} % or more of {n} samples with a {what}, got {got:.2f} %"
                 for what, bound, got in (("name", channel.named, named), ("source line", channel.lines, lines)) if got < bound]
        if channel.planted and planted_n < PLANTED_FEWEST:
            wrong.append(f"expected {PLANTED_FEWEST} or more samples in fib() and bif(), got {planted_n}")
        elif channel.planted and abs(planted - PLANTED) > channel.within + 4 * 50 / planted_n ** 0.5:
            wrong.append(f"expected {PLANTED} % of {planted_n} samples of fib() and bif() in fib(), got {planted:.1f} %")
        if channel.remedy and " ".join(channel.remedy.split()) not in first:
            wrong.append(f"expected \"{channel.remedy}\" in the report's first five lines, got \"{first}\"")
        if not channel.remedy and channel.named >= 90 and "generated and did not name" in first:
            wrong.append(f"expected no sentence about code without names, got \"{first}\"")
        if findings and findings.returncode:
            wrong.append(f"expected no findings of tailor check, got exit {findings.returncode}: {findings.stdout.decode()[:600]} "
                         f"{findings.stderr.decode()[:200]}")
        ours = [l for l in r["lines"] if os.path.abspath(l["file"]).startswith(HERE + "/") and os.path.exists(l["file"])]
        odd = [l for l in ours if not is_code(l["file"], l["line"])]
        if sum(l["samples"] for l in odd) > max(ODD_MOST, 0.02 * sum(l["samples"] for l in ours)):
            wrong.append(f"expected lines of code, got {[(l['file'], l['line'], l['samples']) for l in odd[:5]]}")
        return n, "; ".join(wrong)

    def fault(self, sentence):
        print(sentence, flush=True)
        self.bad += 1

    def sequence(self, claim, wanted, block):
        """block(seconds) -> (samples, what is wrong or "") or None, with longer and longer ones, until the claim is decided."""
        seconds = FIRST_S

        def next_block(nr):
            nonlocal seconds
            s = seconds
            said = block(s)
            if said is None:
                raise Fault
            n, wrong = said
            short = n < wanted or self.used < COUNTS_S
            if short:
                seconds *= 2
            if wrong:
                print(f"{claim}: in {s:g} s: {wrong}", flush=True)
            return None if n < wanted or (wrong and short) else not wrong

        try:
            if not decide(claim, next_block, wrong=WRONG):
                self.bad += 1
        except Fault:
            pass
        except SystemExit:  # skipped; the others go on
            self.undecided.append(claim)

    def row(self, host, version, channel):
        if channel.needs and shell(self.fill(channel.needs)).returncode:
            print(f"{host.name}, {channel.name}: skipped, because this build of it has none ({channel.needs})")
            return
        first_s = 0.1 if self.samples else self.seconds
        alone, rounds = self.run(self.fill(channel.command, first_s), channel.env)
        if alone.returncode:
            print(f"{host.name}: skipped, because it does not run here: {alone.stderr.decode(errors='replace')[-200:]!r}")
            return
        alone.rate = rounds / first_s
        self.rows += 1
        if not self.samples:
            said = self.record(host, version, channel, self.seconds, alone)
            if said and said[1]:
                print(f"{host.name}, {channel.name}: again, for longer: {said[1]}", flush=True)
                said = self.record(host, version, channel, 4 * self.seconds, alone)
            if said and said[1]:
                self.fault(f"{host.name}, {channel.name} ({channel.command}): {said[1]}")
            return
        name = f"{host.name}, {channel.name} ({channel.command})"
        self.sequence(f"{name}: names and lines", self.samples, lambda s: self.record(host, version, channel, s, alone))
        if self.stacks and channel.stacks:
            def block(s):
                said = self.complete_stacks(channel, s)
                if not said:
                    return None
                total, complete = said
                share = 100 * complete / max(total, 1)
                print(f"FIGURE {host.name}: {share:.1f} % of {total} stacks complete", flush=True)
                return total, f"{complete} of {total} stacks are complete, expected {channel.stacks} %" if share < channel.stacks else ""
            self.sequence(f"{name}: whole stacks", STACKS, block)

    def host(self, host, channels, install):
        if install and host.packages.startswith("npm:"):
            # where the registry does not answer, this host is skipped
            shell(f"timeout -k 10 {NPM_S} npm install --no-audit --no-fund --prefix {self.build}/npm {host.packages[4:]}")
        elif install:
            subprocess.run([os.path.join(HERE, "..", "deps.sh")] + host.packages.split(), check=False)
        version = shell(self.fill(host.version))
        number = re.search(rb"[0-9]+(\.[0-9]+)+[-+.0-9a-z]*", version.stdout + version.stderr)
        if version.returncode or not number:
            print(f"{host.name}: skipped, because it is not installed ({host.packages})")
            return
        if host.prepare:
            p = shell(self.fill(host.prepare, max(int(self.seconds), 1)))
            if p.returncode:
                print(f"{host.name}: skipped, because its program could not be made: {p.stderr.decode(errors='replace')[-300:]}")
                return
        for channel in channels:
            self.row(host, number.group(0).decode()[:16], channel)

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)


def refuse_unknown(parser, wanted, known):
    for name in wanted:
        if name not in known:
            parser.error(f"unknown host {name}; known are {', '.join(dict.fromkeys(known))}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("hosts", nargs="*")
    p.add_argument("--seconds", type=float, default=5)
    p.add_argument("--install", action="store_true")
    p.add_argument("--stacks", action="store_true")
    p.add_argument("--check", action="store_true")
    p.add_argument("--samples", type=int, default=SAMPLES)
    a = p.parse_intermixed_args()
    known = hosts(a.build)
    refuse_unknown(p, a.hosts, [h.name for h in known] + [f"{h.name}:{c.name}" for h in known for c in h.channels])
    b = Bench(os.path.abspath(a.build), a.seconds, a.stacks, a.samples if a.check else None)
    try:
        print(f"FIGURE {'host':<15} {'version':<16} {'channel':<9} {'samples':>7} {'named':>8} {'lines':>8} {'planted':>7} "
              f"{'stacks':>7} {'slower':>8} check output")
        for h in known:
            channels = [c for c in h.channels if (c.table and (not a.hosts or h.name in a.hosts)) or f"{h.name}:{c.name}" in a.hosts]
            if channels:
                b.host(h, channels, a.install)
    finally:
        b.close()
    if b.bad:
        sys.exit(1)
    if a.check and b.undecided:
        skip(f"this machine gave only few samples: {'; '.join(b.undecided)}")
    if a.check and not b.rows:
        skip("none of these hosts is installed")


if __name__ == "__main__":
    main()
