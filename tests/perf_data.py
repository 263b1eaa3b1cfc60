# SPDX-License-Identifier: MIT
"""perf_data.py TAILOR FOLDER: compares what `tailor import` makes of each perf.data file in FOLDER with what Debian's perf lists of it: the
samples (process, thread, time, instruction), their recorded call chains, the programs, and the number of samples of each event.  A file is
equal, or refused in a sentence, or perf cannot read it; all else is WRONG, and the exit status is 1.

perf_data.py TAILOR --make FOLDER: records files with forty sets of options into FOLDER first.  What this perf, or this machine, cannot
record is named.  ONLY=TEXT: files whose name has it."""
import collections, json, os, re, shutil, signal, subprocess, sys

TIMEOUT_S = 300
CONTEXTS = 0xfffffffffffff000  # marks of perf in chains, from PERF_CONTEXT_MAX on
CPUS_MAX = 65536
WORK = "s = 0\nfor i in range(1500000): s = s * 31 % 1000003 + i"
# Two threads, so that chains, switches and forks have something to say.
TWICE = f"import threading as t\ndef f():\n {WORK.replace(chr(10), chr(10) + ' ')}\n" \
        "for x in [t.Thread(target=f) for _ in (1, 2)]: x.start()"
MADE = {  # name -> options of `perf record`; "| -": through a pipe; "| gzip": packed; "| inject OPTIONS", "| - inject OPTIONS": by perf inject
    "plain": "", "fixed-period": "-c 2000000", "frame-pointers": "-g", "dwarf": "--call-graph dwarf,8192", "lbr": "--call-graph lbr",
    "whole-machine": "-a -g", "pipe": "-g | -", "pipe-compressed": "-z | -", "compressed": "-z -g", "several-events":
    "-e cpu-clock -e page-faults -e context-switches -g", "first-without-samples": "-e major-faults -e cpu-clock", "group":
    "-e {cpu-clock,page-faults}", "group-read": "-e {cpu-clock,page-faults}:S", "monotonic": "-k mono -g", "per-thread": "--per-thread",
    "per-thread-times": "--per-thread -T -g", "kernel-symbols": "-a --all-kernel -g", "switches": "--switch-events", "no-inherit":
    "--no-inherit", "addresses": "-d -e page-faults -c 1", "user": "--all-user -g", "branches": "-b", "packed": "| gzip",
    "build-ids-in-mappings": "--buildid-mmap", "monotonic-in-full": "--clockid monotonic", "most-often": "-F max", "sample-cpu":
    "--sample-cpu -g",
    "data": "--data", "physical-addresses": "--phys-data -e page-faults -c 1", "counts-of-threads": "-s", "unbuffered": "--no-buffering",
    "compressed-least": "-z1 -g", "compressed-most": "-z22", "group-read-chains": "-e {cpu-clock,task-clock}:S -g", "control-groups":
    "--all-cgroups -a", "of-a-control-group": "-a -G /", "phases-of-a-page": "-e page-faults -c 1 -d -g", "injected-build-ids": "| inject -b",
    "injected-jit": "-k mono | inject --jit", "injected-sched": "--switch-events | inject -s", "pipe-injected": "-g | - inject -b",
    "threads": "--threads",
}


def run(*command, **options):
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, stdin=subprocess.DEVNULL,
                              **options)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -signal.SIGKILL, "", f"not ended after {TIMEOUT_S} s")


def make(folder):
    """Records each form, and prints those that cannot be recorded here."""
    os.makedirs(folder, exist_ok=True)
    for name, line in MADE.items():
        options, _, how = (part.strip() for part in line.partition("|"))
        event = [] if "-e" in options.split() else ["-e", "cpu-clock"]
        target = f"{folder}/{name}.data"
        command = ["perf", "record", "-F", "1000", *event, *options.split()]
        if {"-c", "-F"} & set(options.split()):
            command[2:4] = []
        program = ["/usr/bin/python3", "-c", TWICE]
        inject = how.removeprefix("- ").split()[1:] if "inject" in how else []
        if inject and how[0] == "-":
            with open(target, "wb") as out:
                recorder = subprocess.Popen([*command, "-o", "-", *program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                p = subprocess.run(["perf", "inject", *inject], stdin=recorder.stdout, stdout=out, stderr=subprocess.PIPE, text=True)
                recorder.wait()
        elif inject:
            p = run(*command, "-o", target + ".before", *program)
            p = p if p.returncode else run("perf", "inject", *inject, "-i", target + ".before", "-o", target)
            os.unlink(target + ".before")
        elif how == "-":
            with open(target, "wb") as out:
                p = subprocess.run([*command, "-o", "-", *program], stdout=out, stderr=subprocess.PIPE, text=True)
        else:
            p = run(*command, "-o", target, *program)
        if p.returncode or not os.path.exists(target) or not os.path.getsize(target):
            print(f"{name:24} left out    perf record {options}: {' '.join(p.stderr.split())[:120]}")
            if os.path.isdir(target):
                shutil.rmtree(target)
            elif os.path.exists(target):
                os.unlink(target)
        elif how == "gzip":
            run("gzip", "-f", target)


class Sample:
    def __init__(self, pid, tid, ip, time_ns):
        self.pid, self.tid, self.ip, self.time_ns, self.kernel, self.user, self.comm = pid, tid, ip, time_ns, (), None, ""

    def add_chain(self, words):
        """Splits a recorded chain by its marks.  Frames before the first mark have none."""
        self.has_chain, part, parts = True, None, {"kernel": [], "user": None}
        for word in words:
            if word >= CONTEXTS:
                part = {2**64 - 128: "kernel", 2**64 - 512: "user"}.get(word)
                if part == "user":
                    parts["user"] = []
            elif part:
                parts[part].append(word)
        self.kernel, self.user = tuple(parts["kernel"]), None if parts["user"] is None else tuple(parts["user"])


RAW = re.compile(r"(?:(\d+) )?(?:(\d+) )?0x[0-9a-f]+ \[0x[0-9a-f]+\]: PERF_RECORD_SAMPLE\(\w+, 0x[0-9a-f]+\): (-?\d+)/(-?\d+): "
                 r"(?:0x)?([0-9a-f]+)")


def perfs_samples(path):
    """What `perf script -D` dumps: the samples, whether they are read of groups (one record for several), and names of processes."""
    p = run("perf", "script", "-D", "-i", path, "-F", "tid")
    samples, left, words, grouped, names = [], 0, [], False, collections.defaultdict(set)
    for line in p.stdout.splitlines():
        if left:
            m = re.match(r"\.+ *\d+: ([0-9a-f]+)$", line.strip())
            if m:
                words.append(int(m[1], 16))
                left -= 1
            else:
                left = 0
            if not left:
                samples[-1].add_chain(words)
            continue
        m = re.search(r"PERF_RECORD_COMM( exec)?: (.*):(\d+)/(\d+)$", line)
        if m and m[3] == m[4]:
            names[int(m[3])].add(m[2])
            names["execs"].update([m[3]] if m[1] else [])
        m = RAW.search(line) if "PERF_RECORD_SAMPLE" in line else None
        if m:
            time = int(m[2] or m[1] or 0)  # in front of it is the processor, which may stand alone
            samples.append(Sample(int(m[3]) & 0xffffffff, int(m[4]) & 0xffffffff, int(m[5], 16), time if CPUS_MAX < time < 2**63 else None))
        elif samples and (m := re.match(r"\.\.\. (?:FP|LBR) chain: nr:(\d+)", line.strip())):
            left, words = int(m[1]), []
            if not left:
                samples[-1].add_chain([])
        elif samples and (m := re.match(r" \.\.\. thread: (.*):(\d+)$", line)):
            samples[-1].comm = m[1]
        elif samples and (m := re.match(r" \.{6} dso: (/.*)$", line)):
            names[samples[-1].pid].add(os.path.basename(m[1]))  # a program may give itself another name
        grouped |= "sample_read:" in line or "group nr" in line
    for s in samples:
        names[s.pid].add(s.comm)
    return samples, grouped, names, p.stderr


def perfs_events(path):
    p = run("perf", "script", "-i", path, "-F", "event,tid,pid", "-G")
    return collections.Counter(m[1] for m in re.finditer(r"^\s*-?\d+/-?\d+\s+(.*?):\s*$", p.stdout, re.M))


def our_samples(tailor, trace):
    samples, events = [], collections.Counter()
    p = run(tailor, "dump", "--samples", "--json", trace)
    names = {}
    for line in p.stdout.splitlines():
        r = json.loads(line)
        if r.get("record") == "EVENT":
            names[r["fields"]["event"]] = r["fields"]["name"]
        if "sample" not in r:
            continue
        s = Sample(r["pid"], r["tid"], r["ip"], r["time_ns"])
        user = r.get("registers", {}).get("8")
        callers = tuple(r.get("chain") or ())
        s.user = (user, *callers) if user is not None else callers or None
        s.kernel = (r["ip"], *r.get("kernel_chain", ())) if r["mode"] == "kernel" else ()
        samples.append(s)
        events[r["event"]] += 1
    return samples, collections.Counter({names.get(event, f"event {event}"): n for event, n in events.items()})


def compare_samples(theirs, ours, grouped, has_times, wrong):
    base = [min((s.time_ns for s in x if s.time_ns), default=0) for x in (theirs, ours)]

    def keys(samples, shift):
        found = collections.Counter()
        for s in samples:
            found[s.pid, s.tid, (s.time_ns - shift) // 1000 if has_times else 0, s.ip] += 1
        return collections.Counter(dict.fromkeys(found, 1)) if grouped else found
    a, b = keys(theirs, base[0]), keys(ours, base[1])
    for what, extra in (("perf alone has", a - b), ("we alone have", b - a)):
        if extra:
            pid, tid, time_us, ip = next(iter(extra))
            wrong.append(f"{what} {sum(extra.values())} samples, as one of {pid}/{tid} at {ip:#x}, {time_us} us")
    return a


def compare_chains(theirs, ours, has_times, wrong):
    """Chains of samples that both have once."""
    base = [min((s.time_ns for s in x if s.time_ns), default=0) for x in (theirs, ours)]

    def by_key(samples, shift):
        found = {}
        for s in samples:
            key = (s.pid, s.tid, (s.time_ns - shift) if has_times else 0, s.ip)
            found[key] = None if key in found else s
        return {k: s for k, s in found.items() if s}
    a, b, compared, differ = by_key(theirs, base[0]), by_key(ours, base[1]), 0, []
    for key, s in a.items():
        mine = b.get(key)
        if not mine or not hasattr(s, "has_chain"):
            continue
        compared += 1
        if (s.kernel and mine.kernel != s.kernel) or (s.user and (mine.user or ()) != s.user):
            differ.append((s, mine))
    if differ:
        s, mine = differ[0]
        text = [" ".join(f"{x:x}" for x in chain or ()) for chain in (s.kernel, s.user, mine.kernel, mine.user)]
        wrong.append(f"{len(differ)} of {compared} chains differ, as [{text[0]} | {text[1]}], we [{text[2]} | {text[3]}]")
    return compared


def is_library(path):
    return re.search(r"\.so(\.|$| )", os.path.basename(path)) is not None


def compare_programs(tailor, trace, events, names, wrong):
    compared = set()
    for event in events:
        p = run(tailor, "report", "--view", "processes", "--top", "0", "--json", "--mark", "all", "--event", event, trace)
        if p.returncode:
            wrong.append(f"report --event {event}: {p.stderr.strip()}")
            continue
        for row in json.loads(p.stdout)["tables"]["processes"]:
            comms = names.get(row["pid"], set())
            program = os.path.basename(row["executable"] or "").removesuffix(" (deleted)")
            compared.add(row["pid"])
            # where execs are marked, a process without one that is named as its program has given itself another name later
            renamed = names["execs"] and str(row["pid"]) not in names["execs"] and row["comm"] == program[:15]
            if comms and not renamed and row["comm"] not in comms and program not in comms and not any(c.startswith(":") for c in comms):
                wrong.append(f"process {row['pid']}: perf has {sorted(comms)[:3]}, we {row['comm']} ({program})")
            elif is_library(program) and row["comm"] != program[:15]:
                wrong.append(f"process {row['pid']} ({row['comm']}): its program is said to be {row['executable']}")
    return len(compared)


def decide(tailor, path, trace):
    p = run(tailor, "import", "-o", trace, path)
    said = " / ".join(s.removeprefix("tailor import: ").replace(path, "FILE") for s in p.stderr.strip().splitlines())
    if p.returncode not in (0, 1):
        return "WRONG", f"import: status {p.returncode}: {said}"
    if p.returncode:
        one = len(p.stderr.strip().splitlines()) == 1
        unnamed = said.endswith("is not a perf.data file") and perfs_samples(path)[0]
        return ("refused" if one and not unnamed else "WRONG"), said
    theirs, grouped, names, error = perfs_samples(path)
    ours, our_events = our_samples(tailor, trace)
    report = run(tailor, "report", trace)
    if report.returncode:
        return "WRONG", f"report: status {report.returncode}: {report.stderr.strip()[:200]}"
    if ours and "No samples" in report.stdout:
        return "WRONG", f"{len(ours)} samples, and the report says: {' '.join(report.stdout.split())[:150]}"
    if not theirs:
        return "perf cannot", f"read it ({' '.join(error.split())[:80]}); we: {len(ours)} samples; {said}"
    wrong, has_times = [], all(s.time_ns for s in theirs)
    compare_samples(theirs, ours, grouped, has_times, wrong)
    chains = compare_chains(theirs, ours, has_times, wrong) if has_times else 0
    events = perfs_events(path)
    mine = sorted(our_events.values())
    if events and sorted(events.values()) != mine:
        wrong.append(f"events: perf has {dict(events)}, we {dict(our_events)}")
    programs = compare_programs(tailor, trace, our_events, names, wrong)
    text = f"{len(ours)} samples, {chains} chains, {programs} processes, {len(our_events)} events"
    return ("WRONG", " | ".join(wrong[:6])) if wrong else ("equal", text)


def main():
    tailor, *rest = sys.argv[1:]
    if not shutil.which("perf"):
        print("skipped, because perf is not installed (linux-perf)")
        return 77
    if rest[0] == "--make":
        rest.pop(0)
        make(rest[0])
    verdicts, trace = collections.Counter(), f"/tmp/perf_data.{os.getpid()}.tlr"
    folders = [at for at, _, names in os.walk(rest[0]) if "data.0" in names]  # one recording of perf record --threads
    files = sorted([*folders, *(os.path.join(at, name) for at, _, names in os.walk(rest[0]) for name in names if at not in folders)])
    for path in files:
        if not (os.path.isfile(path) or path in folders) or path.endswith((".tlr", ".md", ".sh")) or os.environ.get("ONLY", "") not in path:
            continue
        try:
            verdict, text = decide(tailor, path, trace)
        except (ValueError, KeyError, OSError) as e:
            verdict, text = "WRONG", repr(e)
        verdicts[verdict] += 1
        print(f"{os.path.relpath(path, rest[0]):40} {verdict:11} {text}", flush=True)
        if os.path.exists(trace):
            os.unlink(trace)
    print("FIGURE perf.data files: " + ", ".join(f"{n} {v}" for v, n in sorted(verdicts.items())))
    return 1 if verdicts["WRONG"] or not verdicts else 0


sys.exit(main())
