#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Writes postgres_layout.c from the headers of PostgreSQL servers: one folder for each major version, as `pg_config --includedir-server`
# names it (Debian: apt-get download postgresql-server-dev-15; dpkg -x).  From the top folder:
#
#	jitreg/engines/postgres_layout.sh /usr/include/postgresql/*/server > jitreg/engines/postgres_layout.c
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat > "$work/layout.c" <<'PROGRAM'
#include "postgres.h"
#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "executor/execdesc.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/plannodes.h"
#include "utils/backend_status.h"
#include "utils/portal.h"
#include "utils/rel.h"
#include "jitreg/engines/postgres_layout.h"
#include <stddef.h>
#include <stdio.h>
#undef printf
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

cat <<'HEAD'
/* SPDX-License-Identifier: MIT */
/* Written by postgres_layout.sh from the servers' headers. */
#include "jitreg/engines/postgres_layout.h"

#include <stddef.h>

static const struct postgres_layout layouts[] = {
HEAD
versions=
for folder; do
	gcc -w -I "$folder" -I . -o "$work/layout" "$work/layout.c"
	"$work/layout"
	versions+=${versions:+, }$(sed -n 's/^#define PG_MAJORVERSION "\(.*\)"/\1/p' "$folder/pg_config.h")
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

const char *postgres_layout_versions(void)
{
	return "$versions";
}
TAIL
