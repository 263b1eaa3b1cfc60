/* SPDX-License-Identifier: MIT */
/*
 * Two queries at once: each has numbers of its own, and its morsels run on two threads in turn with those of the other.  The second
 * one does three times as much.  The component that a thread works for is in a thread-local word: queries ROUNDS.
 */
#define _GNU_SOURCE
#include "jitreg.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { OPERATOR = 1, TASK = 2 };
#define MAGIC (0x7a11ull << 48)

static __thread uint64_t tag JITREG_STATIC_TLS;
static volatile uint64_t sink;
static unsigned long rounds;

struct query {
	uint64_t ids, run; /* numbers: the operator, its task */
} query[2];

/* Shared: its address says nothing. */
__attribute__((noinline)) static void spin(uint64_t n)
{
	uint64_t x = n;

	for (uint64_t i = 0; i < n; i++)
		x = x * 6364136223846793005ull + 1;
	sink = x;
}

static void *work(void *p)
{
	(void)p;
	for (unsigned long i = 0; i < rounds; i++)
		for (unsigned q = 0; q < 2; q++) {
			struct jitreg_ref task = jitreg_at(TASK, query[q].ids + 1);
			uint64_t morsel = jitreg_mark_begin(JITREG_COVERS_THREAD, "morsel", task, i, query[q].run, NULL);

			JITREG_WITH_TAG_WORD(tag, MAGIC | (query[q].ids + 1))
				spin(q ? 300000 : 100000);
			jitreg_mark_end(morsel, 1);
		}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct jitreg_tag_field field = { TASK, 0, 32 };
	char name[32];
	pthread_t t[2];

	rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	jitreg_level(OPERATOR, "operator", 0, JITREG_LEVEL_PLAN);
	jitreg_level(TASK, "task", OPERATOR, 0);
	if (jitreg_tag_in_word(&tag, 0xffffull << 48, MAGIC, &field, 1) == -EINVAL)
		return 1;
	for (unsigned q = 0; q < 2; q++) {
		query[q].ids = jitreg_new_ids(2);
		snprintf(name, sizeof(name), "query %u", q + 1);
		jitreg_scope(query[q].ids, 2, name, q ? "select sum(b)\n  from two" : "select a from one");
		snprintf(name, sizeof(name), "scan %u", q + 1);
		jitreg_component(OPERATOR, query[q].ids, name, "", JITREG_COMPONENT_RUNTIME);
		jitreg_component(TASK, query[q].ids + 1, name, "", 0);
		jitreg_link_to(jitreg_at(TASK, query[q].ids + 1), jitreg_at(OPERATOR, query[q].ids), 1);
		query[q].run = jitreg_mark_begin(JITREG_COVERS_PROCESS, "run", jitreg_at(0, 0), q + 1, 0, NULL);
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	for (unsigned q = 0; q < 2; q++) {
		jitreg_mark_end(query[q].run, rounds);
		jitreg_scope_end(query[q].ids, 2);
	}
	return 0;
}
