# SPDX-License-Identifier: MIT
"""See attach-takes-the-workers.sh.  attach_takes_the_workers.py BUILD FOLDER"""
import contextlib
import glob
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path[:0] = ["tests", "tests/postgres"]
import cluster
import evidence

BUILD, FOLDER = map(os.path.abspath, sys.argv[1:])
TAILOR = BUILD + "/tailor"
WORKERS = 3
USER_ALONE = os.geteuid() and int(open("/proc/sys/kernel/perf_event_paranoid").read()) > 1
SHARE = 0.85 if USER_ALONE else 0.98  # of the processor time of the workers, at least
LOST = 0.01
# A request is some ten milliseconds of work: the kernel's switch from one process to another counts to a process, and to no counter.
WORKED_NS = 20_000_000  # whoever has used so much has samples: 80 periods
EVENT = ["-e", "task-clock:u" if USER_ALONE else "task-clock"]
faults, left_out = [], []

NODE = """
const cluster = require("cluster");
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
if (cluster.isMaster) {
	for (let i = 0; i < %d; i++)
		cluster.fork();
} else {
	require("http").createServer((_, answer) => answer.end(String(fib(27)))).listen(%d, "127.0.0.1");
}
"""
WSGI = """
def application(environ, start):
    total = sum(i * i for i in range(200000))
    start("200 OK", [("Content-Type", "text/plain")])
    return [str(total).encode()]
"""
POOL = """
import multiprocessing, sys, time
def work(_):
    return sum(i * i for i in range(200000))
if __name__ == "__main__":
    with multiprocessing.Pool(%d) as pool:
        while True:
            pool.map(work, range(30))
"""
PHP = "<?php $sum = 0; for ($i = 0; $i < 2000000; $i++) $sum += $i * $i; echo $sum;"


def children(pid):
    below = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()
    return [int(b) for b in below] + [c for b in below for c in children(int(b))]


def ran_ns(pid):
    try:
        return time.clock_gettime_ns(~pid << 3 | 2)
    except OSError:
        return 0


def dump(trace):
    return subprocess.run([TAILOR, "dump", trace], capture_output=True, text=True).stdout


def mapped(trace):
    """Processes whose counters are open: their mappings are written after that."""
    return {int(line.split()[1].split("/")[0]) for line in dump(trace).splitlines() if " MMAP " in line}


def samples(trace, begin_ns, end_ns):
    """pid -> nanoseconds that its samples between two times stand for"""
    lines = subprocess.run([TAILOR, "report", "--samples", trace], capture_output=True, text=True).stdout.splitlines()
    at = {name: n for n, name in enumerate(lines[0].split("\t"))}
    sums = {}
    for fields in (line.split("\t") for line in lines[1:]):
        pid = int(fields[at["pid"]])
        if begin_ns <= int(fields[at["time_ns"]]) < end_ns:
            sums[pid] = sums.get(pid, 0) + int(fields[at["weight"]])
    return sums


def record(master, workers, seconds, options=()):
    """What each worker used between two moments of a recording, its samples between these, and what the command said."""
    trace = FOLDER + "/t.tlr"
    if os.path.exists(trace):
        os.unlink(trace)
    p = subprocess.Popen([TAILOR, "attach", *EVENT, *options, "-o", trace, *map(str, master)], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    cluster.wait_for("all workers are counted", lambda: p.poll() is not None or
                     (os.path.exists(trace) and mapped(trace) >= set(workers)))
    begin_ns = time.monotonic_ns()
    before = {w: ran_ns(w) for w in workers}
    time.sleep(seconds)
    ran = {w: ran_ns(w) - before[w] for w in workers}
    end_ns = time.monotonic_ns()
    p.send_signal(signal.SIGINT)
    said = p.communicate()[0]
    if p.returncode:
        raise cluster.Failed(f"tailor attach: exit {p.returncode}: {said}")
    return ran, samples(trace, begin_ns, end_ns), said


def lost_share(said):
    """Samples are weighed by what the counters say, so that lost ones show here alone."""
    taken, lost = (re.search(pattern, said) for pattern in (r"(\d+) samples of", r"ring full: (\d+)"))
    return int(lost[1]) / (int(lost[1]) + int(taken[1])) if lost else 0


def check(name, master, workers, says=True, options=()):
    seconds = [1]

    def block(_):
        """Agrees, since samples are as many as periods have passed but for less than one of each thread and processor at each end; had a
        worker been missed, a part of the time as large as a worker's would be missing."""
        ran, got, said = record(master, workers, seconds[0], options)
        used, counted = sum(ran.values()), sum(got.get(w, 0) for w in workers)
        silent = [w for w in workers if ran[w] > WORKED_NS and not got.get(w)]
        print(f"FIGURE attach to {name}: {len(workers)} workers used {used / 1e9:.3f} s, their samples stand for {counted / 1e9:.3f} s"
              f" ({100 * counted / max(used, 1):.1f} %), {100 * lost_share(said):.1f} % lost")
        if says != ("sleeps while" in said):
            faults.append(f"{name}: {'no ' if says else 'a '}sentence about the workers: {said}")
        if used < 10 * WORKED_NS:
            seconds[0] *= 2
            return None
        return not silent and counted >= SHARE * used and lost_share(said) <= LOST

    if not evidence.decide(f"{name}: its workers' samples stand for {100 * SHARE:.0f} % of their processor time and more, and at most "
                           f"{100 * LOST:.0f} % are lost", block, wrong=evidence.SURE):
        faults.append(f"{name}: workers are missing")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def running(command, nr_workers=WORKERS, **how):
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=FOLDER, start_new_session=True, **how)
    try:
        cluster.wait_for(f"{command[0]} has workers", lambda: p.poll() is not None or len(children(p.pid)) >= nr_workers)
        if p.poll() is not None:
            raise cluster.Failed(f"{' '.join(command)}: exit {p.returncode}")
        yield p.pid, children(p.pid)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(p.pid, signal.SIGKILL)
        p.wait()


@contextlib.contextmanager
def asked(ask):
    """Some threads call ask() again and again."""
    over = threading.Event()

    def go():
        while not over.is_set():
            try:
                ask()
            except OSError:
                time.sleep(0.01)

    threads = [threading.Thread(target=go) for _ in range(WORKERS)]
    for t in threads:
        t.start()
    try:
        yield
    finally:
        over.set()
        for t in threads:
            t.join()


def converse(to, said):
    with socket.socket(socket.AF_UNIX if isinstance(to, str) else socket.AF_INET) as s:
        s.settimeout(60)
        s.connect(to)
        s.sendall(said)
        while s.recv(65536):
            pass


def http(port, path="/"):
    return lambda: converse(("127.0.0.1", port), f"GET {path} HTTP/1.0\r\n\r\n".encode())


def fastcgi(path, script):
    """One request; the format: https://fastcgi-archives.github.io/FastCGI_Specification.html"""
    def part(kind, content=b""):
        return bytes([1, kind, 0, 1, len(content) >> 8, len(content) & 255, 0, 0]) + content

    pairs = b"".join(bytes([len(n), len(v)]) + n + v for n, v in
                     ((b"SCRIPT_FILENAME", script.encode()), (b"REQUEST_METHOD", b"GET")))
    request = part(1, bytes([0, 1, 0, 0, 0, 0, 0, 0])) + part(4, pairs) + part(4) + part(5)
    return lambda: converse(path, request)


def write(name, text):
    with open(f"{FOLDER}/{name}", "w") as f:
        f.write(text)
    return f"{FOLDER}/{name}"


def server(command, ask, **how):
    @contextlib.contextmanager
    def it():
        with running(command, **how) as processes, asked(ask):
            yield processes
    return it


def python_pool():
    return running([sys.executable, write("pool.py", POOL % WORKERS)])


def node():
    port = free_port()
    return server([program("node"), write("cluster.js", NODE % (WORKERS, port))], http(port))()


def gunicorn():
    port = free_port()
    write("app.py", WSGI)
    return server([program("gunicorn"), "-w", str(WORKERS), "-b", f"127.0.0.1:{port}", "app:application"], http(port))()


def php_fpm():
    found = program(*sorted(map(os.path.basename, glob.glob("/usr/sbin/php-fpm*"))))
    listen, script = FOLDER + "/php.sock", write("index.php", PHP)
    user = "user = nobody\ngroup = nogroup\nlisten.mode = 0666\n" if os.geteuid() == 0 else ""
    conf = write("php-fpm.conf", f"[global]\nerror_log = /dev/null\ndaemonize = no\n[www]\n{user}listen = {listen}\npm = static\n"
                 f"pm.max_children = {WORKERS}\n")
    return server([found, "-n", "-F", "-y", conf], fastcgi(listen, script))()


def nginx():
    port = free_port()
    write("index.html", "x" * 4000000)
    user = "user nobody nogroup;" if os.geteuid() == 0 else ""
    conf = write("nginx.conf", f"{user} daemon off; worker_processes {WORKERS}; error_log /dev/null; pid {FOLDER}/nginx.pid; events {{}}\n"
                 f"http {{ access_log off; gzip on; gzip_min_length 1; gzip_comp_level 9; gzip_http_version 1.0; server {{ listen 127.0.0.1:{port}; "
                 f"root {FOLDER}; }} }}\n")
    ask = f"GET / HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n".encode()
    return server([program("nginx"), "-c", conf, "-p", FOLDER], lambda: converse(("127.0.0.1", port), ask))()


def program(*names):
    path = os.environ["PATH"] + ":/usr/sbin"
    for name in names:
        if found := shutil.which(name, path=path):
            return found
    raise LookupError(f"there is no {(names or ('php-fpm',))[0]} here")


def check_servers():
    for name, start in (("Python's multiprocessing", python_pool), ("Node's cluster", node), ("gunicorn", gunicorn), ("php-fpm", php_fpm),
                        ("nginx", nginx)):
        try:
            with start() as (master, workers):
                check(name, [master], workers)
        except LookupError as e:
            left_out.append(str(e))


def check_postgres():
    """A statement in each of some sessions; its sentence is older, and another one."""
    try:
        c = cluster.Cluster()
    except LookupError as e:
        left_out.append(str(e))
        return
    with c, c.server() as postmaster, contextlib.ExitStack() as stack:
        sessions = [stack.enter_context(c.session(f"s{n}")) for n in range(WORKERS)]
        for s in sessions:
            # nothing is kept, so that no file is written: a user's samples have no time in the kernel
            s.send("select count(*) from (select generate_series(1, 1000000000) as n) as s where n % 7 = 3;")
        backends = [b for b in children(postmaster.pid) if b"SELECT" in open(f"/proc/{b}/cmdline", "rb").read()]
        cluster.wait_for("backends work", lambda: len([b for b in children(postmaster.pid) if ran_ns(b) > WORKED_NS]) >= WORKERS)
        backends = [b for b in children(postmaster.pid) if ran_ns(b) > WORKED_NS]
        check("PostgreSQL", [postmaster.pid], backends, says=False)
        postmaster.stop()


def check_busy_machine():
    """As many processes as people's machines have at their worst."""
    if not shutil.which("stress-ng"):
        left_out.append("there is no stress-ng here")
        return
    with running(["stress-ng", "--cpu", "25", "-q"], nr_workers=25), python_pool() as (master, workers):
        check("Python's multiprocessing beside 25 busy processes", [master], workers)


def check_choice():
    """Which processes are taken, where not the default says so: by a shell that works, and its child, which does less."""
    script = "sleep 1000000 & while :; do :; done"
    with running(["bash", "-c", script], nr_workers=1) as (shell, [sleeper]):
        cluster.wait_for("the shell works", lambda: ran_ns(shell) > 2 * ran_ns(sleeper) + WORKED_NS)
        said = {}
        for how, options, what in (("alone", [], [shell]), ("--tree", ["--tree"], [shell]), ("two", [], [f"{shell},{sleeper}"]),
                                   ("--name", ["--name", "^sleep$", "--no-children"], [shell])):
            trace = f"{FOLDER}/{how}.tlr"
            p = subprocess.run([TAILOR, "attach", *EVENT, *options, "-d", "0.3", "-o", trace, *map(str, what)], capture_output=True, text=True)
            said[how] = mapped(trace) if p.returncode == 0 else p.stderr
        # (others may sleep by that name)
        if said["alone"] not in ({shell}, {shell, sleeper}) or said["--tree"] != {shell, sleeper} or said["two"] != {shell, sleeper} or \
           not {shell, sleeper} <= set(said["--name"]):
            faults.append(f"of shell {shell} and its child {sleeper}, recorded: {said}")


def main():
    check_choice()
    check_servers()
    check_postgres()
    check_busy_machine()
    for reason in left_out:
        print("left out:", reason)
    if faults:
        print("\n".join(faults))
        sys.exit(1)


main()
