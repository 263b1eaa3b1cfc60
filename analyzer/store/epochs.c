/* SPDX-License-Identifier: MIT */
#include "analyzer/store/epochs.h"

#include "analyzer/store/lacking.h"
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
