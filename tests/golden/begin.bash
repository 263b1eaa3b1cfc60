# SPDX-License-Identifier: MIT
# How goldens begin that make traces in Python: `. tests/golden/begin.bash`.  $B is the build folder, $dir a folder that goes when the test
# does; Python finds trace_file.py and bombs.py.  (It is not exec'ed: then nobody would remove the folder.)
set -u
B=$1
/usr/bin/python3 -c 'import msgpack' 2>/dev/null || { echo "skipped, because python3-msgpack is not installed"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PYTHONPATH=tests:tests/golden
