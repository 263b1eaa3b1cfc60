/* SPDX-License-Identifier: MIT */
/*
 * Several operators of one kind in one generated text: which of them a name was made for.  The operators of a text are a chain, and the
 * code of each stands within that of the one below it, behind a mark SINK_c_N, where SINK is the prefix of the operator that ends
 * the pipeline (wholestagecodegen, hashAgg) and N falls by one with each operator upwards.  A name is the operator's behind whose mark
 * it is seen first, but what stands directly behind the mark is what the operator below left to be evaluated.  Without marks
 * (spark.sql.codegen.comments) nothing is known.
 *
 * Where a union is in the text (Spark 4.2 and later), each of its inputs has a method SINK_unionChildProcess_N, and a name is of the only
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
	uint8_t of_group[SPARK_PREFIXES_MAX + 1]; /* by the first of a prefix (1 + index): how many have it */
	struct hash_map of_name; /* (name, 1 + index of the prefix's first; of a mark 0) -> 1 + index */
};

/* Can twins of this prefix be told apart at all?  Aggregations break the chain. */
bool spark_prefix_has_twins(const char *prefix);
/* 1 + index of the first with the prefix of prefix[i]. */
uint32_t spark_first_of_prefix(const struct spark_prefix *prefix, uint32_t i);
/* prefix: of all operators of the chain, the upper ones first. */
void spark_twins_read(struct spark_twins *t, const char *text, size_t bytes, const struct spark_prefix *prefix, uint32_t nr);
/* first: 1 + index of the first prefix that the word begins with, or 0.  The same of the operator that it was made for; 0: not known. */
uint32_t spark_twins_word(const struct spark_twins *t, const char *word, size_t bytes, uint32_t first);
void spark_twins_fini(struct spark_twins *t);

#endif
