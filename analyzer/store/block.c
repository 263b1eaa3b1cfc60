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
#define OCTAVE 8 /* steps of it: a place's weight is right to 4.4 % */
#define STEPS_ALIKE 1
#define STEPS_MOST (64 * OCTAVE)

bool block_add(struct block *b, const uint64_t *row)
{
	if (b->nr == b->capacity) {
		uint32_t more = b->capacity ? 2 * b->capacity : GROW_FIRST;
		uint64_t *bigger = more <= BLOCK_ROWS_MAX ? realloc(b->number, (size_t)more * BLOCK_COLUMNS * sizeof(*bigger)) : NULL;

		if (!bigger)
			return false;
		b->number = bigger;
		b->capacity = more;
	}
	memcpy(block_row(b, b->nr++), row, BLOCK_COLUMNS * sizeof(*row));
	return true;
}

static int compare_rows(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

void block_sort(struct block *b)
{
	uint32_t nr = 0;

	if (!b->nr)
		return;
	qsort(b->number, b->nr, BLOCK_COLUMNS * sizeof(*b->number), compare_rows);
	for (uint32_t i = 1; i < b->nr; i++) {
		uint64_t *kept = block_row(b, nr), *row = block_row(b, i);

		if (row[0] == kept[0]) {
			for (uint32_t c = 1; c < BLOCK_COLUMNS; c++)
				kept[c] += row[c];
		} else if (++nr != i) {
			memcpy(kept + BLOCK_COLUMNS, row, BLOCK_COLUMNS * sizeof(*row));
		}
	}
	b->nr = nr + 1;
}

void block_fini(struct block *b)
{
	free(b->number);
	memset(b, 0, sizeof(*b));
}

static size_t pack(const struct block *b, unsigned char *to)
{
	unsigned char *at = to;

	for (uint32_t c = 0; c < BLOCK_COLUMNS; c++)
		for (uint32_t i = 0; i < b->nr; i++) {
			const uint64_t *row = block_row(b, i);

			at = leb128_put(at, c == 0 && i ? row[0] - row[-BLOCK_COLUMNS] : row[c]);
		}
	return (size_t)(at - to);
}

static bool unpack(struct block *b, uint32_t nr, const unsigned char *at, const unsigned char *end)
{
	b->number = calloc((size_t)nr * BLOCK_COLUMNS + 1, sizeof(*b->number));
	b->capacity = b->nr = b->number ? nr : 0;
	for (uint32_t c = 0; b->number && c < BLOCK_COLUMNS; c++)
		for (uint32_t i = 0; i < nr; i++) {
			uint64_t *row = block_row(b, i);

			at = leb128_get(at, end, &row[c]);
			if (!at)
				return false;
			if (c == 0 && i)
				row[0] += row[-BLOCK_COLUMNS];
		}
	return b->number && at == end;
}

/* ----------------------------------------------------------------------------------------------------------- weights */

static long step_of_mean(double weight, double samples)
{
	return weight > samples && samples > 0 ? lround(OCTAVE * log2(weight / samples)) : 0;
}

/* Periods vary by a tenth: what is as near as that to the mean of all has the step of the mean. */
static void weights_to_steps(struct block *b)
{
	double samples = 0, weight = 0;

	for (uint32_t i = 0; i < b->nr; i++) {
		samples += (double)block_row(b, i)[1];
		weight += (double)block_row(b, i)[2];
	}
	for (uint32_t i = 0; i < b->nr; i++) {
		uint64_t *row = block_row(b, i);
		long mean = step_of_mean(weight, samples), step = step_of_mean((double)row[2], (double)row[1]);

		row[2] = (uint64_t)(labs(step - mean) <= STEPS_ALIKE ? mean : step);
	}
}

/* false: no writer's */
static bool steps_to_weights(struct block *b)
{
	for (uint32_t i = 0; i < b->nr; i++) {
		uint64_t *row = block_row(b, i);
		double weight;

		if (row[2] > STEPS_MOST)
			return false;
		weight = (double)row[1] * exp2((double)row[2] / OCTAVE);
		row[2] = weight < 9e18 ? (uint64_t)llround(weight) : (uint64_t)9e18;
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
