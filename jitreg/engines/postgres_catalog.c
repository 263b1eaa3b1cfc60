/* SPDX-License-Identifier: MIT */
#include "jitreg/engines/postgres_catalog.h"

#include "jitreg/engines/postgres_names.h"
#include "jitreg/engines/postgres_read.h"

#include <string.h>

#define SEARCHED_BYTES_MAX (4u << 20) /* limit for the search of a backend's cache, which mostly has 1 MiB */
#define PART_BYTES 4096u
#define SEARCHES_MAX 4u
#define PROBES 8u
#define CACHED_MAGIC 0x57261502u   /* CT_MAGIC, the value of a member of each cached row */
#define BTREE 403u		   /* OID of the access method btree */
#define FIRST_OWN_NUMBER 16384u	   /* FirstNormalObjectId; objects with smaller numbers are the same in all databases */

/* A block of memory begins with this header (struct AllocBlockData of utils/mmgr/aset.c). The used part of the block ends at free. */
struct block {
	uint64_t set, before, next, free, end;
};

/* The comparisons of the most common types have the same OIDs in all versions. Many short queries need no other operators, so the cache
 * need not be searched for them. */
enum { COMPARISONS = 6 };
static const char *const comparison_names[COMPARISONS] = { "=", "<>", "<", "<=", ">=", ">" };
static const uint16_t comparisons[][COMPARISONS] = {
	{ 96, 518, 97, 523, 525, 521 },		    /* int4 */
	{ 410, 411, 412, 414, 415, 413 },	    /* int8 */
	{ 94, 519, 95, 522, 524, 520 },		    /* int2 */
	{ 15, 36, 37, 80, 82, 76 },		    /* int4 and int8 */
	{ 416, 417, 418, 420, 430, 419 },	    /* int8 and int4 */
	{ 98, 531, 664, 665, 667, 666 },	    /* text */
	{ 1054, 1057, 1058, 1059, 1061, 1060 },	    /* bpchar */
	{ 93, 643, 660, 661, 663, 662 },	    /* name */
	{ 607, 608, 609, 611, 612, 610 },	    /* oid */
	{ 91, 85, 58, 1694, 1695, 59 },		    /* bool */
	{ 670, 671, 672, 673, 675, 674 },	    /* float8 */
	{ 1752, 1753, 1754, 1755, 1757, 1756 },	    /* numeric */
	{ 1093, 1094, 1095, 1096, 1098, 1097 },	    /* date */
	{ 2060, 2061, 2062, 2063, 2065, 2064 },	    /* timestamp */
	{ 1320, 1321, 1322, 1323, 1325, 1324 },	    /* timestamptz */
	{ 2347, 2350, 2345, 2346, 2348, 2349 },	    /* date and timestamp */
	{ 2972, 2973, 2974, 2976, 2977, 2975 },	    /* uuid */
};

static const char *find_comparison(uint32_t number)
{
	for (size_t i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++)
		for (int n = 0; n < COMPARISONS; n++)
			if (comparisons[i][n] == number)
				return comparison_names[n];
	return NULL;
}

void postgres_catalog_begin(struct postgres_catalog *c, uint64_t backend)
{
	c->backend = backend;
	c->nr_searches = 0;
}

static uint64_t key_of_row(const struct postgres_catalog *c, uint32_t table, uint32_t number)
{
	return ((uint64_t)table << 32 | number) ^ (number < FIRST_OWN_NUMBER ? 0 : c->backend << 44);
}

/* Returns the index of the row with this key, or that of the place to store it.  If all places that are tried have other rows, this is the
 * last of them. */
static uint32_t find_row(const struct postgres_catalog *c, uint64_t key)
{
	uint64_t hash = key * 0x9e3779b97f4a7c15;
	uint32_t at = (uint32_t)(hash >> 32) % POSTGRES_CATALOG_ROWS;

	for (uint32_t i = 1; i < PROBES && c->row[at].key && c->row[at].key != key; i++)
		at = (at + 1) % POSTGRES_CATALOG_ROWS;
	return at;
}

/* pg_amop has these columns in all versions of postgres_layout.c. */
struct ordering {
	uint32_t number, family, left, right;
	uint16_t strategy;
	char purpose;
	uint32_t operator, method;
};

/* Returns the name of the comparison that a row of pg_amop is about, such as "<", and sets *operator to the OID of its operator.  Returns
 * NULL for other kinds of index, or if the row cannot be read. */
static const char *read_ordering(const struct postgres_reader *r, uint64_t row, uint32_t *operator)
{
	static const char *const names[] = { "<", "<=", "=", ">=", ">" };
	struct ordering o;

	if (r->read(r->context, row, &o, sizeof(o)) || o.method != BTREE || o.strategy == 0 ||
	    o.strategy > sizeof(names) / sizeof(names[0]))
		return NULL;
	*operator = o.operator;
	return names[o.strategy - 1];
}

static void keep_row(const struct postgres_reader *r, uint64_t cached)
{
	const struct postgres_layout *l = r->layout;
	struct postgres_catalog *c = r->catalog;
	uint64_t tuple = cached + l->cached_tuple, row = postgres_read_u64(r, tuple, l->tuple_header), key;
	uint32_t table = postgres_read_u32(r, tuple, l->tuple_table), number, at;
	const char *ordering = NULL;
	bool cut;

	if ((table != POSTGRES_CATALOG_FUNCTIONS && table != POSTGRES_CATALOG_ORDERINGS && table != POSTGRES_CATALOG_OPERATORS) || !row ||
	    postgres_read_u8(r, cached, l->cached_dead) || postgres_read_u8(r, cached, l->cached_negative))
		return;
	row += postgres_read_u8(r, row, l->header_bytes);
	number = postgres_read_u32(r, row, 0);
	if (table == POSTGRES_CATALOG_ORDERINGS && !(ordering = read_ordering(r, row, &number)))
		return;
	key = key_of_row(c, table, number);
	at = find_row(c, key);
	if (c->row[at].key && c->row[at].key != key && key != c->wanted)
		return;
	c->row[at].key = key;
	if (ordering)
		memcpy(c->row[at].name, ordering, strlen(ordering) + 1);
	else if (!postgres_read_text(r, row + (table == POSTGRES_CATALOG_FUNCTIONS ? l->function_name : l->operator_name), c->row[at].name,
				     sizeof(c->row[at].name), &cut))
		c->row[at].key = 0;
}

static void search_part(const struct postgres_reader *r, uint64_t at, uint32_t bytes)
{
	uint32_t word[PART_BYTES / sizeof(uint32_t)];

	if (r->read(r->context, at, word, bytes))
		return;
	for (uint32_t i = 0; i < bytes / sizeof(word[0]); i += 2)
		if (word[i] == CACHED_MAGIC)
			keep_row(r, at + i * sizeof(word[0]) - r->layout->cached_magic);
}

static void search_cache(const struct postgres_reader *r)
{
	uint64_t context = postgres_read_u64(r, r->code->symbol[POSTGRES_CACHE_CONTEXT], 0), searched = 0;
	uint64_t at = postgres_read_u64(r, context, r->layout->context_blocks);
	struct block b;

	while (at && !(at & 7) && searched < SEARCHED_BYTES_MAX && r->read(r->context, at, &b, sizeof(b)) == 0 && b.set == context &&
	       b.free > at && b.free <= b.end) {
		for (uint64_t part = at; part < b.free && searched < SEARCHED_BYTES_MAX; searched += PART_BYTES) {
			uint64_t bytes = PART_BYTES - part % PART_BYTES; /* up to the next page, which may be unreadable */

			bytes = b.free - part < bytes ? b.free - part : bytes;
			search_part(r, part, (uint32_t)bytes & ~7u);
			part += bytes;
		}
		at = b.next;
	}
}

const char *postgres_catalog_name(const struct postgres_reader *r, enum postgres_catalog_table table, uint32_t number)
{
	const char *comparison = table == POSTGRES_CATALOG_FUNCTIONS ? NULL : find_comparison(number);
	struct postgres_catalog *c = r->catalog;
	uint64_t key;
	uint32_t at;

	if (comparison || !c || !number)
		return comparison;
	key = key_of_row(c, table, number);
	at = find_row(c, key);
	if (c->row[at].key != key && c->nr_searches++ < SEARCHES_MAX) {
		c->wanted = key;
		search_cache(r);
	}
	if (c->row[at].key == key)
		return c->row[at].name;
	c->nr_unknown++;
	return NULL;
}
