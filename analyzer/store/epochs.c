/* SPDX-License-Identifier: MIT */
#include "analyzer/store/epochs.h"

#include "analyzer/store/lacking.h"
#include "analyzer/store/milestones.h"
#include "analyzer/store/went.h"

#include <stdio.h>
#include <string.h>

bool epochs_have(struct store *s, int64_t recording, int64_t number)
{
	static struct statement here = STATEMENT("SELECT 1 FROM epoch WHERE recording = ? AND number = ? AND tier = 0"),
				folded = STATEMENT("SELECT 1 FROM folded WHERE recording = ? AND number = ?");
	const int64_t epoch[] = { recording, number };

	if (store_run_numbers(s, &here, epoch, 2))
		return store_take_number(&here) != 0;
	return store_run_numbers(s, &folded, epoch, 2) && store_take_number(&folded) != 0;
}

/* ----------------------------------------------------------------------------------------- epochs that were removed */

static struct statement select_value = STATEMENT("SELECT value FROM meta WHERE key = ?"),
			set_whole = STATEMENT("INSERT OR REPLACE INTO meta VALUES(?1, ?2)"),
			set_real = STATEMENT("INSERT OR REPLACE INTO meta VALUES(?1, ?2)");

static int64_t whole(struct store *s, const char *key)
{
	return store_run(s, &select_value, "t", key) ? store_take_number(&select_value) : 0;
}

static double real(struct store *s, const char *key)
{
	double number = store_run(s, &select_value, "t", key) ? sqlite3_column_double(select_value.prepared, 0) : 0;

	if (select_value.prepared)
		sqlite3_reset(select_value.prepared);
	return number;
}

void went_read(struct store *s, struct went *w)
{
	*w = (struct went){ whole(s, "went epochs"), real(s, "went samples"), whole(s, "went begin_ns"), whole(s, "went end_ns") };
	if (w->epochs <= 0)
		memset(w, 0, sizeof(*w));
	else if (w->end_ns < w->begin_ns)
		w->end_ns = w->begin_ns;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

void went_add(struct store *s, const struct went *w)
{
	struct went sum;
	bool is_first;

	if (w->epochs <= 0)
		return;
	went_read(s, &sum);
	is_first = !sum.epochs;
	store_run(s, &set_whole, "ti", "went epochs", sum.epochs < INT64_MAX - w->epochs ? sum.epochs + w->epochs : INT64_MAX);
	store_run(s, &set_real, "td", "went samples", sum.samples + w->samples);
	store_run(s, &set_whole, "ti", "went begin_ns", is_first ? w->begin_ns : least(sum.begin_ns, w->begin_ns));
	store_run(s, &set_whole, "ti", "went end_ns", is_first ? w->end_ns : most(sum.end_ns, w->end_ns));
}

/* --------------------------------------------------------------------------------------------- incomplete information */

/* A sentence has two rows in the table `meta`, for the beginning and the end of its time.  The keys of all ends have one prefix, so that
 * they are neighbours, and lacking_read() finds them without reading other keys. */
#define LACK_FROM "lack from "
#define LACK_TO "lack to "
#define LACK_TO_END "lack to!" /* sorts after all keys that begin with LACK_TO */

void lacking_add(struct store *s, const char *sentence, int64_t begin_ns, int64_t end_ns)
{
	char from[sizeof(LACK_FROM) + LACKING_BYTES], to[sizeof(LACK_TO) + LACKING_BYTES];
	int64_t first, last;

	if (strlen(sentence) >= LACKING_BYTES)
		return;
	snprintf(from, sizeof(from), LACK_FROM "%s", sentence);
	snprintf(to, sizeof(to), LACK_TO "%s", sentence);
	first = whole(s, from);
	last = whole(s, to);
	if (!first && store_ask_number(s, "SELECT count(*) FROM meta WHERE key >= '" LACK_TO "' AND key < '" LACK_TO_END "'") >=
			      4 * (int64_t)LACKING_MAX)
		return;
	store_run(s, &set_whole, "ti", from, first ? least(first, begin_ns) : begin_ns);
	store_run(s, &set_whole, "ti", to, last ? most(last, end_ns) : end_ns);
}

void lacking_read(struct store *s, int64_t from_ns, int64_t to_ns, struct lacking *l)
{
	static struct statement all = STATEMENT("SELECT substr(t.key, ?4) FROM meta t JOIN meta f ON f.key = ?3 || substr(t.key, ?4) "
						"WHERE t.key >= '" LACK_TO "' AND t.key < '" LACK_TO_END "' AND t.value > ?1 "
						"AND f.value < ?2 ORDER BY t.key LIMIT 8");
	bool row;

	l->nr = 0;
	for (row = store_run(s, &all, "iiti", from_ns, to_ns, LACK_FROM, (int64_t)sizeof(LACK_TO)); row && l->nr < LACKING_MAX;
	     row = store_next(s, &all)) {
		const char *sentence = (const char *)sqlite3_column_text(all.prepared, 0);

		snprintf(l->sentence[l->nr++], LACKING_BYTES, "%s", store_printable(sentence ? sentence : ""));
	}
	if (all.prepared)
		sqlite3_reset(all.prepared);
}

/* ------------------------------------------------------------------------------------------------------------------ marks */

/* The key ends with the time as 20 digits, so that marks are sorted by time.  The value is the kind's letter, the program, a new line, and
 * the text. */
#define MARK "mark "
#define MARK_END "mark!"
#define KINDS ((const char[]){ MILESTONE_START, MILESTONE_BUILD, MILESTONE_DEPLOYMENT, 0 })
#define PROGRAM "program "
#define PROGRAM_END "program!"
#define PROGRAMS_MAX 256
#define PROGRAM_BYTES 512 /* longer paths are left out */
#define BUILD_SHOWN 12 /* digits of a build id that are shown */

static struct statement has_key = STATEMENT("SELECT 1 FROM meta WHERE key = ?");

void milestones_add(struct store *s, int64_t at_ns, enum milestone_kind kind, const char *program, const char *text)
{
	static struct statement insert = STATEMENT("INSERT OR REPLACE INTO meta VALUES(?, ?)"),
				old = STATEMENT("DELETE FROM meta WHERE key >= '" MARK "' AND key < (SELECT key FROM meta WHERE key >= '"
						MARK "' AND key < '" MARK_END "' ORDER BY key DESC LIMIT 1 OFFSET ?)");
	char key[sizeof(MARK) + 24], value[1 + MILESTONE_PROGRAM_BYTES + MILESTONE_BYTES];

	if (strlen(program) >= MILESTONE_PROGRAM_BYTES || strchr(program, '\n'))
		program = "";
	snprintf(value, sizeof(value), "%c%s\n%.*s", (char)kind, program, MILESTONE_BYTES - 1, text);
	for (int n = 0; n < 100; n++, at_ns++) { /* there may be several marks of one time, each of which gets the next free nanosecond */
		snprintf(key, sizeof(key), MARK "%020lld", (long long)at_ns);
		if (!store_run(s, &has_key, "t", key))
			break;
		sqlite3_reset(has_key.prepared);
	}
	store_run(s, &insert, "tt", key, value);
	store_run(s, &old, "i", (int64_t)(4 * MILESTONES_MAX - 1));
}

bool milestones_program(struct store *s, const char *executable, const char *build_id, int64_t at_ns)
{
	static struct statement insert = STATEMENT("INSERT OR REPLACE INTO meta VALUES(?, ?)"),
				select = STATEMENT("SELECT value FROM meta WHERE key = ?");
	char key[sizeof(PROGRAM) + PROGRAM_BYTES], before[PROGRAM_BYTES] = "", text[MILESTONE_BYTES];
	bool is_known;

	if (strlen(executable) >= PROGRAM_BYTES)
		return false;
	snprintf(key, sizeof(key), PROGRAM "%s", executable);
	is_known = store_run(s, &select, "t", key);
	if (is_known) {
		snprintf(before, sizeof(before), "%s", store_printable((const char *)sqlite3_column_text(select.prepared, 0)));
		sqlite3_reset(select.prepared);
		if (!*build_id || strcmp(before, build_id) == 0)
			return true;
	} else if (store_ask_number(s, "SELECT count(*) FROM meta WHERE key >= '" PROGRAM "' AND key < '" PROGRAM_END "'") >=
		   PROGRAMS_MAX) {
		return false;
	}
	store_run(s, &insert, "tt", key, build_id);
	if (*before) {
		snprintf(text, sizeof(text), "%.80s: build %.*s in place of %.*s", basename(executable), BUILD_SHOWN, build_id,
			 BUILD_SHOWN, before);
		milestones_add(s, at_ns, MILESTONE_BUILD, executable, text);
	}
	return is_known;
}

void milestones_read(struct store *s, int64_t from_ns, int64_t to_ns, struct milestones *m)
{
	static struct statement all = STATEMENT("SELECT CAST(substr(key, ?3) AS INTEGER) AS at, value FROM meta WHERE key >= '" MARK
						"' AND key < '" MARK_END "' AND at >= ?1 AND at < ?2 ORDER BY key DESC LIMIT 64");
	bool row;

	m->nr = 0;
	for (row = store_run(s, &all, "iii", from_ns, to_ns, (int64_t)sizeof(MARK)); row && m->nr < MILESTONES_MAX;
	     row = store_next(s, &all)) {
		const char *value = (const char *)sqlite3_column_text(all.prepared, 1), *text = value ? strchr(value, '\n') : NULL;
		struct milestone *k = &m->mark[m->nr];

		if (!text || text == value || !strchr(KINDS, *value) || text - value > MILESTONE_PROGRAM_BYTES)
			continue;
		m->nr++;
		k->at_ns = sqlite3_column_int64(all.prepared, 0);
		k->kind = (enum milestone_kind)*value;
		snprintf(k->program, sizeof(k->program), "%.*s", (int)(text - value - 1), value + 1);
		snprintf(k->text, sizeof(k->text), "%s", store_printable(text + 1));
	}
	if (all.prepared)
		sqlite3_reset(all.prepared);
	for (uint32_t i = 0; i < m->nr / 2; i++) {
		struct milestone other = m->mark[i];

		m->mark[i] = m->mark[m->nr - 1 - i];
		m->mark[m->nr - 1 - i] = other;
	}
}

int milestones_deploy(struct store *s, int64_t at_ns, const char *name, struct diag *d)
{
	char text[MILESTONE_BYTES];

	snprintf(text, sizeof(text), "deployment %s", name);
	store_begin_question(s);
	if (store_begin(s))
		milestones_add(s, at_ns, MILESTONE_DEPLOYMENT, "", text);
	return store_commit(s, d);
}
