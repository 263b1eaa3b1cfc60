/* SPDX-License-Identifier: MIT */
/*
 * Encodes and decodes SAMPLE_ENCODING_CHANGES. The encoder compares a stack with the memory of its thread (jitreg/trace/trace.h), word by
 * word, and writes words that differ to the output and to the memory. The decoder writes the few words that changed to the memory, and
 * returns a pointer to the stack there, or to a copy if the stack is not contiguous there. It checks the whole input once, in
 * stack_decoder_begin().
 */
#include "jitreg/trace/stack_delta.h"

#include "jitreg/base/leb128.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_WORDS 512u
#define PAGES (SAMPLE_STACK_WORDS / PAGE_WORDS) /* pages per memory */
#define RUNS_MAX (2u << 20)
#define NEW_MAX (16u << 20)

/* This mask has a bit for each page of a memory, which is set if the page was written. Only those pages need to be cleared. */
typedef uint16_t touched_pages;
_Static_assert(PAGES <= 8 * sizeof(touched_pages), "a bit each");

/* Set the bits of the pages that have the nr words from word first on. The words may wrap around to page 0. */
static void mark_touched_pages(touched_pages *touched, uint32_t first, uint32_t nr)
{
	for (uint32_t n = first / PAGE_WORDS; nr && n <= (first + nr - 1) / PAGE_WORDS; n++)
		*touched |= (touched_pages)(1u << n % PAGES);
}

static void clear_touched_memory(uint64_t memory[SAMPLE_STACK_MEMORIES][SAMPLE_STACK_WORDS], touched_pages touched[SAMPLE_STACK_MEMORIES])
{
	for (uint32_t m = 0; m < SAMPLE_STACK_MEMORIES; m++) {
		for (uint32_t n = 0; touched[m] && n < PAGES; n++)
			if (touched[m] & 1u << n)
				memset(memory[m] + n * PAGE_WORDS, 0, PAGE_WORDS * sizeof(uint64_t));
		touched[m] = 0;
	}
}

/* ----------------------------------------------------------------------------------------------------------- writing */

struct stack_delta {
	uint64_t memory[SAMPLE_STACK_MEMORIES][SAMPLE_STACK_WORDS];
	touched_pages touched[SAMPLE_STACK_MEMORIES];
	size_t runs_used, new_used;
	/* Room for the size of the runs, the runs, and, when they are written, the new bytes behind them. */
	unsigned char out[LEB128_MAX + RUNS_MAX + NEW_MAX];
	unsigned char new_bytes[NEW_MAX];
};

int stack_delta_create(struct stack_delta **out)
{
	*out = calloc(1, sizeof(**out)); /* pages that no thread uses take no memory */
	return *out ? 0 : -ENOMEM;
}

void stack_delta_destroy(struct stack_delta *s)
{
	free(s);
}

/* A run of n words takes at most 2 * n bytes, because n is at least 1, and its two LEB128 numbers are at most n. */
bool stack_delta_full(const struct stack_delta *s)
{
	return RUNS_MAX - s->runs_used < SAMPLE_STACK_WORDS * 2 + 4 * LEB128_MAX || NEW_MAX - s->new_used < SAMPLE_STACK_MAX;
}

static uint64_t load_stack_word(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Append nr words of a stack as runs and new words, compared with those at memory, and update the memory. */
static void encode_stack_changes(struct stack_delta *s, uint64_t *memory, const unsigned char *stack, uint32_t nr)
{
	unsigned char *runs = s->out + LEB128_MAX + s->runs_used, *new = s->new_bytes + s->new_used;

	for (uint32_t n = 0; n < nr;) {
		uint32_t begin = n, same;

		while (n + 4 <= nr &&
		       ((load_stack_word(stack + 8 * n) ^ memory[n]) | (load_stack_word(stack + 8 * n + 8) ^ memory[n + 1]) |
			(load_stack_word(stack + 8 * n + 16) ^ memory[n + 2]) | (load_stack_word(stack + 8 * n + 24) ^ memory[n + 3])) == 0)
			n += 4;
		while (n < nr && load_stack_word(stack + 8 * n) == memory[n])
			n++;
		same = n - begin;
		for (begin = n; n < nr && load_stack_word(stack + 8 * n) != memory[n]; n++)
			memory[n] = load_stack_word(stack + 8 * n);
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
	encode_stack_changes(s, memory + first, stack, before_end);
	if (words > before_end)
		encode_stack_changes(s, memory, (const unsigned char *)stack + 8 * (size_t)before_end, words - before_end);
	mark_touched_pages(&s->touched[tid % SAMPLE_STACK_MEMORIES], first, words);
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
	trace_samples_column(w, SAMPLE_COLUMN_STACK, SAMPLE_ENCODING_CHANGES, start, head_bytes + s->runs_used + s->new_used);
	s->runs_used = s->new_used = 0;
	clear_touched_memory(s->memory, s->touched);
}

/* ----------------------------------------------------------------------------------------------------------- reading */

struct stack_decoder {
	const uint64_t *lengths, *sps, *tids;
	uint32_t nr, next; /* next: index of the next sample */
	bool changes;
	const unsigned char *runs_start, *new_start; /* encoding BYTES: the stacks are at new_start, one after another */
	const unsigned char *runs, *new; /* position in the input: the runs and new words of sample `next` begin here */
	const unsigned char *current; /* stack of sample next - 1 */
	size_t current_bytes;
	touched_pages touched[SAMPLE_STACK_MEMORIES];
	/* copy of a stack that wraps around the end of its memory, or does not consist of whole words */
	unsigned char whole[SAMPLE_STACK_MAX + 1];
	uint64_t memory[SAMPLE_STACK_MEMORIES][SAMPLE_STACK_WORDS];
};

static uint64_t column_value_or_0(const uint64_t *v, uint32_t i)
{
	return v ? v[i] : 0;
}

/* Check that the runs cover exactly the words of all stacks, and that as many new bytes are there as they need.  Returns 0 or -EBADMSG. */
static int check_stack_changes(const struct stack_decoder *s, const unsigned char *runs, const unsigned char *end, size_t new_bytes)
{
	for (uint32_t i = 0; i < s->nr; i++) {
		uint64_t bytes = column_value_or_0(s->lengths, i), words = bytes / 8, same, new;

		if (bytes > SAMPLE_STACK_MAX)
			return -EBADMSG;
		while (words > 0) {
			runs = leb128_get(runs, end, &same);
			runs = runs ? leb128_get(runs, end, &new) : NULL;
			if (!runs || same > words || new > words - same || new > new_bytes / 8)
				return -EBADMSG;
			words -= same + new;
			new_bytes -= new * 8;
		}
		if (bytes % 8 > new_bytes)
			return -EBADMSG;
		new_bytes -= bytes % 8;
	}
	return 0;
}

static int check_whole_stacks(const struct stack_decoder *s, size_t left)
{
	for (uint32_t i = 0; i < s->nr; i++) {
		if (column_value_or_0(s->lengths, i) > left)
			return -EBADMSG;
		left -= column_value_or_0(s->lengths, i);
	}
	return 0;
}

static void restart_decoder(struct stack_decoder *s)
{
	s->next = 0;
	s->runs = s->runs_start;
	s->new = s->new_start;
	s->current_bytes = 0;
	clear_touched_memory(s->memory, s->touched);
}

/* Create a decoder in mapped memory, since calloc() would clear all of its 16 MiB if it reused freed memory.  Small pages are used, so that
 * memories of which no thread is in the trace take none. */
static struct stack_decoder *create_stack_decoder(void)
{
	struct stack_decoder *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (s == MAP_FAILED)
		return NULL;
	madvise(s, sizeof(*s), MADV_NOHUGEPAGE);
	return s;
}

int stack_decoder_begin(struct stack_decoder **out, uint64_t encoding, const unsigned char *p, size_t bytes, uint32_t nr,
			const uint64_t *lengths, const uint64_t *sps, const uint64_t *tids)
{
	struct stack_decoder *s = *out ? *out : create_stack_decoder();
	const unsigned char *end = p + bytes;
	uint64_t runs_bytes = 0;

	if (!s)
		return -ENOMEM;
	*out = s;
	s->lengths = lengths;
	s->sps = sps;
	s->tids = tids;
	s->nr = nr;
	s->changes = encoding == SAMPLE_ENCODING_CHANGES;
	s->new_start = p;
	if (s->changes) {
		p = leb128_get(p, end, &runs_bytes);
		if (!p || runs_bytes > (size_t)(end - p))
			return -EBADMSG;
		s->runs_start = p;
		s->new_start = p + runs_bytes;
		if (check_stack_changes(s, p, s->new_start, (size_t)(end - s->new_start)))
			return -EBADMSG;
	} else if (encoding != SAMPLE_ENCODING_BYTES || check_whole_stacks(s, bytes)) {
		return -EBADMSG;
	}
	restart_decoder(s);
	return 0;
}

void stack_decoder_destroy(struct stack_decoder *s)
{
	if (s)
		munmap(s, sizeof(*s));
}

/* Write nr words to a memory from word first % SAMPLE_STACK_WORDS on.  Behind its last word they continue at its first one. */
static void write_ring_words(uint64_t *memory, uint64_t first, const unsigned char *from, uint64_t nr)
{
	uint64_t to = first % SAMPLE_STACK_WORDS, before_end = SAMPLE_STACK_WORDS - to;

	if (nr <= before_end) {
		memcpy(memory + to, from, nr * 8);
	} else {
		memcpy(memory + to, from, before_end * 8);
		memcpy(memory, from + before_end * 8, (nr - before_end) * 8);
	}
}

/* Write the changed words of sample i to the memory of its thread, and set s->current to its stack.  Nothing is checked here, since
 * check_stack_changes() has done it. */
static void apply_sample_changes(struct stack_decoder *s, uint32_t i)
{
	uint32_t m = (uint32_t)(column_value_or_0(s->tids, i) % SAMPLE_STACK_MEMORIES);
	uint64_t first = column_value_or_0(s->sps, i) / 8, words = column_value_or_0(s->lengths, i) / 8,
		 tail = column_value_or_0(s->lengths, i) % 8;
	uint64_t begin = first % SAMPLE_STACK_WORDS, before_end = SAMPLE_STACK_WORDS - begin;
	uint64_t *memory = s->memory[m];

	mark_touched_pages(&s->touched[m], (uint32_t)begin, (uint32_t)words);
	for (uint64_t n = 0, same = 0, new = 0; n < words; n += same + new) {
		s->runs = leb128_get(s->runs, s->new_start, &same);
		s->runs = leb128_get(s->runs, s->new_start, &new);
		write_ring_words(memory, first + n + same, s->new, new);
		s->new += new * 8;
	}
	s->current = (const unsigned char *)(memory + begin);
	if (words > before_end || tail) {
		uint64_t straight = words < before_end ? words : before_end;

		memcpy(s->whole, memory + begin, straight * 8);
		memcpy(s->whole + straight * 8, memory, (words - straight) * 8);
		memcpy(s->whole + words * 8, s->new, tail);
		s->new += tail;
		s->current = s->whole;
	}
}

const unsigned char *stack_decoder_get_stack(struct stack_decoder *s, uint32_t i, size_t *bytes)
{
	if (i + 1 < s->next)
		restart_decoder(s);
	while (s->next <= i) {
		s->current_bytes = column_value_or_0(s->lengths, s->next);
		if (s->changes && s->current_bytes) {
			apply_sample_changes(s, s->next);
		} else {
			s->current = s->new;
			s->new += s->current_bytes;
		}
		s->next++;
	}
	*bytes = s->current_bytes;
	return s->current;
}
