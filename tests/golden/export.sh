#!/bin/bash
# SPDX-License-Identifier: MIT
# speedscope-schema.json: file-format-schema.json of the npm package speedscope 1.x (MIT licence, Jamie Wong).
# Every format of `tailor export`, read back as its consumers read it: the same samples come out, names survive, and what does not
# belong into a format is escaped.
set -u
B=$1
out=$B/golden-export
rm -rf "$out"
mkdir -p "$out"
bad=0
formats=$("$B/tailor" help export | sed -n '/^Formats/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "$(echo "$formats" | wc -l)" -ge 9 ] || { echo "tailor help export: expected a list of formats, got: $formats"; exit 1; }
for format in $formats; do
	if ! "$B/tailor" export --overwrite --format "$format" -o "$out/$format" tests/golden/v1.tlr; then
		echo "tailor export --format $format: failed"
		bad=1
	fi
	cmp -s "$out/$format" <("$B/tailor" export -f "$format" tests/golden/v1.tlr) ||
		{ echo "$format: -o FILE and standard output differ"; bad=1; }
done
# Formats whose frames are functions say how the plan is exported.
for format in $formats; do
	said=$("$B/tailor" export -f "$format" tests/golden/v1.tlr 2>&1 >/dev/null
		"$B/tailor" export -f "$format" --level operator tests/golden/v1.tlr 2>&1 >/dev/null)
	case $format in
	folded | flamegraph | speedscope | firefox | pprof)
		[[ $said == *"frames are functions; --level operator exports the plan, which has "*" % of the samples" ]] ;;
	*) [[ $said != *"frames are"* ]] ;;
	esac || { echo "$format: expected a sentence about the plan where frames are functions, got: $said"; bad=1; }
done
"$B/tailor" export --overwrite --format folded --level operator -o "$out/operators" tests/golden/v1.tlr || bad=1
"$B/tailor" export --overwrite --format firefox --from 0.1058 -o "$out/no-samples" tests/golden/v1.tlr || bad=1
"$B/tailor" export --overwrite --format firefox --from 0.05 --to 0.06 -o "$out/few-samples" tests/golden/v1.tlr || bad=1
"$B/tailor" export --overwrite --format perfetto --from 0.05 --to 0.06 -o "$out/few-slices" tests/golden/v1.tlr || bad=1
for args in "--format nothing" "" "--format folded tests/golden/v1.tlr tests/golden/v1.tlr" \
	"--format folded --from 2 --to 1 tests/golden/v1.tlr"; do
	# shellcheck disable=SC2086
	"$B/tailor" export $args >/dev/null 2>&1
	[ $? = 2 ] || { echo "tailor export $args: expected exit 2"; bad=1; }
done

FORMATS=$formats /usr/bin/python3 - "$out" <<'END' || bad=1
import csv, json, os, struct, sys
import xml.etree.ElementTree as xml
sys.path.insert(0, "tests/golden")
from protobuf import fields, varints

try:
    import jsonschema
except ImportError:
    sys.exit("python3-jsonschema is not installed: make deps-check")

out, bad, seen = sys.argv[1], 0, set()
TOTAL = 113

def check(format, what, got, expected):
    global bad
    seen.add(format)
    if got != expected:
        print(f"{format}: {what}: expected {expected!r}, got {got!r}")
        bad = 1

def text(name):
    return open(f"{out}/{name}", encoding="utf-8").read()

# folded
lines = [l.rsplit(" ", 1) for l in text("folded").splitlines()]
check("folded", "weights", sum(int(n) for _, n in lines), round(sum(float(r["weight"]) * float(r["share"])
                                                                  for r in csv.DictReader(open(f"{out}/csv")))))
check("folded", "a generated function", any(s.endswith("pipeline_3") for s, _ in lines), True)
operators = dict((s, int(n)) for s, n in (l.rsplit(" ", 1) for l in text("operators").splitlines()))
check("folded", "operators", operators.get("scan lineitem"), 7 * 3000001)

# flamegraph: well-formed, and the boxes of the lowest row are all samples
svg = xml.fromstring(text("flamegraph"))
boxes = [g for g in svg.iter("{http://www.w3.org/2000/svg}g") if g.get("class") == "f"]
root = [g for g in boxes if g.get("data-d") == "0"]
check("flamegraph", "roots", len(root), 1)
check("flamegraph", "root", root[0].find("{http://www.w3.org/2000/svg}title").text.startswith(f"(all) ({TOTAL} samples"), True)
ones = [g for g in boxes if g.get("data-d") == "1"]
check("flamegraph", "width of the row above", round(sum(float(g.get("data-w")) for g in ones)), 1180)

# speedscope: indexes are of frames, weights and samples go together
j = json.loads(text("speedscope"))
frames = j["shared"]["frames"]
jsonschema.validate(j, json.load(open("tests/golden/speedscope-schema.json")))
check("speedscope", "schema", j["$schema"], "https://www.speedscope.app/file-format-schema.json")
check("speedscope", "samples", sum(len(p["samples"]) for p in j["profiles"]), TOTAL)
check("speedscope", "indexes", all(0 <= f < len(frames) for p in j["profiles"] for s in p["samples"] for f in s), True)
check("speedscope", "end", all(sum(p["weights"]) == p["endValue"] and len(p["weights"]) == len(p["samples"])
                               for p in j["profiles"]), True)

# firefox: tables are as long as they say, indexes lie in them
j = json.loads(text("firefox"))
check("firefox", "samples", sum(t["samples"]["length"] for t in j["threads"]), TOTAL)
shared = j["shared"]
for name, table in [*shared.items(), *((name, t[name]) for t in j["threads"] for name in ("samples", "markers"))]:
    if name != "stringArray":
        lengths = {len(v) for v in table.values() if isinstance(v, list)}
        check("firefox", f"length of {name}", lengths, {table["length"]})
for name, column, to in (("stackTable", "frame", "frameTable"), ("frameTable", "func", "funcTable")):
    check("firefox", f"{column} of {name}", all(0 <= i < shared[to]["length"] for i in shared[name][column]), True)
check("firefox", "columns of frameTable", set(shared["frameTable"]) - {"length"},
      {"address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID", "line", "column"})
check("firefox", "prefixes come first", all(p is None or p < i for i, p in enumerate(shared["stackTable"]["prefix"])), True)
check("firefox", "functions stand there once", len(set(shared["funcTable"]["name"])), shared["funcTable"]["length"])
for t in j["threads"]:
    check("firefox", "stacks", all(s is None or 0 <= s < shared["stackTable"]["length"] for s in t["samples"]["stack"]), True)
    check("firefox", "names", all(0 <= n < len(shared["stringArray"]) for n in shared["funcTable"]["name"] + t["markers"]["name"]), True)
check("firefox", "marks", sum(t["markers"]["length"] for t in j["threads"]), 61)


def range_of(j): # it has all samples and marks
    times = [time for t in j["threads"] for time in t["samples"]["time"] + t["markers"]["startTime"] + t["markers"]["endTime"]]
    check("firefox", "beginning", j["meta"]["profilingStartTime"], min(times))
    check("firefox", "end", j["meta"]["profilingEndTime"] - max(times) <= 1, True)
    check("firefox", "end, of marks", j["meta"]["profilingEndTime"] >= max(times), True)


range_of(j)

every = [m for t in j["threads"] for m in zip(t["markers"]["startTime"], t["markers"]["endTime"])]
first = min(t["samples"]["time"][0] for t in j["threads"])
between = [m for m in every if m[1] >= first + 50 and m[0] < first + 60] # what --from 0.05 --to 0.06 leaves, wholly or in part
check("firefox", "marks to choose from", 0 < len(between) < len(every), True)
j = json.loads(text("few-samples"))
check("firefox", "marks in the range", [m for t in j["threads"] for m in zip(t["markers"]["startTime"], t["markers"]["endTime"])], between)
range_of(j)
j = json.loads(text("no-samples")) # a mark that ends behind the last sample is still there
check("firefox", "marks without samples", [t["markers"]["length"] for t in j["threads"] if not t["samples"]["length"]], [1])
range_of(j)

# perfetto: Chrome's JSON
j = json.loads(text("perfetto"))
slices = [e for e in j["traceEvents"] if e["ph"] == "X"]
check("perfetto", "marks", sum(e["cat"] == "mark" for e in slices), 61)
check("perfetto", "marks in the range", sum(e.get("cat") == "mark" for e in json.loads(text("few-slices"))["traceEvents"]), len(between))
wanted = {"hash join (o_orderkey = l_orderkey)", "scan lineitem"}
check("perfetto", "operators", wanted <= {e["name"] for e in slices if e["cat"] == "samples"}, True)
check("perfetto", "times", all(e["ts"] >= 0 and e["dur"] >= 0 for e in slices), True)
# of a track, slices lie in each other or apart: Perfetto leaves out the others
tracks, named = {}, {(e["pid"], e.get("tid")) for e in j["traceEvents"] if e["name"] == "thread_name"}
for e in slices:
    tracks.setdefault((e["pid"], e["tid"]), []).append((round(e["ts"] * 1000), -round(e["dur"] * 1000)))
for track, its in tracks.items():
    check("perfetto", f"name of track {track}", track in named, True)
    ends = []
    for begin, length in sorted(its):
        while ends and ends[-1] <= begin:
            ends.pop()
        check("perfetto", f"nesting at {begin}", not ends or begin - length <= ends[-1], True)
        ends.append(begin - length)

# pprof
profile = list(fields(open(f"{out}/pprof", "rb").read()))
strings = [v.decode() for f, v in profile if f == 6]
locations = {dict(fields(v))[1] for f, v in profile if f == 4}
samples = [list(fields(v)) for f, v in profile if f == 2]
check("pprof", "first string", strings[0], "")
check("pprof", "samples", sum(next(varints(dict(s)[2])) for s in samples), TOTAL)
check("pprof", "locations", all(set(varints(dict(s).get(1, b""))) <= locations for s in samples), True)
check("pprof", "names", "pipeline_3" in strings, True)

# otlp: golden/otlp.sh has it decoded
request = [f for f, _ in fields(open(f"{out}/otlp", "rb").read())]
check("otlp", "processes and a dictionary", set(request), {1, 2})

# csv: shares add up to all samples
rows = list(csv.DictReader(open(f"{out}/csv", encoding="utf-8")))
check("csv", "samples", round(sum(float(r["share"]) for r in rows), 4), TOTAL)
check("csv", "operators", round(sum(float(r["share"]) for r in rows if r["operator"] == "scan lineitem"), 4), 7)

# json: the report's stable keys
j = json.loads(text("json"))
check("json", "samples", j["samples"]["total"], TOTAL)
jsonschema.validate(j, json.load(open("analyzer/export/report.schema.json")))
view_schema = json.load(open("analyzer/export/view.schema.json"))
for name in sorted(os.listdir("tests/golden/views")):
    if name.endswith(".json"):
        jsonschema.validate(json.load(open(f"tests/golden/views/{name}")), view_schema)

# jitdump: header, then records that end where the file does
data = open(f"{out}/jitdump", "rb").read()
magic, version, size, machine, _, pid, _, _ = struct.unpack_from("<IIIIIIQQ", data, 0)
check("jitdump", "header", (magic, version, size, machine, pid), (0x4a695444, 1, 40, 62, 11104))
at, names, lines = size, [], 0
while at < len(data):
    id_, bytes_, _ = struct.unpack_from("<IIQ", data, at)
    body = data[at + 16:at + bytes_]
    if id_ == 0:
        length = struct.unpack_from("<IIQQQQ", body)[4]
        names.append(body[40:].split(b"\0")[0].decode())
        check("jitdump", "bytes of code", len(body), 40 + len(names[-1]) + 1 + length)
    elif id_ == 2:
        lines += struct.unpack_from("<QQ", body)[1]
    at += bytes_
check("jitdump", "functions", "pipeline_3" in names, True)
check("jitdump", "lines", lines > 50, True)
check("jitdump", "end", at, len(data))

missing = set(os.environ["FORMATS"].split()) - seen
check("all", "formats without a check", missing, set())
sys.exit(bad)
END

[ $bad = 0 ] && echo "$(echo "$formats" | wc -l) formats read back"
exit $bad
