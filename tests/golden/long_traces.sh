#!/bin/bash
# SPDX-License-Identifier: MIT
# Memory does not grow with a trace: four times as many samples in the same code take at most 4 MiB more, for the plan and for views
# that keep sums only (8 MiB where sums are kept per stretch of time: there are at most so many, and more samples fill more of them).
# One thread decodes: with more of them, how many blocks are in memory at a time depends on who gets a processor when.
# Not quick: makes long traces.
set -u
B=$1
[ -e "$B/bench/synthetic" ] || { echo "skipped, because $B/bench/synthetic has not been built (make table)"; exit 77; }
case ${SAN:-} in *address*) echo "skipped, because AddressSanitizer keeps what was freed"; exit 77 ;; esac
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$B/bench/synthetic" 1000000 100 "$dir/short.tlr" && "$B/bench/synthetic" 4000000 100 "$dir/long.tlr" || exit 1
/usr/bin/python3 - "$B/tailor" "$dir" <<'END'
import os, sys

tailor, dir = sys.argv[1:]
def peak_mib(name, *arguments):
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
        os.execv(tailor, [tailor, "report", "--threads", "1", *arguments, f"{dir}/{name}.tlr"])
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"tailor report {' '.join(arguments)} {name}.tlr: expected exit status 0, got {status}")
    return usage.ru_maxrss / 1024
bad = 0
for views in ["plan"], ["functions", "asm", "ir", "code", "tree"], ["threads", "timeline", "marks"]:
    arguments = [a for v in views for a in ("--view", v)]
    short, long = peak_mib("short", *arguments), peak_mib("long", *arguments)
    print(f"FIGURE {' '.join(views)}: {short:.1f} MiB for {os.path.getsize(dir + '/short.tlr') >> 20} MiB of trace, "
          f"{long:.1f} MiB for {os.path.getsize(dir + '/long.tlr') >> 20} MiB")
    more = 8 if "timeline" in views else 4
    if long > short + more:
        bad = 1
        print(f"tailor report {' '.join(arguments)}: expected at most {more} MiB more for four times as many samples")
sys.exit(bad)
END
