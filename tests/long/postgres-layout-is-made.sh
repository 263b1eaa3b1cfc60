#!/bin/bash
# SPDX-License-Identifier: MIT
# The offsets of PostgreSQL's structs that are committed are those of the servers' headers, where these are installed.
set -u
folders=()
for folder in /usr/include/postgresql/*/server; do
	[ -e "$folder/postgres.h" ] && folders+=("$folder")
done
if [ ${#folders[@]} -eq 0 ]; then
	echo "skipped, because no server's headers are installed (package postgresql-server-dev-15, or that of another version)"
	exit 77
fi
jitreg/engines/postgres_layout.sh check "${folders[@]}"
