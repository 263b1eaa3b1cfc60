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

/* The prefix of an operator's names.  Arrays of these have all operators of a WholeStageCodegen in the order of the plan, parents first. */
struct spark_prefix {
	const char *text; /* for example "hashAgg" */
	uint32_t branch; /* 1 + index of the union's input that the operator is in; 0: in none */
};

/* Returns the number in the name of the text's iterator class, which is that of the WholeStageCodegen, or 0 if there is none. */
uint32_t spark_text_codegen(const char *text, size_t bytes);
/* Returns whether the text has names with each of these prefixes. */
bool spark_text_has_prefixes(const char *text, size_t bytes, const struct spark_prefix *prefix, uint32_t nr);
/* Returns whether the text has a mark of an operator with another prefix. A mark is a comment such as filter_c_2, which Spark writes if
 * spark.sql.codegen.comments is set. */
bool spark_text_has_other_operators(const char *text, size_t bytes, const struct spark_prefix *prefix, uint32_t nr);
/*
 * Returns whether `text` is clearly likelier than `other` to be the text of a WholeStageCodegen. It is if it alone has as many operators in
 * its last pipeline as the plan (nr). If both or neither has, the numbers of expressions decide: an expression has a mark in the text, and
 * in most cases a "(" in the plan. parentheses: number of "(" in the plan, per prefix; operators with one prefix are counted together, at
 * the first of them.
 */
bool spark_text_is_nearer(const char *text, size_t bytes, const char *other, size_t other_bytes, const struct spark_prefix *prefix,
			  uint32_t nr, const uint32_t *parentheses);
/* The numbers in a plan's text (constants of its expressions, ends of ranges), and how often each occurs.  They point into that text,
 * which must stay valid.  Numbers beyond SPARK_NUMBERS_MAX are ignored. */
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
/* Returns how many numbers of a generated text are these numbers.  Each counts at most as often as it occurs in the plan. */
uint32_t spark_text_count_numbers(const char *text, size_t bytes, const struct spark_numbers *n);
/* Finds the operator of each line, for at most max lines. of_line[n] becomes 1 + index of the operator of line n + 1, or 0 if it is
 * unknown.  Returns how many lines were read. */
uint32_t spark_text_lines(const char *text, size_t bytes, const struct spark_prefix *prefix, uint32_t nr, uint8_t *of_line, uint32_t max);

#endif
