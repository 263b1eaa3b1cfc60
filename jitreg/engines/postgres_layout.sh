#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The tables of postgres_layout.c, from the headers of PostgreSQL servers: one folder for each major version, as `pg_config
# --includedir-server` names it (Debian: apt-get download postgresql-server-dev-18; dpkg -x).  From the top folder:
#
#	jitreg/engines/postgres_layout.sh print FOLDER...	the tables of these headers
#	jitreg/engines/postgres_layout.sh write FOLDER...	put them into postgres_layout.c; tables of other versions stay
#	jitreg/engines/postgres_layout.sh check FOLDER...	compare them with those in postgres_layout.c
set -euo pipefail
committed=jitreg/engines/postgres_layout.c
how=${1:-}
shift || true
case $how in
print | write | check) [ $# -gt 0 ] || { echo "$0: no folder of headers was given" >&2; exit 2; } ;;
*)
	echo "usage: $0 print|write|check FOLDER..." >&2
	exit 2
	;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat > "$work/layout.c" <<'PROGRAM'
#include "postgres.h"
#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "executor/execdesc.h"
#include "executor/instrument.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/plannodes.h"
#include "plpgsql.h"
#include "utils/backend_status.h"
#include "utils/catcache.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/rel.h"
#include "jitreg/engines/postgres_layout.h"
#include <stddef.h>
#include <stdio.h>
#undef printf
#if PG_VERSION_NUM < 150000
#define String Value
#define sval val.str
#endif
/* 19 gave the counts of nodes a struct of their own. */
#if PG_VERSION_NUM < 190000
#define NodeInstrumentation Instrumentation
#endif
/* What utils/mmgr/aset.c has at the beginning of its contexts. */
typedef struct {
	MemoryContextData header;
	void *blocks;
} AllocSetContextHead;
#define OFFSET(field, type, member) printf("\t\t." #field " = %zu,\n", offsetof(type, member));
#define TAG(field, node) printf("\t\t.tag_" #field " = %d,\n", (int)T_##node);
#define STATE(NAME, node, text) printf("\t\t\t[POSTGRES_" #NAME "] = %d,\n", (int)T_##node##State);
#define PLAN(NAME, node, text) printf("\t\t\t[POSTGRES_" #NAME "] = %d,\n", (int)T_##node);
int main(void)
{
	printf("\t{\n\t\t.major = %d,\n", PG_VERSION_NUM / 10000);
	POSTGRES_OFFSETS(OFFSET)
	POSTGRES_TAGS(TAG)
	printf("\t\t.tag_of_state = {\n");
	POSTGRES_NODES(STATE)
	printf("\t\t},\n\t\t.tag_of_plan = {\n");
	POSTGRES_NODES(PLAN)
	printf("\t\t},\n\t},\n");
	return 0;
}
PROGRAM

# The table of a version that postgres_layout.c has.
table_of() { # MAJOR
	awk -v wanted="$1" '
		/^\t\{$/ { text = "" }
		{ text = text $0 "\n" }
		/^\t\t\.major = / { major = $3 + 0 }
		/^\t\},$/ { if (major == wanted) printf "%s", text; major = 0 }' "$committed"
}

majors=()
for folder; do
	major=$(sed -n 's/^#define PG_MAJORVERSION "\(.*\)"/\1/p' "$folder/pg_config.h")
	${CC:-gcc} -w -I "$folder" -I . -o "$work/layout" "$work/layout.c"
	"$work/layout" >"$work/table.$major"
	majors+=("$major")
done

case $how in
print)
	for major in "${majors[@]}"; do cat "$work/table.$major"; done
	exit 0
	;;
check)
	differs=0
	for major in "${majors[@]}"; do
		if [ -z "$(table_of "$major")" ]; then
			echo "PostgreSQL $major: $committed has no table of this version; jitreg/engines/README.md says how to add it"
		elif ! table_of "$major" | diff "$work/table.$major" - >"$work/diff"; then
			echo "PostgreSQL $major: the headers (<) and $committed (>) differ:"
			cat "$work/diff"
			differs=1
		fi
	done
	exit $differs
	;;
esac

for major in $(sed -n 's/^\t\t\.major = \([0-9]*\),$/\1/p' "$committed"); do
	[ -e "$work/table.$major" ] || table_of "$major" >"$work/table.$major"
done
{
	cat <<'HEAD'
/* SPDX-License-Identifier: MIT */
/* This file was written by postgres_layout.sh from the servers' headers. */
#include "jitreg/engines/postgres_layout.h"

#include <stddef.h>

static const struct postgres_layout layouts[] = {
HEAD
	for table in $(printf '%s\n' "$work"/table.* | sort -V); do
		cat "$table"
	done
	cat <<TAIL
};

const struct postgres_layout *postgres_layout_of(unsigned major)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].major == major)
			return &layouts[i];
	return NULL;
}
TAIL
} >"$work/new.c"
cp "$work/new.c" "$committed"
