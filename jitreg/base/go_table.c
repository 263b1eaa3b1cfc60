/* SPDX-License-Identifier: MIT */
#include "jitreg/base/go_table.h"

#include "jitreg/base/leb128.h"
#include "jitreg/base/sorted.h"

#include <string.h>

#define MAGIC_118 0xfffffff0u
#define MAGIC_120 0xfffffff1u
#define TEXT_MAX 16384u /* longest name that is accepted; those of generic functions are long */
#define PLACE_BYTES 8u /* size of an entry of the functions' table: start of the function, and offset of its record */
/* indices of these tables in a function's record (internal/abi/symtab.go, PCDATA_InlTreeIndex and FUNCDATA_InlTree) */
#define INLINED_CALLS 2u
#define INLINED_DATA 3u

static uint32_t u32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t u64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

bool go_table_open(const void *bytes, uint64_t nr, struct go_table *out)
{
	const unsigned char *p = bytes;
	struct go_table t = { .bytes = p, .nr = nr };
	uint64_t *const at[] = { &t.names, &t.units, &t.files, &t.values, &t.functions };

	if (nr < GO_HEAD_BYTES || nr > UINT32_MAX || (u32(p) != MAGIC_118 && u32(p) != MAGIC_120) || memcmp(p + 4, "\0\0\1\10", 4) != 0)
		return false;
	t.first_format = u32(p) == MAGIC_118;
	t.text = u64(p + 24);
	for (int i = 0; i < 5; i++) {
		*at[i] = u64(p + 32 + 8 * i);
		if (*at[i] < GO_HEAD_BYTES || *at[i] > nr)
			return false;
	}
	/* After the entries of all functions, 4 bytes have the end of the last function's code. */
	if (nr - t.functions < 4 || u64(p + 8) > (nr - t.functions - 4) / PLACE_BYTES)
		return false;
	t.nr_functions = (uint32_t)u64(p + 8);
	*out = t;
	return true;
}

void go_module_read(const struct go_table *t, const unsigned char *module, uint64_t *text, uint64_t *inlined)
{
	*text = u64(module + 176);
	*inlined = u64(module + (t->first_format ? 304 : 320));
}

bool go_table_function(const struct go_table *t, uint32_t number, struct go_function *out)
{
	const unsigned char *place = t->bytes + t->functions + (uint64_t)number * PLACE_BYTES, *p;
	uint64_t left = t->nr - t->functions, record = u32(place + 4);
	uint32_t head = t->first_format ? 40 : 44, nr_values, nr_data;
	struct go_function f = { .start = u32(place), .end = u32(place + PLACE_BYTES), .inlined = GO_NONE };

	if (!record || record > left || left - record < head || f.end <= f.start)
		return false;
	f.at = t->functions + record;
	p = t->bytes + f.at;
	nr_values = u32(p + 28);
	nr_data = p[head - 1];
	if (u32(p) != f.start || nr_values > 64 || left - record - head < 4 * (uint64_t)(nr_values + nr_data))
		return false;
	f.record_bytes = head + 4 * (nr_values + nr_data);
	f.name = u32(p + 4);
	f.values[GO_FRAME_BYTES] = u32(p + 16);
	f.values[GO_FILE] = u32(p + 20);
	f.values[GO_LINE] = u32(p + 24);
	f.unit = u32(p + 32);
	f.flags = p[head - 3];
	f.start_line = t->first_format ? 0 : u32(p + 36);
	if (nr_values > INLINED_CALLS && nr_data > INLINED_DATA) {
		f.values[GO_INLINED] = u32(p + head + 4 * INLINED_CALLS);
		f.inlined = u32(p + head + 4 * (nr_values + INLINED_DATA));
	}
	*out = f;
	return true;
}

uint32_t go_table_find(const struct go_table *t, uint64_t offset)
{
	const unsigned char *places = t->nr_functions ? t->bytes + t->functions : NULL;
	size_t up_to = SORTED_COUNT(t->nr_functions, i, u32(places + (uint64_t)i * PLACE_BYTES) <= offset);

	return up_to && offset < u32(places + up_to * PLACE_BYTES) ? (uint32_t)up_to - 1 : GO_NONE;
}

static const char *text_at(const struct go_table *t, uint64_t at)
{
	uint64_t left = at < t->nr ? t->nr - at : 0;

	return left && memchr(t->bytes + at, 0, left < TEXT_MAX ? left : TEXT_MAX) ? (const char *)t->bytes + at : NULL;
}

const char *go_table_name(const struct go_table *t, uint32_t name)
{
	return text_at(t, t->names + name);
}

bool go_table_file_at(const struct go_table *t, const struct go_function *f, int32_t number, uint64_t *entry, uint64_t *name)
{
	uint64_t at = t->units + 4 * ((uint64_t)f->unit + (uint32_t)number);

	if (number < 0 || at > t->nr - 4 || u32(t->bytes + at) == GO_NONE)
		return false;
	*entry = at;
	*name = t->files + u32(t->bytes + at);
	return *name < t->nr;
}

const char *go_table_file(const struct go_table *t, const struct go_function *f, int32_t number)
{
	uint64_t entry, name;

	return go_table_file_at(t, f, number, &entry, &name) ? text_at(t, name) : NULL;
}

struct go_values go_values_of(const struct go_table *t, const struct go_function *f, int of)
{
	struct go_values v = { .value = -1 };
	uint64_t at = t->values + f->values[of];

	if (f->values[of] && at < t->nr) {
		v.at = t->bytes + at;
		v.end = t->bytes + t->nr;
	}
	return v;
}

/* A range is encoded as the change of the value, in zigzag, and the number of bytes of code.  A change of 0, except in the first range,
 * ends the table. */
bool go_values_next(struct go_values *v)
{
	uint64_t change, bytes;

	if (v->nr == GO_VALUES_MAX || v->at == v->end || !leb128_take(&v->at, v->end, &change) || (change == 0 && v->nr) ||
	    !leb128_take(&v->at, v->end, &bytes) || bytes == 0 || bytes > UINT32_MAX - v->to)
		return false;
	v->nr++;
	v->value = (int32_t)((uint32_t)v->value + (uint32_t)unzigzag(change));
	v->from = v->to;
	v->to += (uint32_t)bytes;
	return true;
}

bool go_values_find(const struct go_table *t, const struct go_function *f, int of, uint32_t place, struct go_values *out)
{
	*out = go_values_of(t, f, of);
	while (go_values_next(out))
		if (place < out->to)
			return true;
	return false;
}

uint32_t go_inlined_bytes(const struct go_table *t)
{
	return t->first_format ? 20 : 16;
}

struct go_inlined go_inlined_read(const struct go_table *t, const unsigned char *calls, uint32_t number)
{
	const unsigned char *p = calls + (uint64_t)number * go_inlined_bytes(t);

	return t->first_format ? (struct go_inlined){ u32(p + 12), u32(p + 16), 0 } :
				 (struct go_inlined){ u32(p + 4), u32(p + 8), u32(p + 12) };
}
