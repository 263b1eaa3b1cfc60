/* SPDX-License-Identifier: MIT */
/* What a page asks of `tailor serve`, of a small table: some answer, or a sentence. */
#include "tests/fuzz/fuzz.h"

#include "analyzer/serve/questions.h"

#include <stdlib.h>
#include <string.h>

#define NR 3000u
#define WAYS 5u

static uint32_t time_us[NR];
static uint8_t way[NR], node[7];
static uint64_t address[NR];
static uint16_t fails[NR];
static const double share[WAYS] = { 1, 0.5, 0.25, 1, 1 }, weight_of[] = { 1000, 3 };

static unsigned sink;

static void make(struct served *s)
{
	const struct served_column columns[] = { { "time", 4, NR, time_us }, { "way", 1, NR, way }, { "address", 8, NR, address },
						 { "node-flags", 1, 7, node } };

	for (uint32_t i = 0; i < NR; i++) {
		time_us[i] = i * 3;
		way[i] = (uint8_t)(i % WAYS);
		address[i] = 0x7f0000000000u + i * 8;
	}
	memcpy(s->column, columns, sizeof(columns));
	s->nr_columns = sizeof(columns) / sizeof(columns[0]);
	s->fails = fails;
	s->cross = (struct crossfilter){ NR, fails, { way, 1 }, share, { NULL, 1 }, weight_of };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct served served; /* stays: filters of one input are those of an earlier one, too */
	void *question = malloc(size + 1), *bytes = NULL;
	const char *why = NULL;
	size_t nr = 0;

	if (!question)
		return 0;
	if (!served.nr_columns)
		make(&served);
	memcpy(question, data, size);
	if (questions_answer(&served, question, size, &bytes, &nr, &why) == 0) {
		for (size_t i = 0; i < nr; i++)
			sink += ((unsigned char *)bytes)[i];
		if (nr % 8)
			abort();
		free(bytes);
	} else if (!why) {
		abort();
	}
	free(question);
	return 0;
}
