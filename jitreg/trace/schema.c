/* SPDX-License-Identifier: MIT */
#include "jitreg/trace/schema.h"

#define ELEMENT_PLACE(name, members) ELEMENT_##name,
enum { JITREG_ELEMENTS(ELEMENT_PLACE, ) TRACE_ELEMENTS(ELEMENT_PLACE, , , ) NR_ELEMENTS };

#define M_U(f) { #f, SCHEMA_U64 },
#define M_S(f) { #f, SCHEMA_STR },
#define M_B(f) { #f, SCHEMA_BIN },
#define ELEMENT_ENTRY(name, members) { #name, 0, { members } },
static struct schema_element elements[] = { JITREG_ELEMENTS(ELEMENT_ENTRY, M_U) TRACE_ELEMENTS(ELEMENT_ENTRY, M_U, M_S, M_B) };

#define F_U32(f) { #f, NULL, SCHEMA_U32, false },
#define F_U64(f) { #f, NULL, SCHEMA_U64, false },
#define F_S64(f) { #f, NULL, SCHEMA_S64, false },
#define F_NR(f) { #f, NULL, SCHEMA_NR, false },
#define F_STR(f) { #f, NULL, SCHEMA_STR, false },
#define F_BIN(f) { #f, NULL, SCHEMA_BIN, false },
#define F_ARR(f, element) { #f, &elements[ELEMENT_##element], SCHEMA_ARR, false },
#define F_ZSTR(f) { #f, NULL, SCHEMA_ZSTR, false },
#define F_REST(f) { #f, NULL, SCHEMA_REST, false },
#define F_LINES(f) { #f, &elements[ELEMENT_line], SCHEMA_LINES, false },
#define T_U32(f) { #f, NULL, SCHEMA_U32, true },
#define T_U64(f) { #f, NULL, SCHEMA_U64, true },
#define KINDS F_U32, F_U64, F_S64, F_NR, F_STR, F_BIN, F_ARR, F_ZSTR, F_REST, F_LINES
#define EXPAND(FIELDS, ...) FIELDS(__VA_ARGS__)

#define JITREG_ENTRY(NAME, name, id) { id, #NAME, 0, 0, { EXPAND(JITREG_FIELDS_##NAME, KINDS) JITREG_TRAILING_##NAME(T_U32, T_U64) } },
#define TRACE_ENTRY(NAME, name, id) { id, #NAME, 0, 0, { EXPAND(TRACE_FIELDS_##NAME, KINDS) } },

static struct schema_record records[] = { JITREG_RECORDS(JITREG_ENTRY) TRACE_RECORDS(TRACE_ENTRY) };
static const int nr_records = sizeof(records) / sizeof(records[0]);
static const struct schema_record *by_id[256];

/* Count the members of elements and the fields of records, and fill in by_id.  This runs before main(), so the tables never change
 * afterwards, and threads need no lock. */
__attribute__((constructor)) static void complete_tables(void)
{
	for (int i = 0; i < NR_ELEMENTS; i++)
		while (elements[i].nr_members < SCHEMA_MEMBERS_MAX && elements[i].member[elements[i].nr_members].name)
			elements[i].nr_members++;
	for (int i = 0; i < nr_records; i++) {
		struct schema_record *r = &records[i];

		for (; r->nr_fields < SCHEMA_FIELDS_MAX && r->fields[r->nr_fields].name; r->nr_fields++)
			r->nr_values += r->fields[r->nr_fields].kind != SCHEMA_NR;
		by_id[r->id] = r;
	}
}

const struct schema_record *schema_at(int n)
{
	return n >= 0 && n < nr_records ? &records[n] : NULL;
}

const struct schema_record *schema_find(uint32_t id)
{
	return id < sizeof(by_id) / sizeof(by_id[0]) ? by_id[id] : NULL;
}

enum trace_chunk_type schema_chunk_type_of(uint32_t id)
{
	switch (id) {
	case TRACE_SAMPLES:
		return TRACE_CHUNK_SAMPLES;
	case TRACE_IMAGE_FILE:
	case TRACE_IMAGE_CODE:
		return TRACE_CHUNK_FILES;
	case TRACE_END:
		return TRACE_CHUNK_END;
	default:
		return TRACE_CHUNK_RECORDS;
	}
}

/* This struct has the bytes of a record that have not been parsed yet. */
struct cursor {
	const unsigned char *at;
	size_t left;
};

static int take_fixed_bytes(struct cursor *c, void *to, size_t bytes)
{
	if (bytes > c->left)
		return -EBADMSG;
	memcpy(to, c->at, bytes);
	c->at += bytes;
	c->left -= bytes;
	return 0;
}

static int take_span(struct cursor *c, struct schema_value *v, size_t bytes)
{
	if (bytes > c->left)
		return -EBADMSG;
	v->p = c->at;
	v->bytes = bytes;
	c->at += bytes;
	c->left -= bytes;
	return 0;
}

static int take_terminated_text(struct cursor *c, struct schema_value *v)
{
	const void *end = c->left ? memchr(c->at, 0, c->left) : NULL;
	int ret;

	if (!end)
		return -EBADMSG;
	ret = take_span(c, v, (size_t)((const unsigned char *)end - c->at) + 1);
	if (ret)
		return ret;
	v->bytes--; /* the NUL does not belong to the text */
	return 0;
}

/* Take nr entries {u64 address, u32 line, u32 discriminator, NUL-terminated file} as the bytes of v. */
static int take_line_entries(struct cursor *c, struct schema_value *v, uint64_t nr)
{
	const unsigned char *start = c->at;

	v->u = nr;
	for (; nr > 0; nr--) {
		struct schema_value fixed, file;

		if (take_span(c, &fixed, 16) || take_terminated_text(c, &file))
			return -EBADMSG;
	}
	v->p = start;
	v->bytes = (size_t)(c->at - start);
	return 0;
}

int schema_parse(const void *record, size_t size, struct schema_value values[SCHEMA_FIELDS_MAX], int *nr_values)
{
	struct cursor c = { record, size };
	struct jitreg_prefix prefix;
	const struct schema_record *schema;
	uint32_t counts[SCHEMA_FIELDS_MAX] = { 0 };
	int nr_counts = 0, used_counts = 0, nr = 0;

	if (take_fixed_bytes(&c, &prefix, sizeof(prefix)) || prefix.total_size > size || prefix.total_size < sizeof(prefix))
		return -EBADMSG;
	c.left = prefix.total_size - sizeof(prefix);
	schema = schema_find(prefix.id);
	if (!schema || prefix.id > JITREG_ID_MAX_)
		return -ENOENT;
	for (int i = 0; i < schema->nr_fields; i++) {
		const struct schema_field *f = &schema->fields[i];
		struct schema_value *v = &values[nr];
		uint32_t u32 = 0;

		*v = (struct schema_value){ .kind = f->kind };
		switch (f->kind) {
		case SCHEMA_NR:
			if (take_fixed_bytes(&c, &counts[nr_counts++], 4))
				return -EBADMSG;
			continue;
		case SCHEMA_U32:
			if (take_fixed_bytes(&c, &u32, 4) && !f->is_trailing)
				return -EBADMSG;
			v->u = u32;
			break;
		case SCHEMA_U64:
		case SCHEMA_S64:
			if (take_fixed_bytes(&c, &v->u, 8) && !f->is_trailing)
				return -EBADMSG;
			break;
		case SCHEMA_STR:
		case SCHEMA_BIN:
			if (take_span(&c, v, counts[used_counts++]))
				return -EBADMSG;
			break;
		case SCHEMA_ARR:
			v->u = counts[used_counts++];
			if (take_span(&c, v, v->u * 8 * (uint64_t)f->element->nr_members))
				return -EBADMSG;
			break;
		case SCHEMA_ZSTR:
			if (take_terminated_text(&c, v))
				return -EBADMSG;
			break;
		case SCHEMA_LINES: /* the field before is the number of entries */
			if (take_line_entries(&c, v, nr > 0 ? values[nr - 1].u : 0))
				return -EBADMSG;
			break;
		case SCHEMA_REST:
			take_span(&c, v, c.left);
			break;
		}
		nr++;
	}
	*nr_values = nr;
	return 0;
}
