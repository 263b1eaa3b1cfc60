/* SPDX-License-Identifier: MIT */
#include "analyzer/spark/java_text.h"

#include "analyzer/spark/java_twins.h"
#include "analyzer/spark/java_words.h"

#include <stdlib.h>

/* A text is clearly nearer to a plan than another one if the other's distance, divided by NEARER, is at least its own distance plus
 * MARKS_MORE. */
#define NEARER 2
#define MARKS_MORE 2
#define CLASS "class GeneratedIteratorForCodegenStage"

uint32_t spark_text_codegen(const char *text, size_t bytes)
{
	const char *at = memmem(text, bytes, CLASS, strlen(CLASS));
	size_t digits;

	return at ? take_number(at + strlen(CLASS), text + bytes, &digits) : 0;
}

bool spark_text_has_prefixes(const char *text, size_t bytes, const struct spark_prefix *prefix, uint32_t nr)
{
	bool has[SPARK_PREFIXES_MAX + 1] = { false };
	const char *at = text, *word;
	size_t n;

	while ((word = next_word(&at, text + bytes, &n)))
		has[prefix_of_word(word, n, prefix, nr)] = true;
	for (uint32_t i = 0; i < nr; i++)
		if (!has[spark_first_of_prefix(prefix, i)])
			return false;
	return true;
}

/* Returns whether a word is an operator's mark PREFIX_c_NUMBER. Those of the stage itself and of its inputs do not count. */
static bool is_operator_mark(const char *word, size_t bytes)
{
	const char *mark = memmem(word, bytes, "_c_", 3);

	return mark && mark + 3 < word + bytes && isdigit((unsigned char)mark[3]) && !begins_with(word, bytes, "wholestagecodegen_") &&
	       !begins_with(word, bytes, "inputadapter_");
}

bool spark_text_has_other_operators(const char *text, size_t bytes, const struct spark_prefix *prefix, uint32_t nr)
{
	const char *at = text, *word;
	size_t n;

	while ((word = next_word(&at, text + bytes, &n)))
		if (is_operator_mark(word, n) && !prefix_of_word(word, n, prefix, nr))
			return true;
	return false;
}

/* Counts the marks of operators by prefix.  Marks of twins (operators with one prefix) are counted at the first of them. */
static void count_marks(const char *text, size_t bytes, const struct spark_prefix *prefix, uint32_t nr, uint32_t *nr_marks)
{
	const char *at = text, *word;
	uint32_t of;
	size_t n;

	memset(nr_marks, 0, nr * sizeof(*nr_marks));
	while ((word = next_word(&at, text + bytes, &n)))
		if (is_operator_mark(word, n) && (of = prefix_of_word(word, n, prefix, nr)))
			nr_marks[of - 1]++;
}

static uint32_t distance(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

/* Returns whether the text has marks for all nr operators in the pipeline whose rows it returns. The largest N of a mark
 * wholestagecodegen_c_N is the number of operators above the source. The source is an operator, too, unless the text has an input. */
static bool has_whole_pipeline(const char *text, size_t bytes, uint32_t nr)
{
	static const char input[] = "inputadapter_c_0", output[] = "wholestagecodegen_c_";
	const char *at = text, *word;
	uint32_t above = 0;
	size_t n, digits;

	while ((word = next_word(&at, text + bytes, &n)))
		if (begins_with(word, n, output)) {
			const uint32_t number = take_number(word + strlen(output), word + n, &digits);

			above = number > above ? number : above;
		}
	return above + (memmem(text, bytes, input, strlen(input)) ? 0 : 1) == nr;
}

/* In the comparison with the plan, prefixes with the same number of marks in both texts do not count. */
bool spark_text_is_nearer(const char *text, size_t bytes, const char *other, size_t other_bytes, const struct spark_prefix *prefix,
			  uint32_t nr, const uint32_t *parentheses)
{
	const bool whole = has_whole_pipeline(text, bytes, nr);
	uint32_t marks[SPARK_PREFIXES_MAX], marks_of_other[SPARK_PREFIXES_MAX], near = 0, far = 0;

	if (whole != has_whole_pipeline(other, other_bytes, nr))
		return whole;
	count_marks(text, bytes, prefix, nr, marks);
	count_marks(other, other_bytes, prefix, nr, marks_of_other);
	for (uint32_t k = 0; k < nr; k++)
		if (marks[k] != marks_of_other[k]) {
			near += distance(marks[k], parentheses[k]);
			far += distance(marks_of_other[k], parentheses[k]);
		}
	return far / NEARER >= near + MARKS_MORE;
}

/* Returns 1 + the index of the number that is written like this word, or 0 if there is none.  In Java a number may end in a letter. */
static uint32_t find_number(const struct spark_numbers *n, const char *word, size_t bytes, bool is_java)
{
	for (uint32_t i = 0; i < n->nr; i++) {
		const size_t of = n->number[i].bytes;

		if ((bytes == of || (is_java && bytes == of + 1 && strchr("LDF", word[of]))) && memcmp(word, n->number[i].word, of) == 0)
			return i + 1;
	}
	return 0;
}

void spark_numbers_add(struct spark_numbers *n, const char *plan)
{
	const char *at = plan, *end = plan + strlen(plan), *word;
	size_t bytes;

	while ((word = next_word(&at, end, &bytes))) {
		uint32_t known = isdigit((unsigned char)*word) ? find_number(n, word, bytes, false) : 0;

		if (known)
			n->number[known - 1].nr++;
		else if (isdigit((unsigned char)*word) && n->nr < SPARK_NUMBERS_MAX) {
			n->number[n->nr].word = word;
			n->number[n->nr].bytes = bytes;
			n->number[n->nr++].nr = 1;
		}
	}
}

uint32_t spark_text_count_numbers(const char *text, size_t bytes, const struct spark_numbers *n)
{
	uint32_t seen[SPARK_NUMBERS_MAX] = { 0 }, found = 0, known;
	const char *at = text, *word;
	size_t of;

	while ((word = next_word(&at, text + bytes, &of)))
		if (isdigit((unsigned char)*word) && (known = find_number(n, word, of, true)))
			found += ++seen[known - 1] <= n->number[known - 1].nr;
	return found;
}

struct lines {
	const struct spark_prefix *prefix;
	uint32_t nr;
	struct spark_twins twins;
	int depth; /* number of open braces */
	uint32_t class, region; /* operators of the inner class and of the method around, as 1 + index; 0: unknown */
};

/* Returns the operator of the variable that a line assigns or declares, else the only operator with a name in the line, as 1 + index.
 * Returns 0 if there is none, or if there are several. */
static uint32_t prefix_of_line(const struct lines *l, const char *line, size_t bytes)
{
	const char *equals = memchr(line, '=', bytes), *at = line, *word;
	uint32_t only = 0;
	size_t n;

	while ((word = next_word(&at, line + bytes, &n))) {
		uint32_t p = spark_twins_word(&l->twins, word, n, prefix_of_word(word, n, l->prefix, l->nr));

		if (p && equals && word < equals && !begins_with(equals, (size_t)(line + bytes - equals), "=="))
			return p;
		only = p && only && p != only ? UINT32_MAX : p ? p : only;
	}
	return only == UINT32_MAX ? 0 : only;
}

static uint32_t read_line(struct lines *l, const char *line, size_t bytes)
{
	/* the brace of a class may come on the next line, so line_defines() would miss it */
	const bool class = begins_with(line, bytes, "public class ") || begins_with(line, bytes, "private class ");
	const bool defines = class || line_defines(line, bytes);
	uint32_t own = prefix_of_line(l, line, bytes);

	if (defines && class)
		l->class = l->region = own;
	else if (defines && l->depth <= 1)
		l->region = own;
	else if (own && begins_with(line, bytes, "/*"))
		l->region = own;
	for (size_t i = 0; i < bytes; i++)
		l->depth += line[i] == '{' ? 1 : line[i] == '}' ? -1 : 0;
	own = own ? own : l->region ? l->region : l->class;
	if (l->depth <= 1 && !defines)
		l->class = l->region = 0;
	return own;
}

uint32_t spark_text_lines(const char *text, size_t bytes, const struct spark_prefix *prefix, uint32_t nr, uint8_t *of_line, uint32_t max)
{
	struct lines l = { .prefix = prefix, .nr = nr };
	const char *at = text, *line;
	uint32_t lines = 0;
	size_t n;

	spark_twins_read(&l.twins, text, bytes, prefix, nr);
	while (lines < max && (line = next_line(&at, text + bytes, &n)))
		of_line[lines++] = (uint8_t)read_line(&l, line, n);
	spark_twins_fini(&l.twins);
	return lines;
}
