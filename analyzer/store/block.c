/* SPDX-License-Identifier: MIT */
#include "analyzer/store/block.h"

#include "jitreg/base/crc32c.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/leb128.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <zstd.h>

#define LEVEL 9
#define OCTAVE 8 /* steps per octave; rounding to a step changes a weight by 4.4 % at most */
#define STEPS_ALIKE 1
#define STEPS_MOST (64 * OCTAVE)
#define READ_STEPS 500 /* steps of the budget for each block, beside its rows and bytes: a decompressor takes 10 to 50 us to make */
#define SMALL_BYTES (1u << 20) /* smaller blocks are read without store_has_room(); their memory is counted when it is next called */

_Static_assert(sizeof(struct block_row) == BLOCK_COLUMNS * sizeof(uint64_t), "a row is its columns");

static bool reserve(struct block *b, uint32_t nr)
{
	struct block_row *bigger = nr <= BLOCK_ROWS_MAX ? realloc(b->row, (size_t)nr * sizeof(*bigger)) : NULL;

	if (!bigger)
		return false;
	b->row = bigger;
	b->capacity = nr;
	return true;
}

bool block_add(struct block *b, const struct block_row *row)
{
	if (b->nr == b->capacity && !reserve(b, b->capacity ? 2 * b->capacity : GROW_FIRST))
		return false;
	b->row[b->nr++] = *row;
	return true;
}

/* If b would get too many rows, its rows with the same id are added up first. */
bool block_add_all(struct store *s, struct block *b, const struct block *other)
{
	if (s->error || !other->nr)
		return !s->error;
	if (other->nr > BLOCK_ROWS_MAX - b->nr)
		block_sort(b);
	if (other->nr > BLOCK_ROWS_MAX - b->nr) {
		store_fail(s, E2BIG, "its epochs of an hour have more than %u places", BLOCK_ROWS_MAX);
		return false;
	}
	if (other->nr > b->capacity - b->nr) {
		uint32_t nr = b->nr + other->nr > 2 * b->capacity ? b->nr + other->nr : 2 * b->capacity;

		nr = nr < BLOCK_ROWS_MAX ? nr : BLOCK_ROWS_MAX;
		if (!store_has_room(s, (size_t)nr * sizeof(*b->row)))
			return false;
		if (!reserve(b, nr)) {
			store_fail(s, ENOMEM, "out of memory");
			return false;
		}
	}
	memcpy(b->row + b->nr, other->row, (size_t)other->nr * sizeof(*b->row));
	b->nr += other->nr;
	return true;
}

static int compare_rows(const void *a, const void *b)
{
	const struct block_row *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

void block_sort(struct block *b)
{
	uint32_t nr = 0;

	if (!b->nr)
		return;
	qsort(b->row, b->nr, sizeof(*b->row), compare_rows);
	for (uint32_t i = 1; i < b->nr; i++) {
		struct block_row *kept = &b->row[nr], *row = &b->row[i];

		if (row->id == kept->id) {
			kept->samples += row->samples;
			kept->weight += row->weight;
		} else if (++nr != i) {
			b->row[nr] = *row;
		}
	}
	b->nr = nr + 1;
}

void block_fini(struct block *b)
{
	free(b->row);
	memset(b, 0, sizeof(*b));
}

static size_t pack(const struct block *b, unsigned char *to)
{
	unsigned char *at = to;

	for (uint32_t i = 0; i < b->nr; i++)
		at = leb128_put(at, i ? b->row[i].id - b->row[i - 1].id : b->row[i].id);
	for (uint32_t i = 0; i < b->nr; i++)
		at = leb128_put(at, b->row[i].samples);
	for (uint32_t i = 0; i < b->nr; i++)
		at = leb128_put(at, b->row[i].weight);
	return (size_t)(at - to);
}

static bool unpack(struct block *b, uint32_t nr, const unsigned char *at, const unsigned char *end)
{
	b->row = calloc((size_t)nr + 1, sizeof(*b->row));
	b->capacity = b->nr = b->row ? nr : 0;
	for (uint32_t i = 0; i < b->nr && at; i++) {
		at = leb128_get(at, end, &b->row[i].id);
		b->row[i].id += i ? b->row[i - 1].id : 0;
	}
	for (uint32_t i = 0; i < b->nr && at; i++)
		at = leb128_get(at, end, &b->row[i].samples);
	for (uint32_t i = 0; i < b->nr && at; i++)
		at = leb128_get(at, end, &b->row[i].weight);
	return b->row && at == end;
}

/* ----------------------------------------------------------------------------------------------------------- weights */

static long step_of_mean(double weight, double samples)
{
	return weight > samples && samples > 0 ? lround(OCTAVE * log2(weight / samples)) : 0;
}

/* Replaces each row's weight by the mean weight of its samples, as a number of steps (OCTAVE). Sampling periods vary by a sixteenth, so a
 * row whose step is at most STEPS_ALIKE from that of all rows together gets the latter. The column then compresses to almost nothing. */
static void weights_to_steps(struct block *b)
{
	double samples = 0, weight = 0;
	long mean;

	for (uint32_t i = 0; i < b->nr; i++) {
		samples += (double)b->row[i].samples;
		weight += (double)b->row[i].weight;
	}
	mean = step_of_mean(weight, samples);
	for (uint32_t i = 0; i < b->nr; i++) {
		struct block_row *row = &b->row[i];
		long step = step_of_mean((double)row->weight, (double)row->samples);

		row->weight = (uint64_t)(labs(step - mean) <= STEPS_ALIKE ? mean : step);
	}
}

/* Replaces steps by weights.  Returns false if a step is larger than any that weights_to_steps() makes, since the block is damaged then. */
static bool steps_to_weights(struct block *b)
{
	for (uint32_t i = 0; i < b->nr; i++) {
		struct block_row *row = &b->row[i];
		double weight;

		if (row->weight > STEPS_MOST)
			return false;
		weight = (double)row->samples * exp2((double)row->weight / OCTAVE);
		row->weight = weight < 9e18 ? (uint64_t)llround(weight) : (uint64_t)9e18;
	}
	return true;
}

bool block_write(struct store *s, int64_t epoch, enum block_part part, struct block *b)
{
	static struct statement insert = STATEMENT("INSERT OR REPLACE INTO block VALUES(?, ?, ?, ?, ?, ?)");
	size_t bound, bytes, stored;
	unsigned char *plain, *packed;

	block_sort(b);
	if (part == BLOCK_PLACES)
		weights_to_steps(b);
	plain = malloc((size_t)b->nr * BLOCK_COLUMNS * LEB128_MAX + 1);
	bytes = plain ? pack(b, plain) : 0;
	bound = ZSTD_compressBound(bytes);
	packed = malloc(bound + 1);
	if (!plain || !packed) {
		store_fail(s, ENOMEM, "out of memory");
	} else {
		stored = ZSTD_compress(packed, bound, plain, bytes, LEVEL);
		if (ZSTD_isError(stored))
			store_fail(s, ENOMEM, "out of memory");
		else
			store_run(s, &insert, "iiiiib", epoch, (int64_t)part, (int64_t)b->nr, (int64_t)bytes,
				  (int64_t)crc32c(0, packed, stored), packed, stored);
	}
	free(plain);
	free(packed);
	return !s->error;
}

bool block_read(struct store *s, int64_t epoch, enum block_part part, struct block *b)
{
	static struct statement select = STATEMENT("SELECT rows, bytes, crc, data FROM block WHERE epoch = ? AND part = ?");
	int64_t rows, bytes;
	const void *data;
	size_t stored;
	unsigned char *plain;

	b->nr = 0;
	if (!store_run(s, &select, "ii", epoch, (int64_t)part))
		return !s->error;
	rows = sqlite3_column_int64(select.prepared, 0);
	bytes = sqlite3_column_int64(select.prepared, 1);
	data = sqlite3_column_blob(select.prepared, 3);
	stored = (size_t)sqlite3_column_bytes(select.prepared, 3);
	if (rows < 0 || rows > BLOCK_ROWS_MAX || bytes < 0 || bytes > rows * BLOCK_COLUMNS * LEB128_MAX ||
	    (uint32_t)sqlite3_column_int64(select.prepared, 2) != crc32c(0, data, stored)) {
		store_fail(s, EBADMSG, "epoch %lld: its sums are damaged; `tailor db check` lists what is", (long long)epoch);
		return false;
	}
	if (!store_spend(s, READ_STEPS + (uint64_t)rows + ((uint64_t)bytes + stored) / 8) ||
	    ((size_t)bytes > SMALL_BYTES && !store_has_room(s, (uint64_t)bytes + (uint64_t)rows * sizeof(*b->row)))) {
		sqlite3_reset(select.prepared);
		return false;
	}
	plain = malloc((size_t)bytes + 1);
	if (!plain || ZSTD_decompress(plain, (size_t)bytes, data, stored) != (size_t)bytes ||
	    !unpack(b, (uint32_t)rows, plain, plain + bytes) || (part == BLOCK_PLACES && !steps_to_weights(b))) {
		store_fail(s, EBADMSG, "epoch %lld: its sums are damaged; `tailor db check` lists what is", (long long)epoch);
		block_fini(b);
	}
	free(plain);
	sqlite3_reset(select.prepared);
	return !s->error;
}
