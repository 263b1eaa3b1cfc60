/* SPDX-License-Identifier: MIT */
/*
 * All records of jitreg.h and trace.h as one table, expanded from their lists: what the recorder's parser, the trace's
 * writer, reader and dump walk.  Context: any.
 */
#ifndef TAILOR_SCHEMA_H
#define TAILOR_SCHEMA_H

#include "jitreg/trace/trace.h"

#include <stdbool.h>
#include <stddef.h>

enum schema_kind {
	SCHEMA_U32,
	SCHEMA_U64,
	SCHEMA_S64,
	SCHEMA_NR, /* a count in the wire form only; not in the trace */
	SCHEMA_STR,
	SCHEMA_BIN,
	SCHEMA_ARR,
	SCHEMA_ZSTR,
	SCHEMA_REST,
	SCHEMA_LINES,
};

#define SCHEMA_MEMBERS_MAX 4

/* Of a list: an array of its members, in the trace as in memory and on the wire. */
struct schema_element {
	const char *name;
	int nr_members;
	struct {
		const char *name;
		enum schema_kind kind; /* U64, STR or BIN */
	} member[SCHEMA_MEMBERS_MAX];
};

struct schema_field {
	const char *name;
	const struct schema_element *element; /* of ARR and LINES, else NULL */
	enum schema_kind kind;
	bool is_trailing; /* a later version's, behind the variable parts: 0 in records that end before it */
};

#define SCHEMA_FIELDS_MAX 16

struct schema_record {
	uint32_t id;
	const char *name; /* "LOAD" */
	int nr_fields;    /* NR fields included */
	int nr_values;    /* without NR fields: as in the trace */
	struct schema_field fields[SCHEMA_FIELDS_MAX];
};

/* NULL when there is no such record. */
const struct schema_record *schema_find(uint32_t id);
/* The n-th record of the table, or NULL behind the last. */
const struct schema_record *schema_at(int n);
/* Which chunks hold records of this id; those that this version does not know stand among the others. */
enum trace_chunk_type schema_chunk_type_of(uint32_t id);

/*
 * F(component, name): index of a field among a trace record's fields (NR fields do not count; the prefix id, time, pid,
 * tid neither).  A struct with one char per field, made from the same lists, is counted by offsetof.
 */
#define SCHEMA_C_(f) char f;
#define SCHEMA_C2_(f, element) char f;
#define SCHEMA_C0_(f)
#define SCHEMA_INDEX_JITREG_(NAME, name, id) \
	struct schema_index_##name { \
		JITREG_FIELDS_##NAME(SCHEMA_C_, SCHEMA_C_, SCHEMA_C_, SCHEMA_C0_, SCHEMA_C_, SCHEMA_C_, SCHEMA_C2_, \
				     SCHEMA_C_, SCHEMA_C_, SCHEMA_C_) \
		JITREG_TRAILING_##NAME(SCHEMA_C_, SCHEMA_C_) char nr_fields_; \
	};
#define SCHEMA_INDEX_TRACE_(NAME, name, id) \
	struct schema_index_##name { \
		TRACE_FIELDS_##NAME(SCHEMA_C_, SCHEMA_C_, SCHEMA_C_, SCHEMA_C0_, SCHEMA_C_, SCHEMA_C_, SCHEMA_C2_, \
				    SCHEMA_C_, SCHEMA_C_, SCHEMA_C_) char nr_fields_; \
	};
JITREG_RECORDS(SCHEMA_INDEX_JITREG_)
TRACE_RECORDS(SCHEMA_INDEX_TRACE_)
#define F(record, field) ((int)offsetof(struct schema_index_##record, field))
/* How many fields a record has in this version. */
#define F_COUNT(record) F(record, nr_fields_)

/*
 * One field's value, as the wire parser yields it and trace_record_values() takes it.  Text and bytes point into the record.
 */
struct schema_value {
	enum schema_kind kind;
	uint64_t u;    /* U32, U64; S64 as two's complement; ARR, LINES: number of elements */
	const void *p; /* STR, ZSTR, BIN, REST: not NUL-terminated; ARR: elements, all u64, as on the wire; LINES: packed */
	size_t bytes;  /* of what p points to */
};

/*
 * Check one record of an untrusted writer: size bytes that start with its prefix.  On success values[] holds the
 * fields that the trace keeps (no NR), *nr_values how many.  Trailing bytes are ignored; an unknown id is -ENOENT.
 * Returns 0, -ENOENT or -EBADMSG.  Reads nothing outside [record, record + size); copes with any alignment.
 */
int schema_parse(const void *record, size_t size, struct schema_value values[SCHEMA_FIELDS_MAX], int *nr_values);

#endif
