/* SPDX-License-Identifier: MIT */
#include "analyzer/spark/java_twins.h"

#include "analyzer/spark/java_words.h"

#include <stdio.h>

#define NAMES_MAX 100000 /* maximum number of names of a text; Spark's texts have some thousands */

bool spark_prefix_has_twins(const char *prefix)
{
	return strcmp(prefix, "filter") == 0 || strcmp(prefix, "project") == 0 || strcmp(prefix, "bhj") == 0;
}

uint32_t spark_first_of_prefix(const struct spark_prefix *prefix, uint32_t i)
{
	uint32_t first = 0;

	while (strcmp(prefix[first].text, prefix[i].text) != 0)
		first++;
	return first + 1;
}

static void set_name(struct spark_twins *t, const char *name, size_t bytes, uint32_t first, uint32_t is)
{
	if (t->of_name.nr < NAMES_MAX)
		hash_map_set(&t->of_name, hash_bytes(name, bytes), first, is);
}

static uint32_t find_name(const struct spark_twins *t, const char *name, size_t bytes, uint32_t first)
{
	return hash_map_find(&t->of_name, hash_bytes(name, bytes), first);
}

uint32_t spark_twins_word(const struct spark_twins *t, const char *word, size_t bytes, uint32_t first)
{
	const uint32_t mark = find_name(t, word, bytes, 0);

	return mark ? mark : t->of_group[first] > 1 ? find_name(t, word, bytes, first) : first;
}

/* --------------------------------------------------------------------------------------------------------------- marks */

/* Returns the N of a mark PREFIX_c_N, and sets *prefix_bytes to the length of PREFIX.  Returns -1 if the word is no mark. */
static long mark_number(const char *word, size_t bytes, size_t *prefix_bytes)
{
	long number = 0;
	size_t at = bytes;

	while (at && isdigit((unsigned char)word[at - 1]))
		at--;
	if (at == bytes || bytes - at > 6 || at < 4 || memcmp(word + at - 3, "_c_", 3) != 0)
		return -1;
	for (size_t i = at; i < bytes; i++)
		number = number * 10 + (word[i] - '0');
	*prefix_bytes = at - 3;
	return number;
}

/* Returns the mark in the comment that a line begins with, and its length, or NULL if there is none. *number and *prefix_bytes are those
 * of mark_number(). */
static const char *mark_of_line(const char *line, size_t bytes, size_t *word_bytes, size_t *prefix_bytes, long *number)
{
	const char *at = line, *word = begins_with(line, bytes, "/*") ? next_word(&at, line + bytes, word_bytes) : NULL;

	*number = word ? mark_number(word, *word_bytes, prefix_bytes) : -1;
	return *number < 0 ? NULL : word;
}

/* Returns whether this is the prefix of a sink, which ends a pipeline. A sink is the stage, or an operator that collects all rows and is
 * not the lowest one. */
static bool is_sink(const struct spark_twins *t, const char *prefix, size_t bytes)
{
	if (bytes == strlen("wholestagecodegen") && memcmp(prefix, "wholestagecodegen", bytes) == 0)
		return true;
	for (uint32_t i = 0; i < t->nr; i++)
		if (strlen(t->prefix[i].text) == bytes && memcmp(t->prefix[i].text, prefix, bytes) == 0)
			return !spark_prefix_has_twins(t->prefix[i].text) && i + 1 < t->nr;
	return false;
}

/* Notes which operators the marks of a sink stand for.  PREFIX_c_number stands for prefix[lowest], and for each operator above it the
 * number is one less, up to the sink itself. */
static void set_marks(struct spark_twins *t, const char *prefix, size_t bytes, long number, uint32_t lowest)
{
	char name[96];

	for (uint32_t i = lowest; number >= 0 && bytes < 64; i--, number--) {
		const int nr = snprintf(name, sizeof(name), "%.*s_c_%ld", (int)bytes, prefix, number);

		set_name(t, name, (size_t)nr, 0, i + 1);
		if (i == 0 || (strlen(t->prefix[i].text) == bytes && memcmp(t->prefix[i].text, prefix, bytes) == 0))
			break;
	}
}

/* Returns the mark at which the code that produces rows ends. It is that of the lowest operator's input (*input is set). If there is
 * no input, it is that of the lowest operator itself, unless its prefix may have twins. Returns NULL if there is neither. */
static const char *find_source(const struct spark_twins *t, const char *text, size_t bytes, bool *input)
{
	static const char mark[] = "/*inputadapter_c_0*/";
	const char *at = memmem(text, bytes, mark, strlen(mark));
	char own[96];

	*input = at;
	if (!at && !spark_prefix_has_twins(t->prefix[t->nr - 1].text)) {
		snprintf(own, sizeof(own), "/*%.64s_c_0*/", t->prefix[t->nr - 1].text);
		at = memmem(text, bytes, own, strlen(own));
	}
	return at;
}

/* Finds the marks. The first mark of a sink after the source belongs to the lowest operator that consumes rows. Without a source, there are
 * no marks. */
static void find_marks(struct spark_twins *t, const char *text, size_t bytes)
{
	size_t n, word_bytes, prefix_bytes;
	const char *line, *mark, *at;
	bool input;
	long number;

	at = find_source(t, text, bytes, &input);
	while (at && (line = next_line(&at, text + bytes, &n))) {
		mark = mark_of_line(line, n, &word_bytes, &prefix_bytes, &number);
		if (mark && is_sink(t, mark, prefix_bytes)) {
			set_marks(t, mark, prefix_bytes, number, t->nr - (input ? 1 : 2));
			return;
		}
	}
}

/* --------------------------------------------------------------------------------------------------------------- names */

struct walk {
	struct spark_twins *t;
	/* Both arrays are indexed by 1 + index of the first operator with a prefix. now: the operator with this prefix whose code is being
	 * read. next: the operator of the last mark, whose code begins next. 0: unknown. */
	uint32_t now[SPARK_PREFIXES_MAX + 1], next[SPARK_PREFIXES_MAX + 1];
	bool methods_only;
};

/* Returns 1 + index of the only operator with a prefix in a union's input, or 0 if there is none or there are several. */
static uint32_t only_of_branch(const struct spark_twins *t, uint32_t first, uint32_t branch)
{
	uint32_t only = 0, nr = 0;

	for (uint32_t i = first; i <= t->nr && branch; i++)
		if (t->prefix[i - 1].branch == branch && spark_first_of_prefix(t->prefix, i - 1) == first) {
			only = i;
			nr++;
		}
	return nr == 1 ? only : 0;
}

/* Returns 1 + number of the union's input whose method a line begins, or 0 if it begins none. */
static uint32_t branch_of_line(const char *line, size_t bytes)
{
	static const char name[] = "_unionChildProcess_";
	const char *at = memmem(line, bytes, name, strlen(name));
	size_t digits = 0;
	const uint32_t number = at ? take_number(at + strlen(name), line + bytes, &digits) : 0;

	return digits ? number + 1 : 0;
}

static bool is_consumer(const char *word, size_t bytes, const char *prefix)
{
	return begins_with(word + strlen(prefix), bytes - strlen(prefix), "_doConsume_");
}

static void read_word(struct walk *w, const char *word, size_t bytes, bool defines)
{
	const uint32_t first = prefix_of_word(word, bytes, w->t->prefix, w->t->nr);
	uint32_t is;

	if (w->t->of_group[first] < 2)
		return;
	is = find_name(w->t, word, bytes, first);
	if (is_consumer(word, bytes, w->t->prefix[first - 1].text)) {
		is = is ? is : w->t->has_branches ? w->now[first] : w->next[first];
		w->now[first] = defines ? is : w->now[first];
		w->next[first] = 0;
	} else if (!is && !w->methods_only) {
		is = w->now[first];
	}
	if (is)
		set_name(w->t, word, bytes, first, is);
}

static void read_line(struct walk *w, const char *line, size_t bytes)
{
	const bool defines = line_defines(line, bytes);
	const uint32_t branch = w->t->has_branches && defines ? branch_of_line(line, bytes) : 0;
	const bool own = begins_with(line, bytes, "//") || begins_with(line, bytes, "do {");
	const char *at = line, *word;
	size_t n, prefix_bytes;
	long number;

	for (uint32_t i = 1; i <= w->t->nr && (own || defines); i++) {
		w->now[i] = branch ? only_of_branch(w->t, i, branch) : defines ? 0 : w->next[i] ? w->next[i] : w->now[i];
		w->next[i] = 0;
	}
	word = mark_of_line(line, bytes, &n, &prefix_bytes, &number);
	if (word && find_name(w->t, word, n, 0)) {
		const uint32_t is = find_name(w->t, word, n, 0);

		w->next[spark_first_of_prefix(w->t->prefix, is - 1)] = is;
		return;
	}
	while ((word = next_word(&at, line + bytes, &n)))
		read_word(w, word, n, defines);
}

/* Walks the text twice.  The operator of a method is known from its call, before which it may stand.  So the first pass gives operators
 * only to methods, and the second one to all names. */
static void set_names(struct spark_twins *t, const char *text, size_t bytes)
{
	for (int pass = 0; pass < 2; pass++) {
		struct walk w = { .t = t, .methods_only = pass == 0 };
		const char *at = text, *line;
		size_t n;

		while ((line = next_line(&at, text + bytes, &n)))
			read_line(&w, line, n);
	}
}

void spark_twins_read(struct spark_twins *t, const char *text, size_t bytes, const struct spark_prefix *prefix, uint32_t nr)
{
	*t = (struct spark_twins){ .prefix = prefix, .nr = nr };
	for (uint32_t i = 0; i < nr; i++) {
		t->of_group[spark_first_of_prefix(prefix, i)]++;
		t->has_branches |= prefix[i].branch != 0;
	}
	for (uint32_t i = 1; i <= nr; i++)
		if (t->of_group[i] > 1) {
			if (!t->has_branches)
				find_marks(t, text, bytes);
			set_names(t, text, bytes);
			return;
		}
}

void spark_twins_fini(struct spark_twins *t)
{
	hash_map_fini(&t->of_name);
}
