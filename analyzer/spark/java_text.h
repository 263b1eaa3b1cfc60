/* SPDX-License-Identifier: MIT */
/*
 * Finds the operator of each line of the Java text that Spark generated for a WholeStageCodegen.  Names in the text begin with the prefix
 * of the operator that they were made for.  The text is not trusted.  Context: thread.
 */
#ifndef TAILOR_SPARK_JAVA_TEXT_H
#define TAILOR_SPARK_JAVA_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPARK_PREFIXES_MAX 64

/* The prefix of an operator.  Operators with the same prefix stand in the order of the plan, parents first. */
struct spark_prefix {
	const char *text; /* for example "hashAgg" */
	uint32_t branch; /* 1 + index of the union's input that the operator is in; 0: in none */
};

/* The number in the name of the text's iterator class, which is that of the WholeStageCodegen; 0: there is none. */
uint32_t spark_text_codegen(const char *text, size_t bytes);
/* Has the text names with each of these prefixes? */
bool spark_text_has_prefixes(const char *text, size_t bytes, const struct spark_prefix *prefix, uint32_t nr);
/* Has the text a mark (filter_c_2, by spark.sql.codegen.comments) of an operator with another prefix? */
bool spark_text_has_other_operators(const char *text, size_t bytes, const struct spark_prefix *prefix, uint32_t nr);
/* Is text clearly nearer to a plan than another text?  It is if it alone has as many operators in its last pipeline as the plan.  Else the
 * numbers of expressions are compared, which have marks in the text and mostly parentheses in the plan.  parentheses: their number per
 * prefix, with those of twins (operators with one prefix) at the first of them. */
bool spark_text_is_nearer(const char *text, size_t bytes, const char *other, size_t other_bytes, const struct spark_prefix *prefix,
			  uint32_t nr, const uint32_t *parentheses);
/* The numbers in a plan's text (constants of its expressions, ends of ranges), and how often each occurs.  They point into that text. */
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
/* Counts these numbers in the text, each at most as often as it occurs in the plan. */
uint32_t spark_text_count_numbers(const char *text, size_t bytes, const struct spark_numbers *n);
/* Sets of_line[n] to 1 + index of the prefix of line n + 1, or to 0 if it has none, for at most max lines.  Returns how many lines. */
uint32_t spark_text_lines(const char *text, size_t bytes, const struct spark_prefix *prefix, uint32_t nr, uint8_t *of_line, uint32_t max);

#endif
