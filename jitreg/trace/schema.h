/* SPDX-License-Identifier: MIT */
/*
 * All records of jitreg.h and trace.h as one table, expanded from their lists.  The recorder's parser, and the writer, the reader and the
 * dump of traces use it.  Context: any.
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

/* An element of a list is an array of its members, in the trace, in memory and on the wire. */
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
	const struct schema_element *element; /* element of ARR and LINES, or NULL */
	enum schema_kind kind;
	bool is_trailing; /* added by a later version behind the variable parts; 0 in records that end before it */
};

#define SCHEMA_FIELDS_MAX 16

struct schema_record {
	uint32_t id;
	const char *name; /* "LOAD" */
	int nr_fields;    /* NR fields included */
	int nr_values;    /* NR fields excluded, as in the trace */
	struct schema_field fields[SCHEMA_FIELDS_MAX];
};

/* The record with this id, or NULL if there is none. */
const struct schema_record *schema_find(uint32_t id);
/* The nth record of the table, or NULL behind the last one. */
const struct schema_record *schema_at(int n);
/* The type of chunks that hold records with this id.  Ids that this version does not know are in RECORDS chunks. */
enum trace_chunk_type schema_chunk_type_of(uint32_t id);

/*
 * F(component, name) is the index of a field among the values of a trace record.  NR fields and the prefix (id, time, pid, tid) do not
 * count.  The index is the offset in a struct with one char per field, which is made from the same lists.
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
/* The number of values that a record has in this version. */
#define F_COUNT(record) F(record, nr_fields_)

/*
 * The value of a field, as schema_parse() returns it and trace_record_values() takes it.  Text and bytes point into the record.
 */
struct schema_value {
	enum schema_kind kind;
	uint64_t u;    /* U32, U64; S64 as two's complement; ARR, LINES: number of elements */
	const void *p; /* STR, ZSTR, BIN, REST: not NUL-terminated; ARR: elements, all u64, as on the wire; LINES: packed */
	size_t bytes;  /* size of p */
};

/*
 * Check a record of an untrusted writer: size bytes that begin with its prefix.  On success, values[] has the fields that the trace keeps
 * (no NR), and *nr_values their number.  Trailing bytes are ignored.  Returns 0, -ENOENT for an unknown id, or -EBADMSG.  Reads nothing
 * outside of [record, record + size), which may have any alignment.
 */
int schema_parse(const void *record, size_t size, struct schema_value values[SCHEMA_FIELDS_MAX], int *nr_values);

#endif
