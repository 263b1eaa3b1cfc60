#!/bin/bash
# SPDX-License-Identifier: MIT
# compile_commands.json, from what make itself would run: tests/compile_commands.sh BUILD TARGET... >compile_commands.json
set -eu
B=$1
shift
make -nB --no-print-directory B="$B" "$@" | /usr/bin/python3 -c '
import json, os, re, shlex, sys
commands = {}
for line in sys.stdin:
    m = re.match(r"\S*(?:gcc|cc|clang)\S* .*-c (\S+\.c) -o (\S+)$", line.strip())
    if m:
        commands[m.group(1)] = {"directory": os.getcwd(), "file": m.group(1), "output": m.group(2), "arguments": shlex.split(line)}
json.dump([commands[f] for f in sorted(commands)], sys.stdout, indent=1)
print()'
