/* SPDX-License-Identifier: MIT */
/*
 * This table has all records of jitreg.h and trace.h, and their fields. schema.c makes it from the lists JITREG_FIELDS_* and
 * TRACE_FIELDS_*. The recorder parses registrations by it, and traces are written, read and dumped by it. Context: any.
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
	SCHEMA_NR, /* a count, which is only in records that hosts send, and not in the trace */
	SCHEMA_STR,
	SCHEMA_BIN,
	SCHEMA_ARR,
	SCHEMA_ZSTR,
	SCHEMA_REST,
	SCHEMA_LINES,
};

#define SCHEMA_MEMBERS_MAX 4

/* This struct describes the elements of a list.  In the trace it is an array of its members.  In memory and in records that hosts send it
 * is a struct with the members one after another. */
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
	bool is_trailing; /* a field of JITREG_TRAILING_*, behind the variable parts; 0 in records of older hosts, which end before it */
};

#define SCHEMA_FIELDS_MAX 16

struct schema_record {
	uint32_t id;
	const char *name; /* "LOAD" */
	int nr_fields;    /* NR fields included */
	int nr_values;    /* NR fields excluded, as a record in the trace has them */
	struct schema_field fields[SCHEMA_FIELDS_MAX];
};

/* Returns the record with this id, or NULL if there is none. */
const struct schema_record *schema_find(uint32_t id);
/* Returns record n of the table, from 0 on, or NULL if there is none. */
const struct schema_record *schema_at(int n);
/* Returns the type of the chunks to which records with this id are written.  Ids that this version does not know go to RECORDS chunks. */
enum trace_chunk_type schema_chunk_type_of(uint32_t id);

/*
 * F(component, name) is the index of a field in struct trace_record's values.  NR fields and id, time, pid and tid are not among them.  The
 * index is the offset of the field in a struct with one char per field, which is made from the same lists.
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
/* This is the number of values that a record of this kind has in this version. */
#define F_COUNT(record) F(record, nr_fields_)

/*
 * This struct is the value of a field, which schema_parse() fills in and trace_record_values() writes.  Text and bytes point into the
 * parsed record.
 */
struct schema_value {
	enum schema_kind kind;
	uint64_t u;    /* U32, U64; S64 as two's complement; ARR, LINES: number of elements */
	const void *p; /* text or bytes, not NUL-terminated; ARR: the elements, whose members are all u64; LINES: entries as in jitdump */
	size_t bytes;  /* size of p */
};

/*
 * Check and parse a record as a host sends it, of which nothing is trusted: size bytes that begin with its prefix.  On success, values[]
 * has the fields that the trace keeps (all but NR), and *nr_values their number.  Bytes behind the fields that this version knows are
 * ignored.  Returns 0, -ENOENT for an id that is unknown or not jitreg's, or -EBADMSG if the record is shorter than its fields.  Reads
 * nothing outside of [record, record + size), which may have any alignment.
 */
int schema_parse(const void *record, size_t size, struct schema_value values[SCHEMA_FIELDS_MAX], int *nr_values);

#endif
