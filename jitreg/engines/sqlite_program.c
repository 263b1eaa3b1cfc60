/* SPDX-License-Identifier: MIT */
#include "jitreg/engines/sqlite_program.h"

#include <stdio.h>
#include <string.h>

/* These are opcodes of all versions since 3.8 that use the cursor p1. */
static const char *const uses[] = {
	"Close", "Column", "Count", "DeferredSeek", "Delete", "FinishSeek", "Found", "IdxDelete", "IdxGE", "IdxGT", "IdxInsert", "IdxLE",
	"IdxLT", "IdxRowid", "IfEmpty", "IfNoHope", "IfNotOpen", "IfSizeBetween", "Insert", "Last", "NewRowid", "Next", "NoConflict",
	"NotExists", "NotFound", "NullRow", "Offset", "Prev", "PrevIfOpen", "NextIfOpen", "ResetSorter", "Rewind", "RowCell", "RowData",
	"Rowid", "Seek", "SeekEnd", "SeekGE", "SeekGT", "SeekHit", "SeekLE", "SeekLT", "SeekRowid", "SeekScan", "Sequence", "SequenceTest",
	"Sort", "SorterCompare", "SorterData", "SorterInsert", "SorterNext", "SorterSort", "VColumn", "VFilter", "VInitIn", "VNext",
};
struct opening {
	const char *name, *label;
};
static const struct opening openings[] = {
	{ "OpenRead", NULL },		      { "OpenWrite", NULL },	     { "ReopenIdx", NULL },
	{ "OpenAutoindex", "(automatic index)" }, { "OpenDup", "(ephemeral table)" }, { "OpenEphemeral", "(ephemeral table)" },
	{ "OpenPseudo", "(row)" },	      { "SorterOpen", "(sorter)" },   { "VOpen", "(virtual table)" },
};
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static const struct opening *find_opening_opcode(const char *name)
{
	for (size_t i = 0; name && i < COUNT(openings); i++)
		if (strcmp(openings[i].name, name) == 0)
			return &openings[i];
	return NULL;
}

enum sqlite_kind sqlite_kind_of_opcode(const char *opcode_name)
{
	const struct opening *o = find_opening_opcode(opcode_name);

	if (o)
		return o->label ? SQLITE_OPENS_OTHER : SQLITE_OPENS;
	for (size_t i = 0; opcode_name && i < COUNT(uses); i++)
		if (strcmp(uses[i], opcode_name) == 0)
			return SQLITE_USES;
	return opcode_name && strcmp(opcode_name, "Program") == 0 ? SQLITE_CALLS : SQLITE_OTHER;
}

const char *sqlite_cursor_label(const char *opcode_name)
{
	const struct opening *o = find_opening_opcode(opcode_name);

	return o ? o->label : NULL;
}

bool sqlite_is_program(const void *first, uint32_t nr, uint32_t stride, const char *(*name)(int opcode))
{
	const unsigned char *at = first;
	const struct sqlite_op *init = first;

	if (nr < 2 || nr > SQLITE_OPS_MAX || stride < sizeof(*init) || stride > 256 || stride % 8)
		return false;
	if (!name(*at) || strcmp(name(*at), "Init") != 0 || init->p2 < 0 || (uint32_t)init->p2 > nr)
		return false;
	for (uint32_t i = 0; i < nr; i++)
		if (!name(at[(size_t)i * stride]) || !*name(at[(size_t)i * stride]))
			return false;
	return true;
}

void sqlite_op_name(const struct sqlite_op *op, uint32_t n, const char *opcode_name, const char *table, char *to, size_t room)
{
	if (table && strcmp(opcode_name, "Column") == 0)
		snprintf(to, room, "%u %s %s.%d", n, opcode_name, table, op->p2);
	else
		snprintf(to, room, "%u %s%s%s", n, opcode_name, table ? " " : "", table ? table : "");
}

void sqlite_op_detail(const struct sqlite_op *op, char *to, size_t room)
{
	snprintf(to, room, "p1 %d, p2 %d, p3 %d, p5 %u", op->p1, op->p2, op->p3, op->p5);
}
