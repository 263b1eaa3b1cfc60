/* SPDX-License-Identifier: MIT */
/*
 * The Java text that Spark generated for a WholeStageCodegen: which of its lines are which operator's.  Names in it begin with the prefix
 * of the operator that they were made for.  The text is not trusted.  Context: thread.
 */
#ifndef TAILOR_SPARK_JAVA_TEXT_H
#define TAILOR_SPARK_JAVA_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPARK_PREFIXES_MAX 64

/* Where several operators have one, they stand in the order of the plan, parents first. */
struct spark_prefix {
	const char *text; /* "hashAgg" */
	uint32_t branch; /* 1 + which of a union's inputs the operator is in; 0: in none */
};

/* The number of its iterator's class; 0: it has none. */
uint32_t spark_text_codegen(const char *text, size_t bytes);
/* Has it names of all these prefixes? */
bool spark_text_has_prefixes(const char *text, size_t bytes, const struct spark_prefix *prefix, uint32_t nr);
/* Has it a mark (filter_c_2, by spark.sql.codegen.comments) of an operator with another prefix? */
bool spark_text_has_other_operators(const char *text, size_t bytes, const struct spark_prefix *prefix, uint32_t nr);
/* Of two texts for one plan: is the first one clearly nearer to it?  It alone has as many operators in its last pipeline; or of the
 * expressions, which have a mark in the text and mostly parentheses in the plan.  parentheses: of each prefix, twins' with their first
 * one. */
bool spark_text_is_nearer(const char *text, size_t bytes, const char *other, size_t other_bytes, const struct spark_prefix *prefix,
			  uint32_t nr, const uint32_t *parentheses);
/* The numbers in what a plan says (constants of its expressions, ends of ranges), and how often it says each.  They point into it. */
#define SPARK_NUMBERS_MAX 128
struct spark_numbers {
	struct {
		const char *word;
		size_t bytes;
		uint32_t nr;
	} number[SPARK_NUMBERS_MAX];
	uint32_t nr;
};
void spark_numbers_add(struct spark_numbers *n, const char *plan);
/* How many of them are in the text: each as often as in the plan, at most. */
uint32_t spark_text_count_numbers(const char *text, size_t bytes, const struct spark_numbers *n);
/* of_line[n]: 1 + index of the prefix that line n + 1 is of, 0: of none; for lines up to max.  Returns how many lines. */
uint32_t spark_text_lines(const char *text, size_t bytes, const struct spark_prefix *prefix, uint32_t nr, uint8_t *of_line, uint32_t max);

#endif
