# SPDX-License-Identifier: MIT
"""The newest of each host, from where its users get it: host x version x way of recording.

newest.py BUILD [--samples N] [--table FILE] [HOST...]     HOST: a name, or the first word of some

The hosts and their programs are those of packages.py and jits.py, without their versions, and engines.  They come from PyPI (with --pre),
npm, Maven, and Debian unstable and experimental (debian_folder.sh), into ROOTS; each has INSTALL_S seconds for that, and is then
recorded in three ways: `tailor run`, `tailor attach` once it runs, `tailor attach --inject`.  A cell is

  right   the planted share was seen: of fib() in the samples of fib() and bif(), which do the same work, one three times as often; of an
          engine the samples in its queries that are on an operator; of one whose operators are functions, those with a name
  said    the sentence of tailor that says what is unavailable
  wrong   neither, also when recorded for longer; exit 1

A host that cannot be installed has that as its row.  --table: its rows are written into FILE, a page with a table under a line that begins
with MARK; rows of hosts that were not asked for stay.  Debian's hosts run in a folder as their root, so that this needs root.
"""
import argparse
import concurrent.futures
import copy
import datetime
import json
import os
import re
import shlex
import subprocess
import sys

from jits import HERE, JITS, PLANTED, hosts, refuse_unknown, shell
from packages import GRAAL, PY, ROWS, SAMPLES, UNAVAILABLE, WAYS, Bench, Installer, Row, Skip, find_python, numbers

ROOTS = os.environ.get("ROOTS", "/var/tmp/tailor-newest")  # other systems' folders confuse who looks through the build
INSTALL_S = 600
FETCHES = 2  # at a time, from each registry
ON_OPERATORS = 85  # per cent
MOST = 20  # times the samples wanted: a host that has generated no code by then is not recorded for longer
MARK = "<!-- make check-newest"
ENTERED = "TAILOR_CHECK_NEWEST"
NODE = "{at}/node_modules/node/bin/node "
GRAAL_PYTHON = GRAAL.replace("org.graalvm.js", "org.graalvm.py")
BESIDE_NODE = {"NODE_PATH": "{at}/node_modules"}


class Newest(Row):
    """level: of an engine, what its samples are to be on.  functions: ways by which the documents promise its functions only, and library: a
    part of the name of the image that these are in.  options: of `tailor run`.  pip: more options of pip's."""
    def __init__(self, name, package, command, level=None, functions=(), library=None, options="", pip="", **more):
        super().__init__(name, package, command, **more)
        self.level, self.functions, self.library, self.options, self.pip = level, functions, library, options, pip
        self.native = self.native or bool(level or library)

    @property
    def origin(self):
        return " ".join(self.package.split(":")[:-1])


def of_packages():
    """The rows of packages.py, each once, without versions; another compiler's language, debug information and crates are no hosts more."""
    rows = {}
    for row in ROWS:
        kind, _, what = row.package.partition(":")
        if kind in ("pypi", "npm", "maven") and row.name not in UNAVAILABLE and not row.channel and row.name not in ("polars", "wasmer"):
            row = copy.copy(row)
            row.__class__ = Newest
            row.package = f"{kind}:" + re.sub(r"(==|@)[0-9][^ ]*", "", what)
            row.level, row.functions, row.library, row.options, row.pip = None, (), None, "", ""
            rows.setdefault(row.name, row)
    return list(rows.values())


def of_debian(build, name, package, host=None, **more):
    """A host of jits.py, as it runs without options."""
    h = next(h for h in hosts(build) if h.name == (host or name))
    c = h.channels[0]
    return Newest(name, "debian:" + package, c.command, planted=c.planted, named=c.named, within=c.within, callers=c.callers,
                  trampolines=c.trampolines, prepare=h.prepare, env=c.env, **more)


def rows(build):
    duckdb = {"level": "operator", "functions": WAYS[1:], "library": "duckdb"}
    llvm = "llvm{0}-dev clang{0} gcc libc6-dev bash"
    return [
        *of_packages(),
        # as graaljs, which names it by its perf map only
        Newest("graalpy", "maven:org.graalvm.polyglot python", GRAAL_PYTHON + "Graal {s} {r} python", jdk="/usr/lib/jvm/*25*", seconds=30.0,
               warm_s=40.0, within=12, prepare="{java}c -d {dir} -p {at}/lib --add-modules org.graalvm.polyglot {jits}/Graal.java"),
        Newest("polars", "pypi:polars", PY + "polars_host.py {s} {r}", functions=WAYS, library="polars"),
        of_debian(build, "python", "unstable:python3.# bash"),
        of_debian(build, "ruby", "experimental:ruby# bash"),
        of_debian(build, "php", "experimental:php#-cli bash"),
        of_debian(build, "openjdk", "unstable:openjdk-#-jdk-headless bash"),
        of_debian(build, "luajit", "unstable:luajit bash"),
        of_debian(build, "llvm orc", "unstable:" + llvm.format("-#")),
        of_debian(build, "llvm orc 22", "unstable:" + llvm.format("-22"), "llvm orc"),
        Postgres(),
        Newest("duckdb python", "pypi:duckdb", PY + "duckdb_host.py {s} {r}", **duckdb),
        Newest("duckdb node", "npm:@duckdb/node-api node", NODE + "{jits}/duckdb_host.js {s}", env=BESIDE_NODE, **duckdb),
        Newest("duckdb debian", "debian:unstable:duckdb bash", "duckdb < <({jits}/duckdb_cli.sh {s})", **duckdb),
        Newest("sqlite python", "debian:unstable:python3.# bash", "/usr/bin/python3 {jits}/../sqlite_statements.py {s}", level="opcode",
               functions=WAYS[1:], library="libsqlite3"),
        Newest("sqlite node", "npm:node", NODE + "{jits}/sqlite_host.js {s}", level="opcode", functions=WAYS, library="node"),
        Newest("spark", "pypi:pyspark", PY + "spark_host.py {s} {r} 2>/dev/null", level="operator", options="--spark", seconds=20.0, warm_s=20.0,
               pip="--no-binary pyspark"),
    ]


class Postgres:
    """The server, by the script that knows how to run one in another release's folder."""
    name, origin, script = "postgresql", "debian experimental", HERE + "/../postgres/newest.sh"

    def cells(self, portable):
        """(its version, way, cell) for each way"""
        if not os.path.exists(self.script):
            raise Skip("this checkout has no tests/postgres/newest.sh")
        p = subprocess.run([self.script, portable, os.path.join(ROOTS, "postgres")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if p.returncode == 77:
            raise Skip(p.stdout.strip().splitlines()[-1].removeprefix("skipped, because "))
        # host, version, way, JIT, workers, samples, then the share on nodes, in classes of work, and of the executor's in either
        lines = [line.split() for line in p.stdout.splitlines() if line.startswith("PostgreSQL ")]
        for way, called in (("run", "preload"), ("attach", "attach"), ("inject", "inject")):
            shares = [float(line[8].rstrip("%")) for line in lines if line[2] == called]
            text = f"at least {min(shares):g} % of the executor on a node or in a class of work" if shares else "not tried by this way"
            yield lines[0][1] if lines else "", way, text if not shares and lines else ("wrong: " if p.returncode else "right: ") + text


class NewestInstaller(Installer):
    SECONDS = INSTALL_S

    def folder(self, kind, what):
        return os.path.join(ROOTS, kind, self.slug(what))

    def maven(self, row):
        """The newest version for this JDK that all artifacts have: in an older JDK, Graal's compiler compiles nothing.  A language that is
        not the project's stands behind the package's name."""
        said = shell(f"{self.java(row)} -version")
        jdk = re.search(r'version "([0-9.]+)', (said.stdout + said.stderr).decode()).group(1)
        words = " ".join(f"-Dgraal.language={language}" for language in row.package.split()[1:])
        listed = self.ask(f"mvn -B -f {JITS}/maven/pom.xml '-Dgraal.version=[1,{jdk}]' {words} dependency:list -DexcludeTransitive=true", "mvn")
        versions = re.findall(r"org\.graalvm\.\w+:[\w-]+:\w+:([0-9.]+):", listed)
        if not versions:
            raise Skip("mvn: it lists no version")
        return f"-Dgraal.version={min(versions, key=numbers)} {words}"

    def pip(self, row):
        return f"--only-binary :all: --pre --upgrade {row.pip}"

    @staticmethod
    def find_python(row):
        return find_python(*row.python, newest=True)

    def install(self, row):
        kind, _, what = row.package.partition(":")
        at, first = self.folder(kind, what), what.split()[0]
        if kind == "debian":
            if os.getuid():
                raise Skip("only root can run programs of another release")
            suite, _, names = what.partition(":")
            said = self.ask(f"{HERE}/debian_folder.sh {at} {suite} {' '.join(map(shlex.quote, names.split()))}", "Debian")
            return at, re.sub(r"^\d+:|-[^-]*$", "", said.strip())[:16]
        if row.jdk:
            self.java(row)
        self.fetch(row, kind, " ".join(name + "@latest" for name in what.split()) if kind == "npm" else what, at)
        if kind == "npm":
            with open(f"{at}/node_modules/{first}/package.json") as f:
                return at, json.load(f)["version"]
        if kind == "pypi":
            return at, self.ask(f"{at}/bin/python3 -c 'from importlib.metadata import version; print(version(\"{first}\"))'", "pip").strip()
        return at, re.search(r"polyglot-([0-9.]+)\.jar", " ".join(os.listdir(at + "/lib"))).group(1)

    def each(self, wanted):
        """(row, how to get its folder and version), in the order in which packages arrive, so that what takes long holds no other up."""
        packages, pools = {}, {}
        for row in wanted:
            packages.setdefault(row.package, []).append(row)
        try:
            fetches = {}
            for package, of in packages.items():
                pool = pools.setdefault(package.partition(":")[0], concurrent.futures.ThreadPoolExecutor(FETCHES))
                fetches[pool.submit(self.install, of[0])] = of
            for fetch in concurrent.futures.as_completed(fetches):
                for row in fetches[fetch]:
                    yield row, fetch.result
        finally:
            for pool in pools.values():
                pool.shutdown(cancel_futures=True)


class NewestBench(Bench):
    OPTIONS = "-q --stack 32768 --rate 2000"

    def __init__(self, build, samples):
        super().__init__(build, samples)
        self.bound = set()

    def bind(self, folder):
        """The build, these programs and /tmp, where they are here."""
        if folder not in self.bound:
            p = shell(f"{HERE}/debian_folder.sh --bind {folder} {self.build} {os.path.dirname(HERE)} /tmp")
            if p.returncode:
                raise ValueError(f"{folder}: {p.stderr.decode(errors='replace')[-200:]}")
            self.bound.add(folder)

    def shell_text(self, row, text, at, seconds):
        filled = self.fill(text, at, seconds)
        if not row.package.startswith("debian:"):
            return filled
        self.bind(at)
        return f"chroot {at} /bin/bash -c {shlex.quote(f'cd {self.dir} && ' + ('' if text == row.prepare else 'exec ') + filled)}"

    def enough(self, row, r):
        return super().enough(row, r) or r.total >= MOST * self.samples

    def run_options(self, row):
        return f"{self.OPTIONS} {row.options}"

    def on(self, level):
        """Samples in queries, and how many of them are on a component of this level; (...) is a class of work."""
        lines = shell(f"{self.tailor} report --samples {self.trace}").stdout.decode(errors="replace").splitlines()
        heads = lines[0].split("\t") if lines else []
        if "query" not in heads:
            return 0, 0
        split = [dict(zip(heads, line.split("\t"))) for line in lines[1:]]
        query = [s for s in split if s["query"]]
        return len(query), sum(bool(s.get(level)) and not s[level].startswith("(") for s in query)

    def functions(self, library):
        """Samples in this library, and those of them that have a function's name."""
        images = json.loads(shell(f"{self.tailor} report --view functions --top 0 --json {self.trace}").stdout)["tables"]["functions"]
        of = [f for f in images if library in os.path.basename(f["image"])]
        return sum(f["samples"] for f in of), sum(f["samples"] for f in of if not re.search(r"\+0x[0-9a-f]+$", f["name"]))

    def seen(self, row, way, r):
        """(what was seen, "" or what is wrong with it)"""
        if row.level or row.library:
            n, found = self.functions(row.library) if way in row.functions else self.on(row.level)
            what = "in named functions" if way in row.functions else f"on an {row.level}"
            text = f"{100 * found / max(n, 1):.1f} % of {n} {what}"
            return text, "" if n >= self.samples and 100 * found >= ON_OPERATORS * n else f"expected {ON_OPERATORS} %, got {text}"
        wrong = self.wrong(row, r, True)
        return f"{r.planted:.1f} % of {PLANTED} %" if r.planted is not None else "", wrong

    @staticmethod
    def said(row, r):
        """What tailor says is unavailable, the engine's operators or the code's names: the report's first sentence, or a notice of the host."""
        said = [*r.lacks, r.said, *(n["sentence"] for n in r.notices if n["kind"] in ("host", "names", "tag") and "unavailable" in n["sentence"])]
        said += re.findall(r"\w+: [^.]*? unavailable[^.]*\.", r.first)
        if row.library: # as the report says of the functions of one library
            said += [text for image, text in r.nameless.items() if row.library in os.path.basename(image)]
        about = re.compile("operators|instructions|statements|plan nodes|functions without" if row.level else "names|did not name|adapter")
        return next((re.sub(r" (?:in|of) process \d+", "", sentence) for sentence in said if about.search(sentence)), "")

    def cell(self, row, way, at):
        """What would be wrong is recorded again, for longer: on a busy machine much is interpreted for long."""
        wrong = ""
        for longer in (1, 3):
            row = copy.copy(row)
            row.seconds, row.warm_s = longer * row.seconds, longer * row.warm_s
            try:
                r = self.record(row, way, row.command, row.env, at)
            except (ValueError, subprocess.TimeoutExpired) as e:
                wrong = " ".join(str(e).split())
                continue
            text, wrong = self.seen(row, way, r)
            said = self.said(row, r)
            if not wrong or said:
                return f"said: {said}" if wrong else f"right: {text}"
        return f"wrong: {wrong}"

    def cells(self, row, at, version):
        """(its version, way, cell) for each way"""
        self.java = Installer.java(row)
        try:
            if row.prepare:
                self.prepare(row, at)
        except (ValueError, subprocess.TimeoutExpired) as e:
            raise Skip(" ".join(f"its program cannot be made: {e}".split())) from e
        for way in WAYS:
            yield version, way, self.cell(row, way, at)


class Table:
    """Rows of a page's table, of which those of the hosts that were run are new."""
    HEAD = "| host | version | from | date | run | attach | attach --inject |\n|---|---|---|---|---|---|---|\n"

    def __init__(self, path, order):
        self.path, self.order = path, order
        self.parts()

    def parts(self):
        with open(self.path) as f:
            before, mark, rest = f.read().partition(MARK)
        if not mark:
            raise SystemExit(f"{self.path}: it has no line that begins with {MARK}")
        line, _, rest = rest.partition("\n")
        table = re.match(r"\n*((?:\|.*\n)*)", rest)
        return f"{before}{mark}{line}\n\n", {text.split("|")[1].strip(): text for text in table.group(1).splitlines()[2:]}, rest[table.end():]

    def put(self, name, *cells):
        before, old, after = self.parts()
        old[name] = "| " + " | ".join(c.replace("|", "\\|") for c in (name, *cells)) + " |"
        with open(self.path, "w") as f:
            f.write(before + self.HEAD + "".join(old[n] + "\n" for n in self.order if n in old) + after)


def enter_namespace():
    """What is mounted in folders of Debian's hosts ends with this program."""
    if os.getuid() == 0 and ENTERED not in os.environ:
        os.environ[ENTERED] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("hosts", nargs="*")
    p.add_argument("--samples", type=int, default=SAMPLES)
    p.add_argument("--table")
    p.add_argument("--portable", help="the folder of make portable, which PostgreSQL's server needs")
    a = p.parse_intermixed_args()
    build = os.path.abspath(a.build)
    known = rows(build)
    names = [row.name for row in known]
    refuse_unknown(p, a.hosts, names + [name.split()[0] for name in names])
    enter_namespace()
    table = Table(a.table, names) if a.table else None
    b, installer = NewestBench(build, a.samples), NewestInstaller(build)
    wanted = [row for row in known if not a.hosts or row.name in a.hosts or row.name.split()[0] in a.hosts]

    def put(row, cells_of):
        version, cells = "", []
        try:
            for version, way, cell in cells_of():
                print(f"FIGURE {row.name:<16} {version:<16} {way:<7} {cell}", flush=True)
                cells.append(cell)
        except Skip as why:
            cells = [f"cannot be installed: {why}", "", ""]
            print(f"FIGURE {row.name:<16} {cells[0]}", flush=True)
        b.bad += sum(cell.startswith("wrong") for cell in cells)
        if table:
            table.put(row.name, version, row.origin, datetime.date.today().isoformat(), *cells)

    try:
        for row, get in installer.each([row for row in wanted if isinstance(row, Row)]):
            put(row, lambda row=row, get=get: b.cells(row, *get()))
        for row in wanted:
            if isinstance(row, Postgres):
                put(row, lambda row=row: row.cells(a.portable))
    finally:
        b.close()
    sys.exit(b.bad > 0)


if __name__ == "__main__":
    main()
