/* SPDX-License-Identifier: MIT */
/*
 * Finds the operator that a name was made for, if a generated text has several operators of one kind (twins).  The operators of a text are
 * a chain, and the code of each stands within that of the one below it, after a mark SINK_c_N.  SINK is the prefix of the operator that
 * ends the pipeline (wholestagecodegen, hashAgg), and N falls by one with each operator upwards.  A name belongs to the operator after
 * whose mark it is seen first.  But code directly after the mark evaluates what the operator below has left unevaluated.  Without marks
 * (spark.sql.codegen.comments) twins are not told apart.
 *
 * If the text has a union (Spark 4.2 and later), each of its inputs has a method SINK_unionChildProcess_N.  A name then belongs to the only
 * operator of its kind in the input in whose method it is seen first.  Context: thread.
 */
#ifndef TAILOR_SPARK_JAVA_TWINS_H
#define TAILOR_SPARK_JAVA_TWINS_H

#include "analyzer/spark/java_text.h"
#include "jitreg/base/hash_map.h"

struct spark_twins {
	const struct spark_prefix *prefix;
	uint32_t nr;
	bool has_branches;
	uint8_t of_group[SPARK_PREFIXES_MAX + 1]; /* number of operators with one prefix, by 1 + index of the first of them */
	/* (hash of a name, 1 + index of the first operator with its prefix, or 0 for a mark) -> 1 + index of the operator */
	struct hash_map of_name;
};

/*
 * Returns whether twins of this prefix can be told apart. Only filters, projections and broadcast hash joins can. An aggregation ends the
 * chain.
 */
bool spark_prefix_has_twins(const char *prefix);
/* Returns 1 + index of the first operator that has the prefix of prefix[i]. */
uint32_t spark_first_of_prefix(const struct spark_prefix *prefix, uint32_t i);
/* Reads a text. prefix: the prefixes of all operators of the chain, the upper ones first. The array must stay valid until
 * spark_twins_fini(), which the caller calls afterwards. */
void spark_twins_read(struct spark_twins *t, const char *text, size_t bytes, const struct spark_prefix *prefix, uint32_t nr);
/* Returns 1 + index of the operator that a word was made for, or 0 if it is unknown. first: the result of prefix_of_word() for the word. */
uint32_t spark_twins_word(const struct spark_twins *t, const char *word, size_t bytes, uint32_t first);
void spark_twins_fini(struct spark_twins *t);

#endif
