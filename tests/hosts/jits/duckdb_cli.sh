#!/bin/bash
# SPDX-License-Identifier: MIT
# duckdb_cli.sh SECONDS: statements for a shell of SQL, again and again for so long.  Each is longer than a pipe, so that none is written
# much before it runs.
echo "create table t as select range k, range % 997 g, (range * 7) % 1000 v from range(5000000);"
echo "create table u as select range g, range % 31 h from range(997);"
printf -v blanks '%70000s' ''
for ((end = SECONDS + ${1%.*}; SECONDS < end;)); do
	echo "select h, sum(v), count(*) from t join u using (g) where v % 3 < 2 group by h order by h limit 1 $blanks;" || exit 0
done
