#!/bin/bash
# SPDX-License-Identifier: MIT
# A service that is started, crashes and is started again, and one whose processes replace each other, are in the store of a recorder that
# was there before them: by name, by program and by a user without rights.  What is missing of their processor time, as their parent was
# told of it, is a loss with a number.
. tests/live/begin.bash
cat >"$dir/burn.c" <<'C'
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv)
{
	double until = argc > 1 ? atof(argv[1]) : 0;
	volatile unsigned n = 0;
	struct timespec t;

	do {
		for (int i = 0; i < 1000000; i++) /* a user's samples have no time in the kernel, which tells the clock */
			n++;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < until);
	return 3;
}
C
${CC:-cc} -O1 -o "$dir/tlater_crash" "$dir/burn.c" || exit 1
cp "$dir/tlater_crash" "$dir/tlater_roll"
chmod 755 "$dir"
cat >"$dir/test.py" <<'END'
import atexit, json, os, subprocess, sys, time
B, DIR = sys.argv[1:]
CRASHES, CRASH_S, ROLL_S, PATIENCE_S = 15, 0.2, 0.6, 120
bad = 0

def fail(sentence):
    global bad
    bad = 1
    print(sentence)

class Watch:
    """`tailor watch` of processes that do not run yet; user: which one's, None: ours."""
    def __init__(self, name, door, user=None):
        folder = f"{DIR}/{name}"
        os.mkdir(folder)
        if user is not None:
            os.chown(folder, user, user)
        self.store = f"{folder}/w.tlrs"
        self.run = subprocess.Popen([f"{B}/tailor", "watch", "--store", self.store, "--epochs", "1s", "--cost", "20%", *door],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, user=user)
        atexit.register(self.run.kill) # where the test fails on the way
        self.first = self.run.stderr.readline()
        begin = time.monotonic()
        while self.run.poll() is None and not os.path.isdir(f"{self.store}.epochs") and time.monotonic() - begin < PATIENCE_S:
            time.sleep(0.05)

    def report(self, view):
        r = subprocess.run([f"{B}/tailor", "db", "report", self.store, "--view", view, "--json"], capture_output=True, text=True)
        return json.loads(r.stdout).get("tables", {}) if r.returncode == 0 and r.stdout else {}

    def has(self, process):
        return sum(p["weight"] for p in self.report("processes").get("processes", []) if p["name"] == process) / 1e9

    def late(self):
        lost = self.report("reasons").get("losses", [])
        return sum(l["count"] for l in lost if l["name"].startswith("microseconds of new")) / 1e6

    def wait_for(self, process, least_s, or_late=True):
        begin = time.monotonic()
        while self.run.poll() is None and self.has(process) + or_late * self.late() < least_s and time.monotonic() - begin < PATIENCE_S:
            time.sleep(0.2)

    def end(self):
        self.run.terminate()
        said = self.run.communicate()[1]
        if self.run.returncode:
            fail(f"expected watch to end with 0, got {self.run.returncode}: {said}")

def supervise(program, times, cpu_s, overlap):
    """Starts the program again and again, two at a time where they overlap; the processor time of all."""
    used, running = 0, []
    for _ in range(times):
        running.append(os.posix_spawn(program, [program, str(cpu_s)], os.environ))
        while len(running) > overlap:
            u = os.wait4(running.pop(0), 0)[2]
            used += u.ru_utime + u.ru_stime
    for pid in running:
        u = os.wait4(pid, 0)[2]
        used += u.ru_utime + u.ru_stime
    return used

def check(what, watch, process, used, share):
    watch.wait_for(process, used * share)
    watch.end()
    got, late = watch.has(process), watch.late()
    print(f"FIGURE {what}: {used:.3f} s ran, {got:.3f} s in the store, at most {late:.3f} s before their counters")
    if not used * share <= got + late or got > used * 1.1:
        fail(f"{what}: expected {used:.3f} s of {process} in the store, got {got:.3f} and {late:.3f} before its counters")
    other = [p["name"] for p in watch.report("processes").get("processes", []) if p["name"] != process]
    if other:
        fail(f"{what}: expected {process} alone, got {other}")

def told(watch):
    return "the kernel reports them" in watch.first

crash = Watch("crash", ["--name", "^tlater_cra"])
if "new processes whose name has a match of '^tlater_cra' are" not in crash.first:
    fail(f"expected the first line to say how new processes are found, got {crash.first}")
used = supervise(f"{DIR}/tlater_crash", CRASHES, CRASH_S, 0)
check("a crash loop", crash, "tlater_crash", used, 0.9 if told(crash) else 0)

roll = Watch("roll", ["--exec", f"{DIR}/tlater_roll"])
used = supervise(f"{DIR}/tlater_roll", 2, ROLL_S, 1)
os.rename(f"{DIR}/tlater_crash", f"{DIR}/tlater_roll") # a deployment: another file takes the place of the one that runs
used += supervise(f"{DIR}/tlater_roll", 3, ROLL_S, 1)
check("a rolling update", roll, "tlater_roll", used, 0.9 if told(roll) else 0)

may = os.getuid() == 0 and subprocess.run(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "test", "-x",
                                           f"{B}/tailor"], stderr=subprocess.DEVNULL).returncode == 0
if may: # own processes only; in a folder that others may enter
    user = Watch("user", ["--name", "^tlater_us"], 65534)
    os.rename(f"{DIR}/tlater_roll", f"{DIR}/tlater_user")
    pid = subprocess.Popen([f"{DIR}/tlater_user", "1e9"], user=65534)
    other = subprocess.Popen([f"{DIR}/tlater_user", "1e9"])
    try:
        user.wait_for("tlater_user", 0.01, or_late=False) # what has gone before its counters has no name yet
    finally:
        for p in (pid, other):
            p.kill()
            p.wait()
    user.end()
    if user.run.returncode == 0 and not user.has("tlater_user") > 0:
        fail(f"expected the user's own process in the store; the first line was {user.first}")
    print(f"FIGURE a user without rights: {user.first.strip()}")
sys.exit(bad)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"
finish
