/* SPDX-License-Identifier: MIT */
#include "jitreg/trace/stack_delta.h"

#include "jitreg/base/leb128.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_WORDS 512u
#define PAGES (SAMPLE_STACK_WORDS / PAGE_WORDS) /* of a memory */
#define RUNS_MAX (2u << 20)
#define NEW_MAX (16u << 20)

struct stack_delta {
	uint64_t memory[SAMPLE_STACK_MEMORIES][SAMPLE_STACK_WORDS];
	uint16_t touched[SAMPLE_STACK_MEMORIES]; /* which pages are not all 0 */
	size_t runs_used, new_used;
	/* how many bytes the runs have stands before them, so there is room for it */
	unsigned char out[LEB128_MAX + RUNS_MAX + NEW_MAX];
	unsigned char new_bytes[NEW_MAX];
};
_Static_assert(PAGES <= 16, "a bit each");

int stack_delta_create(struct stack_delta **out)
{
	*out = calloc(1, sizeof(**out)); /* only pages that threads use are ever touched */
	return *out ? 0 : -ENOMEM;
}

void stack_delta_destroy(struct stack_delta *s)
{
	free(s);
}

/* A run takes at least one word and at most LEB128 of two numbers that are a window's words together. */
bool stack_delta_full(const struct stack_delta *s)
{
	return RUNS_MAX - s->runs_used < SAMPLE_STACK_WORDS * 2 + 4 * LEB128_MAX || NEW_MAX - s->new_used < SAMPLE_STACK_MAX;
}

static uint64_t load(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* nr words against as many of the memory. */
static void compare(struct stack_delta *s, uint64_t *memory, const unsigned char *stack, uint32_t nr)
{
	unsigned char *runs = s->out + LEB128_MAX + s->runs_used, *new = s->new_bytes + s->new_used;

	for (uint32_t n = 0; n < nr;) {
		uint32_t begin = n, same;

		while (n + 4 <= nr && ((load(stack + 8 * n) ^ memory[n]) | (load(stack + 8 * n + 8) ^ memory[n + 1]) |
				       (load(stack + 8 * n + 16) ^ memory[n + 2]) | (load(stack + 8 * n + 24) ^ memory[n + 3])) == 0)
			n += 4;
		while (n < nr && load(stack + 8 * n) == memory[n])
			n++;
		same = n - begin;
		for (begin = n; n < nr && load(stack + 8 * n) != memory[n]; n++)
			memory[n] = load(stack + 8 * n);
		memcpy(new, memory + begin, 8 * (size_t)(n - begin));
		new += 8 * (size_t)(n - begin);
		runs = leb128_put(leb128_put(runs, same), n - begin);
	}
	s->runs_used = (size_t)(runs - s->out) - LEB128_MAX;
	s->new_used = (size_t)(new - s->new_bytes);
}

uint32_t stack_delta_add(struct stack_delta *s, uint32_t tid, uint64_t sp, const void *stack, uint32_t bytes,
			   const unsigned char **new_words)
{
	uint64_t *memory = s->memory[tid % SAMPLE_STACK_MEMORIES];
	uint32_t first = (uint32_t)(sp / 8 % SAMPLE_STACK_WORDS), words = bytes / 8;
	uint32_t before_end = words < SAMPLE_STACK_WORDS - first ? words : SAMPLE_STACK_WORDS - first;
	uint32_t nr_new;
	size_t used = s->new_used;

	*new_words = s->new_bytes + used;
	compare(s, memory + first, stack, before_end);
	if (words > before_end)
		compare(s, memory, (const unsigned char *)stack + 8 * (size_t)before_end, words - before_end);
	for (uint32_t n = first / PAGE_WORDS; words && n <= (first + words - 1) / PAGE_WORDS; n++)
		s->touched[tid % SAMPLE_STACK_MEMORIES] |= (uint16_t)(1u << n % PAGES);
	nr_new = (uint32_t)((s->new_used - used) / 8);
	memcpy(s->new_bytes + s->new_used, (const unsigned char *)stack + 8 * (size_t)words, bytes % 8);
	s->new_used += bytes % 8;
	return nr_new;
}

void stack_delta_write(struct stack_delta *s, struct trace_writer *w)
{
	unsigned char head[LEB128_MAX];
	size_t head_bytes = (size_t)(leb128_put(head, s->runs_used) - head);
	unsigned char *start = s->out + LEB128_MAX - head_bytes;

	memcpy(start, head, head_bytes);
	memcpy(s->out + LEB128_MAX + s->runs_used, s->new_bytes, s->new_used);
	trace_record_array(w, 3);
	trace_record_u64(w, SAMPLE_COLUMN_STACK);
	trace_record_u64(w, SAMPLE_ENCODING_CHANGES);
	trace_record_bytes(w, start, head_bytes + s->runs_used + s->new_used);
	s->runs_used = s->new_used = 0;
	for (uint32_t m = 0; m < SAMPLE_STACK_MEMORIES; m++) {
		for (uint32_t n = 0; s->touched[m] && n < PAGES; n++)
			if (s->touched[m] & 1u << n)
				memset(s->memory[m] + n * PAGE_WORDS, 0, PAGE_WORDS * sizeof(uint64_t));
		s->touched[m] = 0;
	}
}
