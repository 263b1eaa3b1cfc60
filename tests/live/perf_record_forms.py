# SPDX-License-Identifier: MIT
"""perf_record_forms.py TAILOR FOLDER HOST: forms of `perf record`, as people use them.  Of each, `tailor import` and `perf report` read one
file: each event has as many samples, each function's share is within 0.1 point, and as many samples have each chain of HOST's functions;
or the file is refused in a sentence.  A form that perf cannot record here is listed, and decides nothing.

FORM=TEXT: those whose line has it; LONG=1: all; else those with a star."""
import collections, json, os, re, subprocess, sys

tailor, folder, host = sys.argv[1:]
NEAR = 0.1  # points
OWN = {"leaf", "three", "one", "other", "main", "thread"}
RECORD_S = 60  # for what takes a second

# Arguments of `perf record`; "-> TEXT": import's sentence has this; "| -": through a pipe; "| kill": perf is killed; "| old": it is the file
# that another recording has put aside; "| gone": the program is there no more, but for perf's cache.
FORMS = """
*
* -F 500
* -c 1000000
  -c 1000000 -P
* -g
  --call-graph fp -c 700000
* --call-graph dwarf
  --call-graph dwarf,2048 -z
  --call-graph lbr
* --per-thread
  --per-thread -g
  --per-thread -T
* -e cpu-clock,task-clock,page-faults
  -e cpu-clock -e page-faults -g
  -e {cpu-clock,page-faults}
* -e {cpu-clock,page-faults}:S
  -e {cpu-clock,task-clock,page-faults}:S -c 1000000
  -e {cpu-clock,page-faults}:S -g --no-inherit
  -e cpu-clock:S
  -e cpu-clock:u
* -e page-faults -c 1 -d
  -e context-switches -c 1 -g
  -e sched:sched_process_exit -a
  -e intel_pt//u
* -a
  -a -g
  -C 0
  -p PID
  -t PID -g
  -u root
* --switch-events
* -z
  -z22 -g
* --no-inherit
  -W
  -d
  -b
  --namespaces
  -s
  -T --sample-cpu
  -I
  --user-regs=ip,sp,bp
  --user-regs=bx -g
  -R --running-time
  --data-page-size --code-page-size
  --all-cgroups
  -k mono
* -k raw
  -k boot
  -k real
  -B
  -N
  --buildid-all
  --buildid-mmap
  --no-bpf-event
  --synth=task
  --tail-synthesize
  --overwrite
  -m 4 --no-buffering
  --max-size=1M
  -D 20
  --aio
  --all-user -g
  --all-kernel
  --kernel-callchains -g
  --user-callchains -g
  --threads -> is a directory
  --kcore -> is a directory
* -g | -
  -z | -
  -e {cpu-clock,page-faults}:S | -
  | old
  | kill
* | gone
"""


OF_ALL = {"-a", "-C", "-u"}  # options that record programs beside the one that is started


class Form:
    def __init__(self, line):
        self.starred, rest = line[0] == "*", line[2:]
        rest, _, self.how = (x.strip() for x in rest.partition("|"))
        rest, _, self.refusal = (x.strip() for x in rest.partition("->"))
        self.words, self.name = rest.split(), f"perf record {line[2:].strip()}"

    def wanted(self):
        return os.environ.get("FORM") in self.name if os.environ.get("FORM") else self.starred or "LONG" in os.environ


def run(*command, **options):
    return subprocess.run(command, capture_output=True, errors="replace", timeout=RECORD_S, **options)


def record(form, program, data):
    """perf's exit status and what it said."""
    event = [] if "-e" in form.words else ["-e", "cpu-clock"]
    rate = [] if {"-c", "-F"} & set(form.words) else ["-F", "2000"]
    command, target, child = [*event, *rate, *form.words], [program, "40"], None
    if "PID" in form.words:
        child = subprocess.Popen([program, "1000000"])
        command[command.index("PID")], target = str(child.pid), ["sleep", "0.2"]
    try:
        if form.how == "-":
            with open(data, "wb") as out:
                return subprocess.run(["perf", "record", *command, "-o", "-", *target], stdout=out, stderr=subprocess.PIPE, text=True,
                                      timeout=RECORD_S)
        if form.how == "kill":  # what it has written by then ends somewhere
            return run("timeout", "-s", "KILL", "1", "perf", "record", *command, "-o", data, program, "1000000")
        if form.how == "old":
            run("perf", "record", *command, "-o", data.removesuffix(".old"), *target)
            return run("perf", "record", *command, "-o", data.removesuffix(".old"), *target)
        return run("perf", "record", *command, "-o", data, *target)
    finally:
        if child:
            child.kill()
            child.wait()


def image_of(name):
    return "kernel" if name.startswith("[k") or name.endswith(".ko") else re.sub(r"(\.so\.\d+)[.\d]+$", r"\1", os.path.basename(name))


def perf_functions(data):
    """event -> (image, function) -> [samples, percent]; of what runs: where a processor was idle (PID 0) is in no share of ours"""
    p = run("perf", "report", "-i", data, "--stdio", "--no-children", "-g", "none", "--no-group", "-F", "period,sample,pid,dso,sym",
            "--no-inline", "-t", "\x01")
    events, now = {}, None
    for line in p.stdout.splitlines():
        m = re.match(r"# Samples: .* of events? '(.*)'", line)
        if m:
            now = events.setdefault(m[1], collections.defaultdict(lambda: [0, 0]))
        f = [x.strip() for x in line.split("\x01")]
        if now is not None and not line.startswith("#") and len(f) >= 5 and not f[2].startswith("0:"):
            sums = now[function_of(f[3], f[4][4:])]
            sums[0] += int(f[1])
            sums[1] += int(f[0])
    for functions in events.values():
        whole = sum(period for _, period in functions.values())
        if whole >> 63:  # perf 6.1 subtracts counts of different threads
            functions.clear()
        for sums in functions.values():
            sums[1] *= 100 / whole if whole else 0
    return events


def our_table(trace, view, event):
    p = run(tailor, "report", "--view", view, "--top", "0", "--json", "--mark", "all", "--event", event, trace)
    if p.returncode:
        raise ValueError(p.stderr.strip())
    return json.loads(p.stdout)["tables"][view]


def function_of(image, name):
    """Functions of the program, libc and the kernel; all others, which have names of many kinds, are one."""
    image = image_of(image)
    return (image, name) if image.startswith(("host", "libc.so", "kernel")) else ("others", "")


def our_functions(trace, event):
    found = collections.defaultdict(lambda: [0, 0])
    for r in our_table(trace, "functions", event):
        sums = found[function_of(r["image"], r["name"])]
        sums[0] += r["samples"]
        sums[1] += 100 * r["share"]
    return found


def perf_chains(data, event):
    """chain of the host's own functions, outermost first -> samples that are in it"""
    p = run("perf", "script", "-i", data, "--no-inline", "-F", "event,ip,sym")
    chains = collections.Counter()
    for sample in p.stdout.split("\n\n"):
        first, *frames = sample.strip("\n").split("\n")
        if first.strip().rstrip(":") != event:
            continue
        own = [f.split()[1] for f in reversed(frames) if len(f.split()) > 1 and f.split()[1] in OWN]
        chains.update(tuple(own[:n]) for n in range(1, len(own) + 1))
    return chains


def our_chains(trace, event):
    chains, path = collections.Counter(), {None: ()}
    for r in our_table(trace, "tree", event):
        own = r["name"] in OWN
        path[r["id"]] = path[r["parent"]] + ((r["name"],) if own else ())
        if own:
            chains[path[r["id"]]] += r["samples"]
    return chains


def compare(form, data, trace):
    """What differs; what there was, "" where perf reads nothing in its own file."""
    theirs = perf_functions(data)
    wrong, found = [], []
    for event, functions in theirs.items():
        if not functions:
            continue
        ours, worst = our_functions(trace, event), 0
        n, m = (sum(v[0] for v in x.values()) for x in (functions, ours))
        if n != m:
            wrong.append(f"{event}: perf has {n} samples, we have {m}")
        spare = {k: v for k, v in ours.items() if k not in functions}
        for key, (samples, share) in functions.items():
            if share < 1 or re.match(r"0x|0000|\[unknown\]", key[1]):
                continue
            # one function may have several names (cfree, free), of which either takes one; several such may have one sample each
            alias = key if key in ours else min((k for k, v in spare.items() if k[0] == key[0] and v[0] == samples),
                                                key=lambda k: abs(spare[k][1] - share), default=None)
            spare.pop(alias, None)
            mine = ours[alias][1] if alias else 0
            worst = max(worst, abs(mine - share))
            if abs(mine - share) > NEAR:
                wrong.append(f"{event}: {key[1]} ({key[0]}): perf {share:.2f} %, we {mine:.2f} %")
        found.append(f"{event} {n} samples, {worst:.2f}")
        if "-g" in form.words or "fp" in form.words:
            mine, perfs = our_chains(trace, event), perf_chains(data, event)
            wrong += [f"{event}: {' > '.join(k)}: perf {perfs[k]}, we {mine[k]}" for k in perfs | mine if perfs[k] != mine[k]]
            found[-1] += f", {len(perfs)} chains"
    return wrong, "; ".join(found)


def has_other_roots():
    """Do programs run here whose root is another folder (containers)?  perf takes their paths for ours, and names their code by ours."""
    own = os.stat("/")
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            other = os.stat(f"/proc/{pid}/root/")
        except OSError:
            continue
        if (other.st_dev, other.st_ino) != (own.st_dev, own.st_ino):
            return True
    return False


def decide(form, number):
    """(verdict, what there is to say): equal, refused, perf cannot, WRONG"""
    data, trace, program = f"{folder}/{number}.data", f"{folder}/{number}.tlr", f"{folder}/host{number}"
    if form.how == "old":
        data += ".old"
    subprocess.run(["cp", host, program], check=True)
    p = record(form, program, data)
    if form.how == "gone":
        os.unlink(program)
    if not os.path.exists(data) or (p.returncode and form.how != "kill"):
        said = p.stderr
        return "perf cannot", " ".join(said.split())[:150]
    if form.how == "-":
        with open(data, "rb") as file:
            p = run("sh", "-c", 'cat | "$@"', "sh", tailor, "import", "-o", trace, "-", stdin=file)
    else:
        p = run(tailor, "import", "-o", trace, data)
    sentences = [s.removeprefix("tailor import: ").replace(data, "FILE") for s in p.stderr.strip().splitlines()]
    said = " / ".join(s for s in sentences if " samples in " not in s)
    if p.returncode:
        return "refused" if form.refusal and form.refusal in said and len(sentences) == 1 else "WRONG", said
    if form.refusal:
        return "WRONG", f"expected a refusal: {form.refusal}"
    wrong, found = compare(form, data, trace)
    if wrong and OF_ALL & set(form.words) and has_other_roots():
        return "perf cannot", f"tell the files of programs with other roots from ours: {wrong[0]}"
    if not found:
        return "perf cannot", f"read what it has written; we: {p.stderr.strip().splitlines()[-1]}"
    return ("WRONG", " | ".join(wrong[:6])) if wrong else ("equal", f"{found}{' (' + said + ')' if said else ''}")


verdicts = collections.Counter()
for number, form in enumerate(Form(line) for line in FORMS.strip("\n").split("\n")):
    if not form.wanted():
        continue
    try:
        verdict, text = decide(form, number)
    except (ValueError, KeyError, subprocess.TimeoutExpired) as e:
        verdict, text = "WRONG", repr(e)
    verdicts[verdict] += 1
    print(f"{form.name:60} {verdict:11} {text}", flush=True)
print("FIGURE forms of perf record: " + ", ".join(f"{n} {v}" for v, n in sorted(verdicts.items())))
sys.exit(1 if verdicts["WRONG"] else 0 if verdicts["equal"] else 77)
