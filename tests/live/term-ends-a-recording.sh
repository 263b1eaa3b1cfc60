#!/bin/bash
# SPDX-License-Identifier: MIT
# A recording ends soon after TERM, whatever lies where a host's perf map and jitdump would: here sparse files of 1 TiB, of which the
# end reads no more than a drain may, and takes no more processor time.  (Not by the clock: a busy machine says nothing about the recorder.)
# Rights: what of an ended process can be read
. tests/live/begin.bash
judge timeout "$PATIENCE_S" /usr/bin/python3 - "$B/tailor" "$dir" "$(plain_event)" <<'PYTHON'
import os, signal, struct, subprocess, sys, time
tailor, folder, event = sys.argv[1:]
host = r'''
import mmap, os, struct, sys, time
dump = os.open(f"{sys.argv[1]}/jit-{os.getpid()}.dump", os.O_RDWR | os.O_CREAT)
os.pwrite(dump, struct.pack("<6I2Q", 0x4a695444, 1, 40, 62, 0, os.getpid(), 0, 0), 0)
for i in range(2048):  # records of a later version, 32 MiB each
    os.pwrite(dump, struct.pack("<2IQ", 200, 32 << 20, time.monotonic_ns()), 40 + (i * 32 << 20))
os.truncate(dump, 1 << 40)
names = f"/tmp/perf-{os.getpid()}.map"
with open(names, "w") as f:
    f.write("10000 20 f\n")
os.truncate(names, 1 << 40)
generated = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
mapped = mmap.mmap(dump, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE)
print(os.getpid(), flush=True)
while True:
    pass
'''

def wait_for(condition, what):
    end = time.monotonic() + 120
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"did not happen: {what}")
        time.sleep(0.05)

def has_open(pid, name):
    files = f"/proc/{pid}/fd"
    return any(os.path.basename(os.readlink(f"{files}/{fd}")) == name for fd in os.listdir(files) if os.path.islink(f"{files}/{fd}"))

def read_so_far(pid):  # bytes; None once it has ended, for who may not look into what has no memory any more
    try:
        return int(dict(line.split(": ") for line in open(f"/proc/{pid}/io"))["rchar"])
    except (PermissionError, FileNotFoundError, ProcessLookupError):
        return None

def processor_time(pid):  # seconds
    fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

def until_its_end(pid):
    """The bytes that it had read when it was last seen, and its processor time, which says what a look at the bytes came too late for."""
    read = read_so_far(pid)
    while not os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG):
        read = read_so_far(pid) or read
        time.sleep(0.002)
    return read_so_far(pid) or read, processor_time(pid)

def try_it(form, recorder, pid):
    wait_for(lambda: has_open(recorder.pid, f"perf-{pid}.map") and has_open(recorder.pid, f"jit-{pid}.dump"),
             f"{form}: the recorder has opened both files")
    before = read_so_far(recorder.pid), processor_time(recorder.pid)
    recorder.terminate()
    read, seconds = (after - b for after, b in zip(until_its_end(recorder.pid), before))
    recorder.wait()
    print(f"FIGURE {form}: after TERM {read >> 20} MiB were read in {seconds:.2f} s of processor time")
    if read > 512 << 20 or seconds > 2:
        sys.exit(f"{form}: expected 512 MiB and 2 s of processor time at most, got {read >> 20} MiB and {seconds:.2f} s")
    dumped = subprocess.run([tailor, "report", f"{folder}/t.tlr"], capture_output=True, text=True)
    if "not read to their end: too large" not in dumped.stdout:
        sys.exit(f"{form}: expected a warning 'not read to their end: too large', got:\n{dumped.stdout}{dumped.stderr}")

command = ["/usr/bin/python3", "-c", host, folder]
alone = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
pids = [alone.pid]
try:
    record = [tailor, "attach", "-q", "-e", event, "-o", f"{folder}/t.tlr", str(int(alone.stdout.readline()))]
    try_it("attach", subprocess.Popen(record), alone.pid)
    record = [tailor, "run", "-q", "--no-preload", "-e", event, "-o", f"{folder}/t.tlr", "--", *command]
    recorder = subprocess.Popen(record, stdout=subprocess.PIPE, text=True)
    pids.append(int(recorder.stdout.readline()))
    try_it("run", recorder, pids[1])
finally:
    alone.kill()
    for pid in pids:
        try:
            os.unlink(f"/tmp/perf-{pid}.map")
        except FileNotFoundError:
            pass
PYTHON
finish
