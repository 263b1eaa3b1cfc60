# SPDX-License-Identifier: MIT
"""One host under `tailor watch` with epochs of 20 s, and under `perf record` without a cut at the same time:
epochs_and_uncut.py BUILD FOLDER HOST MINUTES.  See epochs-agree-with-an-uncut-trace.sh.

Per row, the share of the store's weight (s) and of the uncut trace's (u) differ by sampling alone if |s - u| < z sqrt(Vs + Vu), where
    V = ((1 - share)^2 (sum of w^2 in the row) + share^2 (sum of w^2 elsewhere)) / (sum of all w)^2
of samples' weights w: for equal weights the binomial p (1 - p) / n.  Within a row of an epoch weights are taken to be equal: the recorder,
which lowers its rate on a busy machine, does it between two.  z is the normal distribution's quantile at ALPHA / (2 rows), so that with
ALPHA none of all rows is further off (Bonferroni).  Rows that have fewer than FEW samples in both together, for which it is no
approximation, are one.  Left out is the function in which the kernel goes from one thread to another: there it starts and stops the
timers of both recorders one after the other, and what rings meanwhile is a sample of that place.
"""
import glob, json, os, re, shutil, signal, statistics, subprocess, sys, time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + "/postgres")
import cluster

B, DIR, HOST, MINUTES = *sys.argv[1:4], float(sys.argv[4])
STORE, GO, PATIENCE_S = f"{DIR}/w.tlrs", f"{DIR}/go", 300
ALPHA, FEW, UNKNOWN, PERIOD_NS = 1e-4, 40, 0.01, 2_003_117
SECONDS, NO_SYMBOL, SWITCH, NOWHERE, NOTHING = int(60 * MINUTES), "(no symbol)", "finish_task_switch", "(unattributed)", (0, 0, 0)

ENGINE = f"""for q in q1 q3 q6 q16 q18 fig9; do {B}/engine --query $q --scale 0.05 --threads 1 --repeat 1000000 --seconds {SECONDS // 6}
done >/dev/null"""
NODE = """
const until = Date.now() + 1e3 * +process.argv[2];
let n = 0;
const parse = i => JSON.parse(JSON.stringify({ id: i, tags: ["a", "b", "c" + i % 7], at: { x: i, y: 2 * i } }));
function match(s) { return (s.match(/([a-z]+)-(\\d+)/g) || []).length; }
function group(rows) {
    const m = new Map();
    for (const r of rows) m.set(r.tags[2], (m.get(r.tags[2]) || 0) + r.at.y);
    return [...m].sort((a, b) => a[1] - b[1]).length;
}
function hash(s) { let h = 0; for (let i = 0; i < s.length; i++) h = (h * 31 + s.charCodeAt(i)) | 0; return h; }
function turn() {
    for (let i = 0; i < 100; i++) n += match("alpha-1 beta-22 gamma-333 ".repeat(4)) + hash("text of number " + i + n);
    n += group(Array.from({ length: 500 }, (_, i) => parse(i)));
    new Function("a", "let s = " + (n % 997) + "; for (let i = 0; i < 2e4; i++) s = (s * 33 + a) | 0; return s")(n);
    if (Date.now() < until) setImmediate(turn);
}
turn();
"""
JAVA = """import java.util.*;
import java.util.stream.*;
class Shop {
    record Order(int id, String customer, double price) {}
    static List<Order> make(Random r) {
        List<Order> all = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) all.add(new Order(i, "customer " + r.nextInt(500), r.nextDouble()));
        return all;
    }
    static Map<String, Double> revenue(List<Order> all) {
        return all.stream().collect(Collectors.groupingBy(Order::customer, TreeMap::new, Collectors.summingDouble(Order::price)));
    }
    static int words(List<Order> all) {
        int n = 0;
        for (Order o : all) if (o.customer().matches("customer [1-4][0-9]+")) n++;
        return n;
    }
    static double sort(List<Order> all) {
        List<Order> copy = new ArrayList<>(all);
        copy.sort(Comparator.comparingDouble(Order::price).thenComparing(Order::customer));
        return copy.get(0).price();
    }
    public static void main(String[] a) {
        Random r = new Random(7);
        double n = 0;
        for (long end = System.nanoTime() + Long.parseLong(a[0]) * 1_000_000_000L; System.nanoTime() < end; ) {
            List<Order> all = make(r);
            n += revenue(all).size() + words(all) + sort(all);
        }
        System.out.println(n);
    }
}
"""
# gcc's processes live for hundreds of milliseconds, the shell's for one
CHURN = f"""end=$(($(date +%s) + {SECONDS}))
while [ $(date +%s) -lt $end ]; do
    ls jitreg/base/*.c | head -4 | xargs -P 2 -n 1 gcc -std=gnu11 -D_GNU_SOURCE -I. -O1 -c -o /dev/null
    for i in $(seq 100); do sh -c 'i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done'; done
    ls jitreg/base/*.c | sort | xargs cat | grep -c return
done >/dev/null"""
# of the whole machine that is recorded
OF_STORE, OF_TRACE = (["--process", "postgres"], ["--thread-name", "^postgres$"]) if HOST == "postgres" else ([], [])
QUERIES = "q01 q03 q05 q06 q12 q18"

bad = 0
def fail(sentence):
    global bad
    bad = 1
    print(f"{HOST}: {sentence}")

def tailor(*arguments):
    r = subprocess.run([f"{B}/tailor", *arguments], capture_output=True, text=True)
    if r.returncode:
        fail(f"tailor {' '.join(arguments)}: exit {r.returncode}: {r.stderr}")
    return r.stdout

def wait_for(what, holds):
    end = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > end:
            sys.exit(f"{HOST}: did not happen within {PATIENCE_S} s: {what}")
        time.sleep(0.05)

# -------------------------------------------------------------------------------------------------------------- recording

def start_watch(*what):
    return subprocess.Popen([f"{B}/tailor", "watch", "--store", STORE, "--epochs", "20s", "--keep", "100000", *what],
                            stdout=subprocess.DEVNULL, stderr=open(f"{DIR}/watch.said", "w"))

def start_perf(*what):
    # -B: it ends with "stack smashing detected" where it looks for build ids of memory.  Methods, plan nodes and callers of the runtime are
    # in the stack.
    stack = {"engine": 8192, "jvm": 16384, "node": 8192, "postgres": 8192}.get(HOST)
    how = ["--call-graph", f"dwarf,{stack}"] if stack else ["--user-regs=bx,bp,sp,ip,r12,r13,r14,r15"]
    perf = subprocess.Popen(["perf", "record", "-q", "-B", "-k", "mono", "-e", "cpu-clock", "-c", str(PERIOD_NS), "-m", "4M", "--control",
                             f"fifo:{DIR}/control,{DIR}/ack", "-D", "-1", *how, "-o", f"{DIR}/perf.data", *what],
                            stdout=open(f"{DIR}/perf.said", "w"), stderr=subprocess.STDOUT)
    with open(f"{DIR}/control", "w") as control, open(f"{DIR}/ack") as ack:
        control.write("enable\n")
        control.flush()
        ack.readline()
    return perf

def recording(watch):
    return lambda: glob.glob(f"{STORE}.epochs/*.tlr") or watch.poll() is not None

def end(perf, watch):
    """both, at once"""
    for p in (perf, watch):
        if p.poll() is None:
            p.send_signal(signal.SIGINT)
    for p in (perf, watch):
        p.wait(PATIENCE_S)

def record_command(command, from_outside):
    """a shell that waits for both recorders, and then does it"""
    os.mkfifo(GO)
    words = ["sh", "-c", f"read x <{GO}; {command}"]
    if from_outside:
        host = subprocess.Popen(words)
        watch = start_watch("--tree", str(host.pid))
        wait_for("watch records", recording(watch))
        pid = host.pid
    else:
        watch = start_watch("--", *words)
        def child():
            return subprocess.run(["pgrep", "-P", str(watch.pid), "-x", "sh"], capture_output=True, text=True).stdout.split()
        wait_for("the host begins", child)
        host, pid = watch, int(child()[0])
    perf = start_perf("-p", str(pid))
    with open(GO, "w") as go:
        go.write("go\n")
    host.wait(SECONDS + PATIENCE_S)
    end(perf, watch)

def record_machine(command):
    """of processes that live no longer than a period only counters of processors see the right share"""
    watch = start_watch("--all")
    wait_for("watch records", recording(watch))
    perf = start_perf("-a")
    subprocess.run(["sh", "-c", command], check=True)
    end(perf, watch)

def record_postgres():
    with cluster.Cluster() as c:
        c.load(0.05)
        with c.server() as server:
            # counters that go with processes see little of a worker's first period, and nothing of what its end takes
            watch = start_watch("--all")
            wait_for("watch records", recording(watch))
            perf = start_perf("-a")
            until, texts = time.monotonic() + SECONDS, list(cluster.queries(QUERIES).values())
            while time.monotonic() < until:
                with c.session() as s:
                    for text in texts:
                        s.run(text)
            end(perf, watch)

def record():
    os.makedirs(DIR)
    for name in ("control", "ack"):
        os.mkfifo(f"{DIR}/{name}")
    if HOST == "engine":
        record_command(ENGINE, False)
    elif HOST == "node":
        with open(f"{DIR}/server.js", "w") as f:
            f.write(NODE)
        record_command(f"exec node {DIR}/server.js {SECONDS}", False)
    elif HOST == "jvm":
        with open(f"{DIR}/Shop.java", "w") as f:
            f.write(JAVA)
        subprocess.run(["javac", "-d", DIR, f"{DIR}/Shop.java"], check=True)
        record_command(f"exec java -XX:+UseSerialGC -Xmx256m -cp {DIR} Shop {SECONDS} >/dev/null", True)
    elif HOST == "postgres":
        record_postgres()
    else:
        record_machine(CHURN)

# -------------------------------------------------------------------------------------------------------------- comparing

def variance(rows, name, total, squares):
    _, w, own = rows.get(name, NOTHING)
    share = w / total
    return ((1 - share) ** 2 * own + share ** 2 * (squares - own)) / total ** 2

def compare(what, stored, uncut):
    """{row: (samples, sum of weights, sum of their squares)} of both"""
    stored, uncut = ({r: v for r, v in rows.items() if not str(r[0]).startswith(SWITCH)} for rows in (stored, uncut))
    few = [r for r in {*stored, *uncut} if stored.get(r, NOTHING)[0] + uncut.get(r, NOTHING)[0] < FEW]
    for rows in (stored, uncut):
        rest = [rows.pop(r) for r in few if r in rows]
        rows["(few samples)"] = tuple(map(sum, zip(NOTHING, *rest)))
    names = sorted({*stored, *uncut}, key=str)
    z = statistics.NormalDist().inv_cdf(1 - ALPHA / (2 * len(names)))
    sums = [(sum(w for _, w, _ in rows.values()), sum(q for *_, q in rows.values())) for rows in (stored, uncut)]
    largest, chi2 = (0, None), 0
    for name in names:
        shares = [rows.get(name, NOTHING)[1] / total for rows, (total, _) in zip((stored, uncut), sums)]
        error = sum(variance(rows, name, *s) for rows, s in zip((stored, uncut), sums)) ** 0.5
        off = abs(shares[0] - shares[1]) / error if error else 0
        chi2 += off * off
        largest = max(largest, (off, name), key=lambda x: x[0])
        if off > z:
            fail(f"{what}: expected {name} within {z:.2f} standard errors, got {100 * shares[0]:.3f} % of the store "
                 f"and {100 * shares[1]:.3f} % of the uncut trace ({stored.get(name, NOTHING)[0]} and {uncut.get(name, NOTHING)[0]} samples), "
                 f"{off:.2f}")
    n = [sum(n for n, *_ in rows.values()) for rows in (stored, uncut)]
    print(f"FIGURE {HOST}: {len(names)} {what}, {n[0]} samples in the store and {n[1]} in the uncut trace: differences at most "
          f"{largest[0]:.2f} standard errors ({largest[1]}), "
          f"{(chi2 / max(1, len(names) - 1)) ** 0.5:.2f} of them on average; allowed {z:.2f}")

def own_samples(trace):
    """of an epoch: what its counters counted, what its trace has, and how much of that is of no idle processor"""
    counted = 0
    for line in tailor("dump", "--json", trace).splitlines():
        if '"COUNT"' in line:
            counted += json.loads(line)["fields"]["samples"]
    r = json.loads(tailor("report", "--json", "--mark", "all", trace))
    return counted, r["samples"]["recorded"], r["samples"]["total"]

def check_epochs():
    stored = json.loads(tailor("db", "report", STORE, "--view", "epochs", "--json"))["tables"]["epochs"]
    own = [own_samples(t) for t in sorted(glob.glob(f"{STORE}.epochs/*.tlr"))]
    if any(counted != recorded for counted, recorded, _ in own) or [e["samples"] for e in stored] != [total for _, _, total in own]:
        fail(f"expected of each epoch the samples that were counted to be in its trace, and those of programs in the store, got {own} and "
             f"{[e['samples'] for e in stored]}")
    print(f"FIGURE {HOST}: {len(stored)} epochs with {sum(e['samples'] for e in stored)} samples, as were counted")

def add(rows, name, r):
    n, w, q = rows.get(name, NOTHING)
    rows[name] = (n + r["samples"], w + r["weight"], q + r["weight"] ** 2 / max(1, r["samples"]))

def with_squares_of(stored, epochs):
    """the store adds up weights, not their squares, which are those of its epochs' own traces"""
    return {name: (n, w, sum(e.get(name, NOTHING)[2] for e in epochs)) for name, (n, w, _) in stored.items()}

def name_of_image(name):
    """a library is called after its file, or after the link by which it was loaded"""
    return re.sub(r"(\.so\.[0-9]+)[0-9.]*$", r"\1", name)

def functions_of_store():
    """those of an image that have no symbols as one: they are called after an address there"""
    rows = {}
    for r in json.loads(tailor("db", "report", STORE, "--view", "functions", "--json", *OF_STORE))["tables"]["functions"]:
        file = os.path.basename(r["image"])
        without = r["image"][:1] == "/" and re.fullmatch(re.escape(file) + r"(\+0x[0-9a-f]+)?", r["name"])
        add(rows, (NO_SYMBOL if without else r["name"], name_of_image(file)), r)
    return rows

def functions_of(trace):
    """and those that are in no file that is known, and those in files that have no symbols"""
    rows, unknown, nameless = {}, {}, {}
    for r in json.loads(tailor("report", "--view", "functions", "--mark", "all", "--json", *OF_TRACE, trace))["tables"]["functions"]:
        add(rows, (r["name"] if r["symbol"] or r["path"][0] != "/" else NO_SYMBOL, name_of_image(r["image"])), r)
        if not r["symbol"] and r["samples"]:
            add(nameless if r["path"][0] == "/" else unknown, r["image"], r)
    return rows, unknown, nameless

def list_of(rows):
    return ", ".join(f"{image} {n}" for image, (n, *_) in sorted(rows.items(), key=lambda x: -x[1][0])[:6])

def check_names(epochs):
    """as epochs' own traces have them"""
    unknown, nameless = {}, {}
    for _, *without in epochs:
        for to, of in zip((unknown, nameless), without):
            for image, (n, w, _) in of.items():
                add(to, image, {"samples": n, "weight": w})
    total = sum(n for rows, *_ in epochs for n, *_ in rows.values())
    shares = [100 * sum(n for n, *_ in rows.values()) / total for rows in (unknown, nameless)]
    print(f"FIGURE {HOST}: {shares[0]:.2f} % of {total} samples are unknown ({list_of(unknown)}); {shares[1]:.2f} % in files without "
          f"symbols ({list_of(nameless)})")
    reasons = json.loads(tailor("db", "report", STORE, "--view", "reasons", "--json", *OF_STORE))["tables"]["reasons"]
    print(f"FIGURE {HOST}: no component:", ", ".join(f"{r['name']} {100 * r['share']:.2f} %" for r in reasons))
    # of short programs it is where the kernel executes them: nothing is mapped yet
    missing = 100 * sum(r["share"] for r in reasons if r["name"] in ("no code object", "no component") and HOST != "churn")
    if max(shares[0], missing) > 100 * UNKNOWN:
        fail(f"expected at most 1 % of the samples to be unknown, got {shares[0]:.2f} %, and {missing:.2f} % without their registration")

def operators(tables):
    """and what is on none, a row too"""
    rows = {}
    for c in tables["components"]:
        if c["level"] in ("operator", "node") or c["name"] == NOWHERE:
            add(rows, re.sub(r"#[0-9]+$| \(.*\)$", "", c["name"]), c) # what tells equal names of one report apart
    return rows

def operators_of(trace):
    """whose report lists no row of what is on none"""
    report, functions = json.loads(tailor("report", "--json", "--mark", "all", *OF_TRACE, trace)), functions_of(trace)[0]
    rows = operators(report)
    rest = {"samples": sum(n for n, *_ in functions.values()) - sum(n for n, *_ in rows.values()),
            "weight": sum(w for _, w, _ in functions.values()) - sum(w for _, w, _ in rows.values())}
    add(rows, NOWHERE, rest)
    return rows

def main():
    if not os.path.exists(DIR):
        record()
    check_epochs()
    tailor("db", "trace", STORE, "-o", f"{DIR}/epochs.tlr")
    tailor("import", "--registrations", f"{DIR}/epochs.tlr", "-o", f"{DIR}/uncut.tlr", f"{DIR}/perf.data")
    traces = sorted(glob.glob(f"{STORE}.epochs/*.tlr"))
    epochs = [functions_of(t) for t in traces]
    check_names(epochs)
    compare("functions", with_squares_of(functions_of_store(), [rows for rows, *_ in epochs]), functions_of(f"{DIR}/uncut.tlr")[0])
    if HOST in ("engine", "postgres"):
        stored = operators(json.loads(tailor("db", "report", STORE, "--json", *OF_STORE))["tables"])
        compare("operators", with_squares_of(stored, [operators_of(t) for t in traces]), operators_of(f"{DIR}/uncut.tlr"))
    sys.exit(bad)

main()
