#!/bin/bash
# SPDX-License-Identifier: MIT
# fleet-in-clickhouse with the engine of a current ClickHouse: chdb, which pip installs into BUILD/chdb.
set -u
python=$1/chdb/bin/python

install() {
	rm -rf "$1/chdb"
	/usr/bin/python3 -m venv "$1/chdb" && "$1/chdb/bin/pip" install -q --disable-pip-version-check chdb && "$python" -c 'import chdb'
}

if ! "$python" -c 'import chdb' 2>/dev/null && ! install "$1" >"$1/chdb.log" 2>&1; then
	tail -n 3 "$1/chdb.log"
	echo "skipped, because chdb cannot be installed from PyPI"
	exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
TZ=UTC CHDB_PYTHON=$(cd "$1" && pwd)/chdb/bin/python /usr/bin/python3 tests/long/fleet.py "$(cd "$1" && pwd)" "$dir"
