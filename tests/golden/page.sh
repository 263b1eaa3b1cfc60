#!/bin/bash
# SPDX-License-Identifier: MIT
# Pages of `tailor html`, read without a browser: nothing in them is fetched or runs but their own script, by hash; their data are
# complete, and add up to what `report --json` says, with filters too; an old page's data stay as they are; names cannot leave
# their place.
set -u
B=$1
out=$B/golden-page
rm -rf "$out"
mkdir -p "$out"
bad=0
if ! "$B/tailor" html -o "$out/v2.html" tests/golden/v2.tlr 2>"$out/error"; then
	grep -q 'this build has no page' "$out/error" && { echo "skipped, because $(sed 's/^[^:]*: //' "$out/error")"; exit 77; }
	cat "$out/error"
	exit 1
fi
"$B/tailor" html -o "$out/two.html" tests/golden/v1.tlr tests/golden/v2.tlr || bad=1
"$B/tailor" html -o "$out/new.html" "$out/two.html" || bad=1
cmp "$out/two.html" "$out/new.html" || { echo "tailor html OLD -o NEW: expected the same page from the same viewer"; bad=1; }
"$B/tailor" html -o "$out/filtered.html" --from 0.05 --component operator:'hash join' tests/golden/v2.tlr || bad=1
"$B/tailor" html -o "$out/all.html" --mark all tests/golden/v2.tlr || bad=1
"$B/tailor" html -o "$out/nothing.html" --from 100 tests/golden/v2.tlr || bad=1
"$B/tailor" html -o "$out/whatif.html" tests/golden/views/whatif.tlr || bad=1
"$B/tailor" html -t '</title><script>x()</script>' --no-stacks --no-addresses -o "$out/title.html" tests/golden/v2.tlr || bad=1

# A title has the first words of the command, without folders, and no part of a word.
titled() { # TITLE COMMAND
	/usr/bin/python3 - "$out/titled.tlr" "$2" <<'END'
import sys
sys.path.insert(0, "tests")
from trace_file import RECORDS, Trace, record
t = Trace(record("HEADER", 0, 2, "test", 0, "host", "x86_64", "6.1", 4, "/", [[w] for w in sys.argv[2].split()]))
t.add(RECORDS, record("EVENT", 0, 0, "task-clock", "ns", 1, 1, 0, 4000, 0, 0, 0, 0, "cpu", 0))
t.write(sys.argv[1])
END
	"$B/tailor" html -o "$out/titled.html" "$out/titled.tlr" || bad=1
	grep -qF "<title>$1</title>" "$out/titled.html" ||
		{ echo "page of '$2': expected the title '$1', got $(grep -o '<title>[^<]*' "$out/titled.html")"; bad=1; }
}
titled 'postgres -D data -c …' '/usr/lib/postgresql/15/bin/postgres -D /srv/shop/data -c shared_buffers=128MB'
titled 'node server.js' 'node server.js'
titled 'server.py --port 8000' '/srv/app/server.py --port 8000'

fails() { # STATUS WORDS ARGUMENTS: a sentence on stderr, and the output as it was
	local status=$1 words=$2
	shift 2
	echo before >"$out/kept.html"
	"$B/tailor" html "$@" >"$out/said" 2>&1
	local got=$?
	[ $got = "$status" ] && grep -q -- "$words" "$out/said" ||
		{ echo "tailor html $*: expected exit status $status and '$words', got $got: $(cat "$out/said")"; bad=1; }
}
fails 2 'no trace given' -o "$out/kept.html"
fails 2 'more than two' -o "$out/kept.html" a b c
fails 1 'No such file' -o "$out/kept.html" "$out/missing.tlr"
grep -q before "$out/kept.html" || { echo "tailor html of a missing trace: expected the old output untouched"; bad=1; }
echo '<!doctype html><title>x</title>' >"$out/other.html"
fails 1 'not a page' -o "$out/kept.html" "$out/other.html"
fails 1 'same file' -o "$out/v2.html" "$out/v2.html"
if mknod -m 600 "$out/full" c 1 7 2>/dev/null; then # (a device of ours: one that is removed is not missed)
	fails 1 'cannot be written: No space left on device' -o "$out/full" tests/golden/v2.tlr
	grep -q v2.tlr "$out/said" && { echo "tailor html to a full device: expected no word about the trace: $(cat "$out/said")"; bad=1; }
	[ -c "$out/full" ] || { echo "tailor html to a full device: expected it to stay"; bad=1; }
fi

# the beginning of a trace names its command, and the end of one is missing: what could be read is shown
/usr/bin/python3 - "$out" <<'END'
import sys
trace = open("tests/golden/v2.tlr", "rb").read()
open(sys.argv[1] + "/begin.tlr", "wb").write(trace[:40] + bytes(b ^ 255 for b in trace[40:400]) + trace[400:])
open(sys.argv[1] + "/end.tlr", "wb").write(trace[:-len(trace) // 3])
END
for damaged in begin end; do
	"$B/tailor" html -o "$out/$damaged.html" "$out/$damaged.tlr" 2>"$out/said"
	[ $? = 1 ] && grep -q 'could be read' "$out/said" && grep -q 'tailor-0-facts' "$out/$damaged.html" &&
		grep -q '</html>' "$out/$damaged.html" ||
		{ echo "tailor html $damaged.tlr: expected exit status 1, a sentence and a page, got $(cat "$out/said")"; bad=1; }
done

# without esbuild there is no page, and a sentence
mkdir -p "$out/bin"
for tool in mkdir clang cat sha256sum; do ln -sf "$(command -v "$tool" || echo /bin/false)" "$out/bin/"; done
PATH=$(realpath "$out/bin") /bin/bash analyzer/page/build.sh "$out/none" 2>"$out/said" ||
	{ echo "build.sh without esbuild: expected exit status 0"; bad=1; }
grep -q 'esbuild is missing' "$out/said" && [ -e "$out/none/head.html" ] && [ ! -s "$out/none/head.html" ] ||
	{ echo "build.sh without esbuild: expected an empty page and a sentence, got $(cat "$out/said")"; bad=1; }

/usr/bin/python3 - "$B/tailor" "$out" <<'END' || bad=1
import base64, collections, gzip, hashlib, html.parser, json, math, os, re, struct, subprocess, sys

tailor, out = sys.argv[1:]
bad = 0
def check(what, ok, got=""):
    global bad
    if not ok:
        bad = 1
        print(f"{what}{': ' + str(got)[:300] if got != '' else ''}")

class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.blocks, self.scripts, self.styles, self.csp, self.title, self.open, self.faults = {}, [], [], None, "", None, []
        self.path = path
        self.feed(open(path, encoding="utf-8").read())
    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.open = (tag, a)
        self.faults += [f"{tag} {k}" for k in a if k.startswith("on") or k in ("src", "href", "style", "action", "srcset")]
        if a.get("http-equiv") == "Content-Security-Policy":
            self.csp = a["content"]
        if tag in ("img", "link", "iframe", "object", "embed", "base"):
            self.faults.append(tag)
    def handle_endtag(self, tag):
        self.open = None
    def handle_data(self, data):
        tag, a = self.open or (None, {})
        if tag == "script" and a.get("type"):
            self.blocks[a["id"]] = data
        elif tag in ("script", "style", "title"):
            {"script": self.scripts, "style": self.styles}.get(tag, []).append(data)
            self.title += data if tag == "title" else ""
    def bytes(self, name):
        return gzip.decompress(base64.b64decode(self.blocks[name], validate=True))
    def facts(self, trace=0):
        return json.loads(self.bytes(f"tailor-{trace}-facts"))
    def column(self, name, facts, trace=0, key=None):
        about, nr = facts["columns"][name], facts["rows"]
        planes = self.bytes(f"tailor-{trace}-{name}") if about["planes"] else b""
        check(f"{self.path}: column {name}", len(planes) == about["planes"] * nr, len(planes))
        numbers = [sum(planes[p * nr + i] << 8 * p for p in range(about["planes"])) for i in range(nr)]
        last = collections.Counter()
        for i in range(nr if about["kind"] != "plain" else 0):
            k = key[i] if about["kind"] == "keyed" else 0
            last[k] = last[k] + ((numbers[i] >> 1) ^ -(numbers[i] & 1)) & (1 << 64) - 1
            numbers[i] = last[k]
        check(f"{self.path}: column {name} is wider than it says", all(n < 1 << 8 * about["width"] for n in numbers))
        return numbers

def sha(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"

# ------------------------------------------------------------------------------------------------ nothing from elsewhere
for name in "v2", "two", "filtered", "nothing", "title":
    p = Page(f"{out}/{name}.html")
    check(f"{name}: attributes or elements that fetch or run", not p.faults, p.faults)
    check(f"{name}: one script and one style", len(p.scripts) == 1 and len(p.styles) == 1, (len(p.scripts), len(p.styles)))
    rules = dict(r.strip().split(" ", 1) for r in p.csp.split(";"))
    check(f"{name}: default-src", rules["default-src"] == "'none'", p.csp)
    check(f"{name}: script-src", rules["script-src"] == f"{sha(p.scripts[0])} 'wasm-unsafe-eval'", p.csp)
    check(f"{name}: style-src", rules["style-src"] == sha(p.styles[0]), p.csp)
    check(f"{name}: img-src", rules["img-src"] == "data: blob:", p.csp)
    check(f"{name}: code larger than 300 KB", len(gzip.compress((p.scripts[0] + p.styles[0]).encode())) < 300e3)
p = Page(f"{out}/title.html")
check("title", p.title == "</title><script>x()</script>", p.title)
check("--no-addresses, --no-stacks", not {"tailor-0-address", "tailor-0-stack"} & set(p.blocks), list(p.blocks))

# ------------------------------------------------------------------------------------------------- numbers of the report
def numbers(p, trace=0):
    f = p.facts(trace)
    check(f"{p.path}: format", f["format"] == 1 and f["end"])
    way, event, place = (p.column(n, f, trace) for n in ("way", "event", "place"))
    time = p.column("time", f, trace)
    check(f"{p.path}: rows in the order of time", time == sorted(time))
    for n in "thread", "cpu", "phase", "memory":
        if n in f["columns"]:
            p.column(n, f, trace)
    if "address" in f["columns"]:
        p.column("address", f, trace, key=place)
    weight = p.column("weight", f, trace)
    sums = collections.defaultdict(lambda: [0.0, 0.0])
    for row in range(f["rows"]):
        w, share = way[row], f["ways"]["share"][way[row]]
        if event[row] != f["event"]:
            continue
        value = weight[row] if f["columns"]["weight"]["numbers"] else f["weights"][weight[row]]
        keys = [("total",), ("method", f["methods"][f["ways"]["method"][w]][0]), ("function", f["places"]["function"][place[row]])]
        keys += [("component", l, f["ways"]["level"][l][w]) for l in range(len(f["levels"]))]
        for k in keys:
            sums[k][0] += share
            sums[k][1] += share * value
    return f, sums

def compare(p, trace, *arguments):
    f, sums = numbers(p, trace)
    r = json.loads(subprocess.run([tailor, "report", "--json", *arguments], capture_output=True, check=True).stdout)
    near = lambda a, b: math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-6)
    check(f"{p.path}: total of {arguments}", near(sums[("total",)][0], r["samples"]["total"]), (sums[("total",)], r["samples"]["total"]))
    for m, n in r["methods"].items():
        check(f"{p.path}: method {m}", near(sums[("method", m)][0], n), (sums[("method", m)], n))
    level = {l["name"]: i for i, l in enumerate(f["levels"])}
    ids = {(f["components"]["level"][int(i)], int(x, 16)): int(i) for i, x in f["components"]["id"].items()}
    for c in r["components"]:
        got = sums[("component", level[c["level"]], ids[(level[c["level"]], c["id"])])] if (level[c["level"]], c["id"]) in ids else None
        if got:
            check(f"{p.path}: {c['level']} {c['name']}", near(got[0], c["samples"]) and near(got[1], c["weight"]), (got, c))
    functions = collections.Counter()
    for (kind, *rest), s in list(sums.items()):
        if kind == "function":
            functions[f["functions"]["name"][rest[0]]] += s[0]
    for fn in r["functions"]:
        functions[fn["name"]] -= fn["samples"]
    check(f"{p.path}: functions", all(abs(n) < 1e-6 for n in functions.values()), [x for x in functions.items() if abs(x[1]) > 1e-6][:3])
    return f

f = compare(Page(f"{out}/v2.html"), 0, "tests/golden/v2.tlr")
check("a plan with places", f["plans"] and all(len(n) == 4 for n in f["plans"][0]["nodes"]) and f["plans"][0]["columns"] >= 1, f["plans"])
nodes = f["plans"][0]["nodes"]
check("no two operators in one place", len({(n[2], n[3]) for n in nodes}) == len(nodes), nodes)
check("texts and machine code", f["sources"] and f["listings"], (len(f["sources"]), len(f["listings"])))
two = Page(f"{out}/two.html")
compare(two, 0, "tests/golden/v1.tlr")
compare(two, 1, "tests/golden/v2.tlr")
compare(Page(f"{out}/filtered.html"), 0, "--from", "0.05", "--component", "operator:hash join", "tests/golden/v2.tlr")
# predictions and vectors are those of the commands, where a trace has context switches
check("a page is of the run phase where its report is", [f["run_phase"], Page(f"{out}/all.html").facts()["run_phase"]] == [True, False])
whatif, trace = Page(f"{out}/whatif.html").facts()["whatif"], "tests/golden/views/whatif.tlr"
def tables(*arguments):
    return json.loads(subprocess.run([tailor, *arguments, "--json", trace], capture_output=True, check=True).stdout)["tables"]
sweep = tables("whatif", "--cores", "1..8")
check("predictions of a page", whatif["verdict"]["tables"] == {**tables("whatif"), **sweep}, whatif["verdict"])
check("resources of a page", whatif["resources"]["tables"] == tables("report", "--view", "resources"), whatif["resources"])
check("critical path of a page", whatif["critical"]["tables"] == tables("report", "--view", "critical"), whatif["critical"])
check("no context switches, no predictions", f["whatif"] is None, f["whatif"])
nothing = Page(f"{out}/nothing.html").facts()
check("a page without samples", nothing["rows"] == 0)
check("its sentence", "no samples that pass" in open(f"{out}/nothing.html").read())
for name, most in ("v2", 340), ("nothing", 330):
    size = os.path.getsize(f"{out}/{name}.html")
    check(f"{name}.html is larger than {most} KB", size < most * 1000, size)
sys.exit(bad)
END
exit $bad
