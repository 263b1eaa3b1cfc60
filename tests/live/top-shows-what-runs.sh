#!/bin/bash
# SPDX-License-Identifier: MIT
# `tailor top` names operators of a command at once, and functions of a running process: those of its language where `attach` does, with the
# same option, or it says what would; those of libraries as a report does.  Its keys do what its help says; what it writes is a trace with
# what was seen.  Whatever ends it (q, SIGTERM, the host's end), the terminal is as it was, and recorder and folder are gone;
# a process that ran before goes on.
# Rights: whose processes
. tests/live/begin.bash
trap 'kill -9 ${host:-} 2>/dev/null; rm -rf "$dir"' EXIT
mkdir "$dir/tmp"
cat >"$dir/test.py" <<'END'
import json, os, re, resource, shutil, signal, subprocess, sys, time
sys.path.insert(0, "tests")
from terminal import Screen
B, DIR = sys.argv[1:]
PATIENCE_S = 100
ENGINE = [f"{B}/engine", "--query", "q3", "--scale", "0.02", "--threads", "1", "--repeat", "10000000"]
ENVIRONMENT = dict(os.environ, LC_ALL="C.UTF-8", TMPDIR=f"{DIR}/tmp")
ENVIRONMENT.pop("COLUMNS", None)
bad = 0

def fail(sentence, screen=None):
    global bad
    bad = 1
    print(sentence, *(screen.text() if screen else []), sep="\n")

def shows(word):
    return lambda lines: any(word in line for line in lines)

def expect(screen, word, keys):
    screen.type(keys)
    if not screen.wait(shows(word), PATIENCE_S):
        fail(f"keys {keys!r}: expected '{word}' on the screen, got:", screen)

def expect_end(screen, how):
    status = screen.wait_for_end(PATIENCE_S)
    if status != 0:
        fail(f"{how}: expected exit status 0, got {status}", screen)
    if not screen.is_cooked():
        fail(f"{how}: expected the terminal as it was")
    if os.listdir(f"{DIR}/tmp"):
        fail(f"{how}: expected no folder that stays, got {os.listdir(f'{DIR}/tmp')}")

def has_join(look):
    return any(row["name"].startswith("hash join") for row in look["rows"])

def look_until_join():
    """A command again, without an end."""
    again = subprocess.Popen([f"{B}/tailor", "top", "--json", "--interval", "1", "--", *ENGINE], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, env=ENVIRONMENT, text=True)
    found = any(has_join(json.loads(line)) for line, _ in zip(again.stdout, range(PATIENCE_S)))
    again.terminate()
    again.wait()
    return found

# a command: the first look that has samples has its operators
run = subprocess.run([f"{B}/tailor", "top", "--json", "-n", "4", "--interval", "1", "--", *ENGINE], stdout=subprocess.PIPE,
                     stderr=subprocess.DEVNULL, env=ENVIRONMENT, text=True, timeout=PATIENCE_S)
looks = [json.loads(line) for line in run.stdout.splitlines()]
first = next((look for look in looks if look["level"] == "operator"), None)
if run.returncode or len(looks) != 4:
    fail(f"tailor top -n 4 -- engine: expected four looks, got exit status {run.returncode}: {run.stdout}")
else:
    # on a busy machine the engine is still loaded, or makes its data, in the first ones
    if not any(has_join(look) for look in looks) and not look_until_join():
        fail(f"expected a hash join, got {[look['rows'] for look in looks]}")
    if first:
        print(f"FIGURE operators are named {first['to_s']:.1f} s behind the first sample")
usage = resource.getrusage(resource.RUSAGE_CHILDREN)

# a process that runs, on a terminal
host = subprocess.Popen([f"{B}/hosts/busy", "1000000"], stdout=subprocess.DEVNULL)
def top(*arguments, lines=12, columns=80, **environment):
    os.chdir(DIR)
    screen = Screen([f"{B}/tailor", "top", "--interval", "0.5", *arguments], dict(ENVIRONMENT, **environment), lines, columns)
    os.chdir(HERE)
    return screen
HERE = os.getcwd()
screen = top("--window", "1000", str(host.pid))
function = "burn"
if not screen.wait(lambda t: any("%" in line and function in line for line in t), PATIENCE_S):
    fail("expected a function of the host on the screen, got:", screen)
expect(screen, "filter rows by a regular", "?")
expect(screen, "paused", " ")
expect(screen, "by total", "  s")
expect(screen, "by name", "s")
expect(screen, "by self", "s")
expect(screen, "/nothing-is-called-so/", "/nothing-is-called-so\r")
if any("%" in line for line in screen.text()[3:]):
    fail("expected no row that the filter leaves out, got:", screen)
screen.type("/" + "\b" * len("nothing-is-called-so") + "\r")
if not screen.wait(lambda t: function in t[3], PATIENCE_S):
    fail("expected all rows without a filter, got:", screen)
expect(screen, " lines", "\r")
expect(screen, "callers", "l")
expect(screen, "functions", "\b")
expect(screen, "threads", "L")
expect(screen, str(host.pid), "")
screen.type("w")
if not screen.wait(shows("written: "), PATIENCE_S):
    fail("w: expected a sentence about the trace, got:", screen)
written = [f for f in os.listdir(DIR) if f.startswith("top-") and f.endswith(".tlr")]
if len(written) != 1:
    fail(f"w: expected a trace, got {written}")
else:
    report = subprocess.run([f"{B}/tailor", "report", "--json", f"{DIR}/{written[0]}"], capture_output=True, text=True)
    if report.returncode or not json.loads(report.stdout)["samples"]["total"]:
        fail(f"tailor report of what was written: {report.stderr}")
screen.type(" ")
if not screen.wait(lambda t: re.search(r" -[0-9.]+ to ", t[0]), PATIENCE_S):
    fail("w: expected a window that begins before the cut, got:", screen)
screen.type("q")
expect_end(screen, "q")

# a window that is longer than the recording has all of its samples, also behind a cut
def look_behind_a_cut():
    """What is wrong, or None."""
    looking = subprocess.Popen([f"{B}/tailor", "top", "--json", "--interval", "0.2", "--window", "1000", "--rows", "0", str(host.pid)],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT, text=True)
    seen, joined, cuts, bad = {"samples": 0, "to_s": 0}, 0, 0, None
    for line, _ in zip(looking.stdout, range(1000)):
        look = json.loads(line)
        if look["samples"] < seen["samples"]:
            bad = f"expected the {seen['samples']} samples of a look to be in the next one, got {look['samples']}"
        names = {row["name"] for row in look["rows"]}
        if sum(row["samples"] for row in look["rows"]) != look["samples"] or len(names) != len(look["rows"]):
            bad = f"expected rows whose samples add up to {look['samples']}, got {look['rows']}"
        joined += look["from_s"] < 0
        if look["samples"] >= 20 and not cuts:
            recorder = open(f"/proc/{looking.pid}/task/{looking.pid}/children").read().split()[0]
            os.kill(int(recorder), signal.SIGUSR1)
            cuts = 1
        seen = look
        if joined >= 3 or bad:
            break
    looking.terminate()
    looking.wait()
    return bad if bad or joined >= 3 else f"expected looks that begin before a cut, got {seen}"


while True:  # a window has one cut: with that of a new minute there are two
    minute = time.time() // 60
    bad = look_behind_a_cut()
    if not bad or time.time() // 60 == minute:
        break
if bad:
    fail(bad)

# SIGTERM; 40 columns and a locale without UTF-8
screen = top(str(host.pid), columns=40, LC_ALL="C")
if not screen.wait(lambda t: any("%" in line and function in line for line in t), PATIENCE_S):
    fail("40 columns: expected a function of the host on the screen, got:", screen)
os.kill(screen.pid, signal.SIGTERM)
expect_end(screen, "SIGTERM")
if host.poll() is not None:
    fail("expected the process to go on")

# the terminal's other end is closed, without SIGHUP: it is no terminal of its session
os.chdir(DIR)
screen = Screen(["/usr/bin/setsid", "--wait", f"{B}/tailor", "top", "--interval", "0.5", str(host.pid)], ENVIRONMENT, 12, 80)
os.chdir(HERE)
if not screen.wait(shows(function), PATIENCE_S):
    fail("in a session of its own: expected a function of the host on the screen, got:", screen)
os.close(screen.fd)
end = time.monotonic() + PATIENCE_S
while os.listdir(f"{DIR}/tmp") and time.monotonic() < end:
    time.sleep(0.05)
if os.listdir(f"{DIR}/tmp"):
    fail("its terminal is closed: expected it to end")

def look_until(what, condition, *arguments):
    """Looks at a process until one of them is as wanted."""
    looking = subprocess.Popen([f"{B}/tailor", "top", "--json", "--interval", "0.5", *arguments], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=ENVIRONMENT, text=True)
    look = None
    for line, _ in zip(looking.stdout, range(2 * PATIENCE_S)):
        look = json.loads(line)
        if condition(look):
            break
    else:
        looking.terminate()
        fail(f"tailor top {' '.join(arguments)}: expected {what}, got {look} and: {looking.stderr.read()}")
    looking.terminate()
    looking.wait()

def names_of(look):
    return {row["name"] for row in look["rows"]}

def while_it_runs(command, test, ready=None):
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        if ready:
            running.stdout.readline()
        test(str(running.pid))
    finally:
        running.kill()
        running.wait()

# functions of the language, or how they get names
with open(f"{DIR}/shop.py", "w") as program:
    program.write("""def tax(n):
    s = 0
    for i in range(n): s += i * i % 7
    return s
print("ready", flush=True)
while True: tax(5000)
""")
with open(f"{DIR}/shop.js", "w") as program:
    program.write("""console.log('ready')
function tax(n) { return n < 2 ? n : tax(n - 1) + tax(n - 2) }
function serve() { const end = Date.now() + 50; while (Date.now() < end) tax(19) }
setInterval(serve, 60)
""")
def of_python(pid):
    look_until("a note about names", lambda look: any("--inject" in note for note in look["notes"]), pid)
    if os.geteuid() == 0:
        look_until("tax() first", lambda look: look["by"] == "language" and look["rows"][0]["name"] == "tax" and
                   look["rows"][0]["place"] == "shop.py:1" and not look["notes"], "--inject", pid)
def of_node(pid):
    look_until("a note about names", lambda look: any("--inject" in note and "%" in note for note in look["notes"]), pid)
    if os.geteuid() == 0:
        look_until("tax()", lambda look: look["by"] == "language" and "tax" in names_of(look), "--inject", pid)
PYTHON = "/usr/bin/python3"
if subprocess.run([PYTHON, "-c", "import sys; sys.exit(not (3, 8) <= sys.version_info < (3, 16))"]).returncode == 0:
    while_it_runs([PYTHON, f"{DIR}/shop.py"], of_python, ready=True)
if shutil.which("node") and subprocess.run(["node", "-e", "process.exit(process.versions.v8 ? 0 : 1)"]).returncode == 0:
    while_it_runs(["node", f"{DIR}/shop.js"], of_node, ready=True)

# functions that a library does not export, by the package of debug symbols from which a report has them
with open(f"{DIR}/sorts.c", "w") as program:
    program.write("""#include <stdlib.h>
static int before(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int keys[65536];
int main(void) { for (;;) { for (int i = 0; i < 65536; i++) keys[i] = i * 7919 % 65536; qsort(keys, 65536, 4, before); } }
""")
subprocess.run([os.environ.get("CC", "gcc"), "-O1", "-o", f"{DIR}/sorts", f"{DIR}/sorts.c"], check=True)
def of_libc(pid):
    path = next((line.split()[-1] for line in open(f"/proc/{pid}/maps") if "/libc.so.6" in line), None)
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True).stdout if path else ""
    found = re.search(r"Build ID: (..)(\w+)", notes)
    if found and os.path.exists(f"/usr/lib/debug/.build-id/{found[1]}/{found[2]}.debug"):
        # without the package all of it is at addresses; the library's table of jumps, which sorting uses for memmove(), has no names
        look_until("qsort's inner function by its name", lambda look: any("msort" in n or "qsort" in n or "introsort" in n
                   for n in names_of(look)) and sum(row["share"] for row in look["rows"] if row["name"].startswith("libc.so.6+")) < 0.1,
                   "--by", "functions", pid)
while_it_runs([f"{DIR}/sorts"], of_libc)

# a message of the recorder is the command's that was called
nobody = subprocess.run([f"{B}/tailor", "top", "--once", "4194304"], capture_output=True, text=True, env=ENVIRONMENT)
if nobody.returncode != 1 or not nobody.stderr.startswith("tailor top: "):
    fail(f"tailor top of no process: expected a sentence of tailor top, got exit status {nobody.returncode} and: {nobody.stderr}")

# the host's end; 200 columns
screen = top(str(host.pid), columns=200, lines=50)
screen.wait(shows("%"), PATIENCE_S)
host.kill()
expect_end(screen, "the host's end")
host.wait()

# a recorder that cannot begin
screen = top(str(host.pid))
status = screen.wait_for_end(PATIENCE_S)
if not status or not shows("process")(screen.text()):
    fail(f"a process that has ended: expected a sentence and an exit status, got {status}", screen)
if not screen.is_cooked():
    fail("a process that has ended: expected the terminal as it was")
print(f"FIGURE four looks at a busy engine: {usage.ru_utime + usage.ru_stime:.2f} s of processor time, with the engine's")
sys.exit(bad)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"
finish
