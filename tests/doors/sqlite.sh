#!/bin/bash
# SPDX-License-Identifier: MIT
# SQLite's shell, which scans three tables in turn, with another literal each time, until SIGTERM: sqlite.sh CLOCK.  CLOCK.PID has the user
# time that the shell says of each, in nanoseconds.
clock=$1.$$
exec sqlite3 :memory: > >(exec /usr/bin/python3 -c '
import re, sys
took, labels, at = [0, 0, 0], ("heavy", "middle", "light"), None
for line in sys.stdin:
    if line.strip() in labels:
        at = labels.index(line.strip())
    elif (m := re.match(r"Run Time: real [\d.]+ user ([\d.]+) sys ([\d.]+)", line)) and at is not None:
        took[at] += int(1e9 * (float(m[1]) + float(m[2])))
        at = None
        if took[2]:
            with open(sys.argv[1], "w") as f:
                f.write("%20d %20d %20d\n" % tuple(took))
' "$clock") < <(
	echo 'create table heavy(x integer); create table middle(x integer); create table light(x integer);'
	echo 'with recursive n(x) as (select 1 union all select x + 1 from n where x < 500000) insert into heavy select x from n;'
	echo 'insert into middle select x from heavy limit 300000; insert into light select x from heavy limit 200000;'
	echo '.timer on'
	for ((n = 1; ; n++)); do
		for table in heavy middle light; do
			echo ".print $table"
			echo "select count(*) from $table where x % 1000 < $((n % 10));"
		done
	done
)
