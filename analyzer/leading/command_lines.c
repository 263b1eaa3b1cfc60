/* SPDX-License-Identifier: MIT */
#include "analyzer/leading/command_lines.h"

#include <stdio.h>
#include <string.h>

struct word {
	const char *text;
	size_t bytes;
};

/* Read the next word at *at, and move *at to its end. Return false at the end of the line. */
static bool next_word(const char **at, struct word *w)
{
	*at += strspn(*at, " ");
	*w = (struct word){ *at, strcspn(*at, " ") };
	*at += w->bytes;
	return w->bytes > 0;
}

static uint64_t program_key(const struct process *p)
{
	return hash_text(p->executable && *p->executable ? p->executable : p->comm);
}

static uint64_t word_key(struct word w)
{
	uint64_t key = hash_bytes(w.text, w.bytes);

	return key ? key : 1;
}

static bool stands_before(const char *line, struct word w)
{
	const char *at = line;
	struct word other;

	while (next_word(&at, &other) && other.text < w.text)
		if (other.bytes == w.bytes && memcmp(other.text, w.text, w.bytes) == 0)
			return true;
	return false;
}

static bool count_one(struct hash_map *m, uint64_t a, uint64_t b)
{
	return hash_map_set(m, a, b, hash_map_find(m, a, b) + 1);
}

bool command_words_make(struct command_words *w, const struct model *m)
{
	bool ok = true;

	*w = (struct command_words){ .processes = { .nr = 0 } };
	for (uint32_t i = 0; ok && i < m->processes.nr; i++) {
		const struct process *p = m->numbered.at[i];
		const char *at = p->command_line;
		struct word word;

		ok = !at || count_one(&w->processes, 0, program_key(p));
		while (ok && at && next_word(&at, &word))
			ok = stands_before(p->command_line, word) || count_one(&w->processes, word_key(word), program_key(p));
	}
	return ok;
}

void command_words_fini(struct command_words *w)
{
	hash_map_fini(&w->processes);
}

static const char *base_name_in(struct word w, size_t *bytes)
{
	const char *slash = memrchr(w.text, '/', w.bytes);

	*bytes = slash ? (size_t)(w.text + w.bytes - slash - 1) : w.bytes;
	return slash ? slash + 1 : w.text;
}

#define LONG_LINE 60 /* bytes; a longer command line is abbreviated also if the program has only one process */

/* Does the word have an ending, as the name of a file does, such as "big.cc" or "src/a.c"? */
static bool is_file_name(struct word w)
{
	const char *dot = memrchr(w.text, '.', w.bytes);

	return dot && dot > w.text && dot[-1] != '/' && dot[-1] != '.' && dot + 1 < w.text + w.bytes;
}

void command_words_label(const struct command_words *w, const struct process *p, bool utf8, char text[COMMAND_LABEL_BYTES])
{
	const uint32_t all = hash_map_find(&w->processes, 0, program_key(p));
	const char *at = p->command_line, *name;
	struct word first = { "", 0 }, word, best = { NULL, 0 };
	const bool is_long = all == 1 && strlen(p->command_line) > LONG_LINE;
	uint32_t least = all;
	bool output = false;
	size_t bytes;

	next_word(&at, &first);
	name = base_name_in(first, &bytes);
	while ((all > 1 || is_long) && !(is_long && best.text) && next_word(&at, &word)) {
		const uint32_t nr = hash_map_find(&w->processes, word_key(word), program_key(p));
		const bool tells = *word.text != '-' && !output && strncmp(word.text, "/tmp/", 5) != 0;

		output = word.bytes == 2 && memcmp(word.text, "-o", 2) == 0;
		if (!tells || (is_long ? !is_file_name(word) : nr >= least))
			continue;
		least = nr;
		best = word;
	}
	if (best.text)
		snprintf(text, COMMAND_LABEL_BYTES, "%.*s %s %.*s", (int)bytes, name, utf8 ? "…" : "...", (int)best.bytes, best.text);
	else
		snprintf(text, COMMAND_LABEL_BYTES, "%.*s%s", (int)bytes, name, first.text + first.bytes);
}
