/* SPDX-License-Identifier: MIT */
/*
 * Code that V8 optimized leads to two objects that are needed here.  The source position table is a byte array with the positions that V8
 * reports, each with the number of the inlined call that it belongs to.  The deoptimization data is an array that contains, among others,
 * the function's SharedFunctionInfo, a byte array with the inlined calls, and an array of literals with the SharedFunctionInfos of the
 * called functions.  Versions of V8 have these objects at different places: up to 11 the code's own header leads to them, later the
 * header leads to an object that does.
 *
 * So no layout is assumed.  Words near the code are followed, and each object is recognised by what it must agree with: the table has
 * exactly the positions that V8 has just reported, the deoptimization data has the SharedFunctionInfo that V8 has reported, and the
 * called functions are objects of the same map as that one.  Where they were found is kept for other code.  All memory is checked before
 * it is read.
 */
#include "shim/libraries/v8_inlined.h"

#include "agent/guest/sys.h"

#include <string.h>

#define HEADER_WORDS 16 /* words in front of the code that are followed */
#define FIELDS 8	/* words of the object that such a word leads to */
#define DATA_WORDS 16	/* words at the beginning of the deoptimization data that are looked at */
#define TABLE_BYTES (64u << 10)
#define CODE_BYTES_MAX (64 << 20)
#define LITERALS_MAX (1u << 20)
#define SEARCHES 200	/* V8's objects are searched for so often without success, then no more */
#define ARRAY_HEADER 16 /* bytes of an array's map and length */

/* How to get from code to an object: by the word that lies `header` words before the code, and by the word `field` of the object that it
 * leads to (0: that object itself). header 0: unknown. */
struct way {
	int header, field;
};

/* This struct has the layout of V8's entry of an inlined call (class InliningPosition). */
struct entry {
	uint64_t position;
	int32_t function; /* index of the called function's literal; -1: the code's own function */
	uint32_t padding;
};

/* These are indexes of the words of the deoptimization data that lead to its parts. */
struct parts {
	int info, calls, literals;
};

/* This struct says how the table counts bytes of code. */
struct encoding {
	int begin; /* 0, or -1 where the first entry may be of the moment in which the function is entered */
	bool has_bit; /* the lowest bit says whether a statement begins; else the sign does */
};

static struct {
	unsigned char table[TABLE_BYTES];
	struct entry entry[V8_INLINED_MAX];
	struct v8_inlining out;
} *buffer;
static struct way way_to_table, way_to_data;
static struct encoding encoding;
static struct parts parts;
static int searches;

/* An object that is searched for is compared with these facts. */
struct question {
	uintptr_t info, map; /* info: address of the SharedFunctionInfo of the code's own function; map: address of that object's map */
	const struct v8_place *place; /* places in the code, as V8 reported them; NULL: it reported none */
	uint32_t nr_places;
};
typedef bool test(const struct question *q, uintptr_t object);

static bool is_pointer(uintptr_t word)
{
	return (word & 3) == 1 && word > SYS_PAGE_BYTES;
}

static bool read_object(uintptr_t object, size_t at, void *to, size_t bytes)
{
	const void *from = (const void *)(object - 1 + at);

	if (!is_pointer(object) || !sys_readable_range(from, bytes))
		return false;
	memcpy(to, from, bytes);
	return true;
}

static uintptr_t read_word(uintptr_t object, size_t word)
{
	uintptr_t value = 0;

	read_object(object, word * sizeof(value), &value, sizeof(value));
	return value;
}

/* Returns the length of an array: a small integer, which V8 keeps in the upper half of the word. */
static uint32_t length_of(uintptr_t array)
{
	uintptr_t word = read_word(array, 1);

	return (uint32_t)word ? 0 : (uint32_t)(word >> 32);
}

/* ----------------------------------------------------------------------------------------- the source position table */

struct cursor {
	const unsigned char *at, *end;
};

/* Reads a number of the table: groups of 7 bits, the lowest first, with the sign in the lowest bit. */
static bool next_number(struct cursor *c, int64_t *out)
{
	uint64_t bits = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		unsigned char byte;

		if (c->at == c->end)
			return false;
		byte = *c->at++;
		bits |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*out = (int64_t)((bits >> 1) ^ (0 - (bits & 1)));
			return true;
		}
	}
	return false;
}

/* Splits V8's word for a position (class SourcePosition).  in: number of the inlined call; -1: none. */
static void split_position(uint64_t word, uint32_t *position, int *in)
{
	*position = (uint32_t)(word >> 1 & 0x3fffffff) - 1;
	*in = (int)(word >> 31 & 0xffff) - 1;
}

/* Reads the places of the table in the buffer. Returns false if it is no table of this encoding, or a too large one. */
static bool decode_table(uint32_t bytes, const struct encoding *e)
{
	struct v8_inlining *out = &buffer->out;
	struct cursor c = { buffer->table, buffer->table + bytes };
	int64_t offset = e->begin, number;
	uint64_t position = 0;

	for (out->nr_places = 0; c.at < c.end && out->nr_places < V8_PLACES_MAX; out->nr_places++) {
		struct v8_place *place = &out->place[out->nr_places];
		int in;

		if (!next_number(&c, &number))
			return false;
		offset += e->has_bit ? number >> 1 : number < 0 ? -(number + 1) : number;
		if (offset < 0 || offset > CODE_BYTES_MAX || !next_number(&c, &number))
			return false;
		position += (uint64_t)number;
		place->offset = (uint32_t)offset;
		split_position(position, &place->position, &in);
		if (in >= V8_INLINED_MAX)
			return false;
		out->of[out->nr_places] = (int16_t)in;
	}
	return c.at == c.end;
}

static bool is_reported(const struct question *q)
{
	return q->nr_places == buffer->out.nr_places &&
	       memcmp(q->place, buffer->out.place, q->nr_places * sizeof(*q->place)) == 0;
}

/* Does the table have the positions that V8 has reported?  Where V8 reports none, the table is believed if the way to it and its encoding
 * are known. */
static bool is_table(const struct question *q, uintptr_t object)
{
	uint32_t bytes = length_of(object);
	struct encoding e;

	if (bytes < 2 || bytes > TABLE_BYTES || bytes < 2 * q->nr_places || !read_object(object, ARRAY_HEADER, buffer->table, bytes))
		return false;
	if (way_to_table.header)
		return decode_table(bytes, &encoding) && (!q->place || is_reported(q));
	for (int i = 0; i < 4; i++) {
		e = (struct encoding){ -(i & 1), i & 2 };
		if (q->nr_places > 1 && decode_table(bytes, &e) && is_reported(q)) {
			encoding = e;
			return true;
		}
	}
	return false;
}

/* ------------------------------------------------------------------------------------------ the deoptimization data */

static bool is_info(const struct question *q, uintptr_t word)
{
	return word == q->info || (is_pointer(word) && read_word(word, 1) == q->info); /* V8 13 and later: in an object of its own */
}

/* Reads the calls that places are in, and the calls around these. */
static bool read_calls(uintptr_t array)
{
	uint32_t bytes = length_of(array), nr = bytes / sizeof(struct entry);

	if (bytes % sizeof(struct entry) || nr < (uint32_t)buffer->out.nr || nr > V8_INLINED_MAX ||
	    !read_object(array, ARRAY_HEADER, buffer->entry, bytes))
		return false;
	buffer->out.nr = (int)nr;
	for (uint32_t i = 0; i < nr; i++) {
		split_position(buffer->entry[i].position, &buffer->out.call[i].position, &buffer->out.call[i].in);
		if (buffer->out.call[i].in >= (int)i || buffer->entry[i].function < -1)
			return false;
	}
	return true;
}

/* Reads the called functions, if all of them are among the literals. */
static bool read_functions(const struct question *q, uintptr_t literals)
{
	uint32_t length = length_of(literals);

	if (length > LITERALS_MAX)
		return false;
	for (int i = 0; i < buffer->out.nr; i++) {
		int32_t function = buffer->entry[i].function;
		uintptr_t info = function < 0 ? q->info : 0;

		if (function >= 0 && (uint32_t)function < length)
			info = read_word(literals, ARRAY_HEADER / sizeof(info) + (size_t)function) & ~(uintptr_t)2; /* weak or not */
		if (!is_pointer(info) || read_word(info, 0) != q->map)
			return false;
		buffer->out.call[i].info = info;
	}
	return true;
}

static bool read_parts(const struct question *q, uintptr_t data, const struct parts *p)
{
	int nr = buffer->out.nr;
	bool ok = is_info(q, read_word(data, (size_t)p->info)) &&
		  (!nr || (read_calls(read_word(data, (size_t)p->calls)) && read_functions(q, read_word(data, (size_t)p->literals))));

	if (!ok)
		buffer->out.nr = nr;
	return ok;
}

static bool is_data(const struct question *q, uintptr_t object)
{
	struct parts p = { 2, 0, 0 };

	if (parts.info)
		return read_parts(q, object, &parts);
	if (length_of(object) < 4 || length_of(object) > LITERALS_MAX)
		return false;
	for (; p.info < DATA_WORDS && !is_info(q, read_word(object, (size_t)p.info)); p.info++)
		;
	for (p.calls = 2; p.info < DATA_WORDS && p.calls < DATA_WORDS; p.calls++)
		for (p.literals = 2; p.literals < DATA_WORDS; p.literals++)
			if (p.calls != p.literals && read_parts(q, object, &p)) {
				parts = p;
				return true;
			}
	return false;
}

/* ------------------------------------------------------------------------------------------------- ways to objects */

static uintptr_t follow(uint64_t start, const struct way *w)
{
	uintptr_t word = 0, from = (uintptr_t)start - (size_t)w->header * sizeof(word);

	if (!sys_readable((const void *)from))
		return 0;
	memcpy(&word, (const void *)from, sizeof(word));
	return w->field && word ? read_word(word, (size_t)w->field) : word;
}

/* Finds an object that passes the test, by the known way, or by any way if none is known. Only the latter is a search, and counts if it
 * finds nothing: a server has thousands of code objects without a table before the first one with inlined calls. */
static bool find_object(const struct question *q, uint64_t start, test *passes, struct way *known)
{
	struct way w;

	if (known->header)
		return passes(q, follow(start, known));
	for (w.header = 1; w.header <= HEADER_WORDS; w.header++)
		for (w.field = 0; w.field <= FIELDS; w.field++) {
			uintptr_t object = follow(start, &w);

			if (is_pointer(object) && passes(q, object)) {
				*known = w;
				return true;
			}
		}
	searches++;
	return false;
}

/* Sets how many calls there are at least, from those that places are in. */
static void count_calls(struct v8_inlining *out)
{
	out->nr = 0;
	for (uint32_t i = 0; i < out->nr_places; i++)
		out->nr = out->of[i] >= out->nr ? out->of[i] + 1 : out->nr;
}

const struct v8_inlining *v8_inlined_read(uint64_t start, uintptr_t info, const struct v8_place *places, uint32_t nr_places)
{
	struct question q = { info, read_word(info, 0), nr_places ? places : NULL, nr_places };
	bool is_searching = !way_to_table.header || !way_to_data.header, ok;

	if (!buffer) {
		long p = sys_mmap(NULL, sizeof(*buffer), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

		buffer = p < 0 && p > -4096 ? NULL : (void *)p;
	}
	if (!buffer || start % sizeof(uintptr_t) || !is_pointer(q.map) || (is_searching && searches >= SEARCHES) ||
	    (!q.place && !way_to_table.header))
		return NULL;
	ok = find_object(&q, start, is_table, &way_to_table);
	if (ok)
		count_calls(&buffer->out);
	/* without a report, only the deoptimization data shows that this is code with positions, and it is found by its calls alone */
	if (ok && !buffer->out.nr && (q.place || !way_to_data.header))
		return q.place ? &buffer->out : NULL;
	ok = ok && find_object(&q, start, is_data, &way_to_data);
	return ok ? &buffer->out : NULL;
}
