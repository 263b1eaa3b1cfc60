#!/bin/bash
# SPDX-License-Identifier: MIT
# kill -9 of the host at a random moment, 20 times: 20 readable, complete traces, with all that the host had announced, and with samples up
# to the kill.  The host keeps a diary of the processor time that it used, so a gap at the end that is long by that time
# can only be a loss, however rarely it had a processor.
. tests/live/begin.bash
B=$B judge /usr/bin/python3 - "$dir" <<'PYTHON'
import atexit, bisect, collections, json, os, random, signal, statistics, struct, subprocess, sys, time
sys.path.insert(0, "tests")
from evidence import allowed_rate, decide, gather

B, d = os.environ["B"], sys.argv[1]
PATIENCE_S = float(os.environ.get("PATIENCE_S", 300))
ROUNDS, OF_THE_ENGINE, WANTED = 20, 4, 100
seed = int(os.environ.get("SEED", time.time_ns() & 0xffffffff))
random.seed(seed)
trace, book = f"{d}/t.tlr", f"{d}/diary"
Page = collections.namedtuple("Page", "clock processor begun ended")  # a thread's; times in ns


def wrong(what):
    sys.exit(f"seed {seed}: {what}")


def start(*command):
    # so few and small samples that the smallest ring has room for all of them, should the recorder get no processor
    p = subprocess.Popen([f"{B}/tailor", "run", "-r", str(allowed_rate(5000)), "--stack", "0", "-o", trace, "--", *command],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
    atexit.register(lambda: p.returncode is None and os.killpg(p.pid, signal.SIGKILL))
    return p


def wait_for(what, condition):
    begin = time.monotonic()
    while not (got := condition()):
        if time.monotonic() - begin > PATIENCE_S:
            wrong(f"did not happen within {PATIENCE_S:.0f} s: {what}")
        time.sleep(0.001)
    return got


def read_diary():
    pages = []
    with open(book, "rb") as f:
        half = os.fstat(f.fileno()).st_size // 2
        for at in (0, half):
            nr, begun, ended, _ = struct.unpack("<4Q", os.pread(f.fileno(), 32, at))
            times = struct.unpack(f"<{2 * nr}Q", os.pread(f.fileno(), 16 * nr, at + 32))
            pages.append(Page(times[::2], times[1::2], begun, ended))
    return pages


def used_ns():
    """What the thread that was slower has used of the processor."""
    used = [0]
    if os.path.exists(book):
        with open(book, "rb") as f:
            half = os.fstat(f.fileno()).st_size // 2
            nrs = [struct.unpack("<Q", os.pread(f.fileno(), 8, at))[0] if half else 0 for at in (0, half)]
            if all(nrs):
                used = [struct.unpack("<Q", os.pread(f.fileno(), 8, at + 32 + 16 * nr - 8))[0] for at, nr in zip((0, half), nrs)]
    return min(used)


def dump():
    p = subprocess.run([f"{B}/tailor", "dump", "--json", "--samples", trace], capture_output=True, text=True)
    if p.returncode != 0:
        wrong(f"tailor dump: {p.returncode}, {p.stderr}")
    return [json.loads(line) for line in p.stdout.splitlines() if not line.startswith('{"record": "SAMPLES"')]


def sampled_at(records, pages):
    """For each thread, at which processor times it was sampled."""
    times = collections.defaultdict(list)
    for s in records:
        if "sample" in s:
            times[s["tid"], s["pid"]].append(s["time_ns"])
    process = max((pid for _, pid in times), key=lambda pid: sum(len(t) for (_, p), t in times.items() if p == pid), default=0)
    at = [[], []]
    for (tid, pid), clock in times.items():
        if pid == process:
            page = pages[tid != pid]
            at[tid != pid] += [page.processor[min(bisect.bisect_left(page.clock, c), len(page.clock) - 1)] for c in clock]
    return [sorted(a) for a in at]


def end_by_itself(seconds):
    global long_ns
    p = start(f"{B}/hosts/diary", book, str(int(150 * seconds)))
    message = p.communicate(timeout=PATIENCE_S)[1]
    if p.returncode != 0:
        wrong(f"a host that nobody kills: expected status 0, got {p.returncode}: {message}")
    at = sampled_at(dump(), read_diary())
    gaps = [b - a for a in at for a, b in zip(a, a[1:])]
    if gaps:
        long_ns = max(1e6, 4 * statistics.median(gaps))
    return min(map(len, at))


def killed(process, p):
    """The trace of a host that we kill now: its report."""
    os.kill(process, signal.SIGKILL)
    message = p.communicate(timeout=PATIENCE_S)[1]
    if p.returncode != 128 + signal.SIGKILL:
        wrong(f"expected status 137, got {p.returncode}: {message}")
    r = subprocess.run([f"{B}/tailor", "report", "--json", trace], capture_output=True, text=True)
    if r.returncode != 0:
        wrong(f"report says {r.returncode}: {r.stderr}")
    report = json.loads(r.stdout)
    if not report["complete"] or report["samples"]["total"] == 0:
        wrong(f"expected a complete trace with samples, got {report['samples']}, complete: {report['complete']}")
    return report


def child(p):
    with open(f"/proc/{p.pid}/task/{p.pid}/children") as f:
        return [int(c) for c in f.read().split()]


def diary_round(nr):
    """A block.  It contradicts if one of the two threads had, when killed, used more than long_ns of the processor since its last
    sample.  A thread is sampled by its own processor time, one sample at a time: 4 of the usual gaps between two of its samples
    (and 1 ms at least) without any are rare, on a busy machine as well.  A recorder that does not write what it had gathered,
    up to 200 ms of it by the clock, leaves such a gap in half of the rounds or more if in its last 200 ms a thread had used twice as
    much; other rounds are no evidence."""
    if os.path.exists(book):
        os.unlink(book)
    p = start(f"{B}/hosts/diary", book, "3600000")
    until = random.uniform(1, 3) * max(2e7, 8 * long_ns)
    wait_for(f"the host used {until / 1e6:.0f} ms of the processor in each thread", lambda: used_ns() >= until)
    killed(child(p)[0], p)
    pages = read_diary()
    records = dump()
    loads = collections.Counter(r["fields"]["code_index"] for r in records if r.get("record") == "LOAD")
    times = max(loads.values(), default=0)
    for thread, page in enumerate(pages):
        got = [i & 0xffffffff for i in loads if i >> 32 == thread]
        if sorted(got) not in (list(range(page.ended)), list(range(page.begun))) or times > 1:
            losses = [r["fields"] for r in records if r.get("record") == "LOSS"]
            wrong(f"round {nr}, thread {thread}: expected each of its {page.ended} announcements once (and one that it had begun: "
                  f"{page.begun}), got {len(got)}, {times} times at most, without {sorted(set(range(page.ended)) - set(got))}; "
                  f"losses: {losses}")
    left = [page.processor[-1] - (at[-1] if at else 0) for page, at in zip(pages, sampled_at(records, pages))]
    lefts.extend(left)
    if max(left) > long_ns:
        print(f"round {nr}: used {', '.join(f'{n / 1e6:.2f}' for n in left)} ms of the processor after their last samples")
        return False
    recently = max(page.processor[-1] - page.processor[bisect.bisect_left(page.clock, page.clock[-1] - 200e6)] for page in pages)
    return True if recently > 2 * long_ns else None


long_ns, lefts = 0, []
gather(WANTED, end_by_itself)
# half of the rounds may hide a loss: more of them are wanted
if not decide(f"samples up to the kill: no thread used {long_ns / 1e6:.1f} ms of the processor after its last one", diary_round, wrong=0.5):
    wrong(f"{len(lefts) // 2} rounds")
for nr in range(len(lefts) // 2, ROUNDS - OF_THE_ENGINE):
    diary_round(nr)
for nr in range(OF_THE_ENGINE):  # while it compiles or while it runs
    p = start(f"{B}/engine", "--query", "fig9", "--scale", "0.02", "--threads", "2", "--seconds", "3600")
    process = wait_for("the engine starts", lambda: p.poll() is not None or child(p))
    if p.poll() is not None:
        wrong(f"the engine did not start: {p.communicate()[1]}")
    until = random.uniform(0.05, 0.4) * 1e9

    def used():
        with open(f"/proc/{process[0]}/schedstat") as f:  # of its first thread
            return int(f.read().split()[0])

    wait_for(f"the engine used {until / 1e6:.0f} ms of the processor", lambda: used() >= until)
    killed(process[0], p)
lefts.sort()
print(f"FIGURE {ROUNDS} kills, {ROUNDS} complete traces; processor time that a thread used after its last sample: "
      f"median {lefts[len(lefts) // 2] / 1e6:.2f} ms, worst {lefts[-1] / 1e6:.2f} ms")
PYTHON
finish
