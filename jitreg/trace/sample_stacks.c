/* SPDX-License-Identifier: MIT */
/*
 * A memory per thread holds what its stack looked like at the last sample; going to the next sample of it writes the few
 * words that changed, and the stack is read in place.  Everything is checked once, before the first stack is handed out.
 */
#include "jitreg/trace/sample_stacks.h"

#include "jitreg/trace/numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct sample_stacks {
	const uint64_t *lengths, *sps, *tids;
	uint32_t nr, next; /* the sample that comes next */
	bool changes;
	const unsigned char *runs_start, *new_start; /* whole stacks: in new_start, one after another */
	const unsigned char *runs, *new; /* next's */
	const unsigned char *current; /* the last one, */
	size_t current_bytes;
	bool used[SAMPLE_STACK_MEMORIES];
	unsigned char whole[SAMPLE_STACK_MAX + 1]; /* of one that goes round the end of its memory, or is no whole words */
	uint64_t memory[SAMPLE_STACK_MEMORIES][SAMPLE_STACK_WORDS];
};

static uint64_t at(const uint64_t *v, uint32_t i)
{
	return v ? v[i] : 0;
}

/* Do the runs of all stacks cover them, and are there as many new words? */
static int check_changes(const struct sample_stacks *s, const unsigned char *runs, const unsigned char *end, size_t new_bytes)
{
	for (uint32_t i = 0; i < s->nr; i++) {
		uint64_t bytes = at(s->lengths, i), words = bytes / 8, same, new;

		if (bytes > SAMPLE_STACK_MAX)
			return -EBADMSG;
		while (words > 0) {
			runs = number_get(runs, end, &same);
			runs = runs ? number_get(runs, end, &new) : NULL;
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

static int check_whole(const struct sample_stacks *s, size_t left)
{
	for (uint32_t i = 0; i < s->nr; i++) {
		if (at(s->lengths, i) > left)
			return -EBADMSG;
		left -= at(s->lengths, i);
	}
	return 0;
}

static void start_over(struct sample_stacks *s)
{
	s->next = 0;
	s->runs = s->runs_start;
	s->new = s->new_start;
	s->current_bytes = 0;
	for (uint32_t m = 0; m < SAMPLE_STACK_MEMORIES; m++) {
		if (s->used[m])
			memset(s->memory[m], 0, sizeof(s->memory[m]));
		s->used[m] = false;
	}
}

int sample_stacks_begin(struct sample_stacks **out, uint64_t encoding, const unsigned char *p, size_t bytes, uint32_t nr,
			const uint64_t *lengths, const uint64_t *sps, const uint64_t *tids)
{
	struct sample_stacks *s = *out ? *out : calloc(1, sizeof(*s)); /* pages of threads that are not there stay untouched */
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
		p = number_get(p, end, &runs_bytes);
		if (!p || runs_bytes > (size_t)(end - p))
			return -EBADMSG;
		s->runs_start = p;
		s->new_start = p + runs_bytes;
		if (check_changes(s, p, s->new_start, (size_t)(end - s->new_start)))
			return -EBADMSG;
	} else if (encoding != SAMPLE_ENCODING_BYTES || check_whole(s, bytes)) {
		return -EBADMSG;
	}
	start_over(s);
	return 0;
}

void sample_stacks_destroy(struct sample_stacks *s)
{
	free(s);
}

/* nr words of the ring that a memory is, from first on. */
static void write_words(uint64_t *memory, uint64_t first, const unsigned char *from, uint64_t nr)
{
	uint64_t to = first % SAMPLE_STACK_WORDS, before_end = SAMPLE_STACK_WORDS - to;

	if (nr <= before_end) {
		memcpy(memory + to, from, nr * 8);
	} else {
		memcpy(memory + to, from, before_end * 8);
		memcpy(memory, from + before_end * 8, (nr - before_end) * 8);
	}
}

/* Checked by check_changes(). */
static void apply_changes(struct sample_stacks *s, uint32_t i)
{
	uint32_t m = (uint32_t)(at(s->tids, i) % SAMPLE_STACK_MEMORIES);
	uint64_t first = at(s->sps, i) / 8, words = at(s->lengths, i) / 8, tail = at(s->lengths, i) % 8;
	uint64_t begin = first % SAMPLE_STACK_WORDS, before_end = SAMPLE_STACK_WORDS - begin;
	uint64_t *memory = s->memory[m];

	s->used[m] = true;
	for (uint64_t n = 0, same = 0, new = 0; n < words; n += same + new) {
		s->runs = number_get(s->runs, s->new_start, &same);
		s->runs = number_get(s->runs, s->new_start, &new);
		write_words(memory, first + n + same, s->new, new);
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

const unsigned char *sample_stacks_get(struct sample_stacks *s, uint32_t i, size_t *bytes)
{
	if (i + 1 < s->next)
		start_over(s);
	while (s->next <= i) {
		s->current_bytes = at(s->lengths, s->next);
		if (s->changes && s->current_bytes) {
			apply_changes(s, s->next);
		} else {
			s->current = s->new;
			s->new += s->current_bytes;
		}
		s->next++;
	}
	*bytes = s->current_bytes;
	return s->current;
}
