/* SPDX-License-Identifier: MIT */
/*
 * A vectorised interpreter: vectorized ROUNDS.  A plan is a list of primitives, which are library functions that work on a vector; the
 * same one serves several operators.  No code is generated: each place of the plan is a component, and its number is in a
 * thread-local word while its primitive runs.  Three operators do work of 1 : 3 : 6.
 */
#define _GNU_SOURCE
#include "jitreg.h" /* jitreg */

#include "work.h"

#include <stdlib.h>

enum { OPERATOR = 1, PRIMITIVE = 2 }; /* jitreg */
#define TAG (0x7a11ull << 48)         /* jitreg */
#define TAG_CHECK (0xffffull << 48)   /* jitreg */
#define VECTOR 1024

static __thread uint64_t tag JITREG_STATIC_TLS; /* jitreg */

static void map_hash(uint64_t *to, uint64_t turns)
{
	for (uint64_t n = 0; n < turns; n++)
		for (int i = 0; i < VECTOR; i++)
			to[i] = to[i] * 6364136223846793005ull + 1;
}

static void fold_xor(uint64_t *to, uint64_t turns)
{
	for (uint64_t n = 0; n < turns; n++)
		for (int i = 1; i < VECTOR; i++)
			to[i] ^= to[i - 1] >> 3;
}

static struct step {
	uint64_t operator;
	const char *name;
	void (*primitive)(uint64_t *to, uint64_t turns);
} plan[] = {
	{ SCAN, "map_hash", map_hash },
	{ SCAN, "fold_xor", fold_xor },
	{ SELECT, "map_hash", map_hash },
	{ SELECT, "fold_xor", fold_xor },
	{ AGGREGATE, "fold_xor", fold_xor },
	{ AGGREGATE, "map_hash", map_hash },
};
#define NR_STEPS (sizeof(plan) / sizeof(plan[0]))

static void announce(uint64_t ids)                                  /* jitreg */
{                                                                   /* jitreg */
	const struct jitreg_tag_field field = { PRIMITIVE, 0, 32 }; /* jitreg */

	jitreg_level(OPERATOR, "operator", 0, JITREG_LEVEL_PLAN);                                                             /* jitreg */
	jitreg_level(PRIMITIVE, "primitive", OPERATOR, 0);                                                                    /* jitreg */
	jitreg_scope(ids, NR_OPERATORS + NR_STEPS, "query 1", "select ...");                                                  /* jitreg */
	for (uint64_t o = SCAN; o < NR_OPERATORS; o++) {                                                                      /* jitreg */
		jitreg_component(OPERATOR, ids + o, operator_name[o], "", 0);                                                 /* jitreg */
		jitreg_counter(OPERATOR, ids + o, "rows", VECTOR);                                                            /* jitreg */
		if (o > SCAN)                                                                                                 /* jitreg */
			jitreg_edge(OPERATOR, ids + o - 1, ids + o, 0, "rows");                                               /* jitreg */
	}                                                                                                                     /* jitreg */
	for (uint64_t i = 0; i < NR_STEPS; i++) {                                                                             /* jitreg */
		jitreg_component(PRIMITIVE, ids + NR_OPERATORS + i, plan[i].name, operator_name[plan[i].operator], 0);        /* jitreg */
		jitreg_link_to(jitreg_at(PRIMITIVE, ids + NR_OPERATORS + i), jitreg_at(OPERATOR, ids + plan[i].operator), 1); /* jitreg */
	}                                                                                                                     /* jitreg */
	jitreg_tag_in_word(&tag, TAG_CHECK, TAG, &field, 1);                                                                  /* jitreg */
}                                                                                                                             /* jitreg */

int main(int argc, char **argv)
{
	const uint64_t ids = jitreg_new_ids(NR_OPERATORS + NR_STEPS); /* jitreg */
	static uint64_t vector[VECTOR];
	uint64_t sum = 0;
	uint64_t run; /* jitreg */

	announce(ids); /* jitreg */
	for (long round = 0; round < (argc > 1 ? atol(argv[1]) : 1); round++) {
		run = jitreg_mark_begin(JITREG_COVERS_PROCESS, "run", jitreg_at(0, 0), (uint64_t)round, 0, NULL); /* jitreg */
		count_for(0);
		for (uint64_t i = 0; i < NR_STEPS; i++) {
			JITREG_WITH_TAG_WORD(tag, TAG | (ids + NR_OPERATORS + i)) /* jitreg */
				plan[i].primitive(vector, (50 + (uint64_t)round % 100) * operator_work[plan[i].operator]);
			count_for(plan[i].operator);
		}
		jitreg_mark_end(run, VECTOR); /* jitreg */
	}
	jitreg_scope_end(ids, NR_OPERATORS + NR_STEPS); /* jitreg */
	for (int i = 0; i < VECTOR; i++)
		sum += vector[i];
	print_counted(sum);
	return 0;
}
