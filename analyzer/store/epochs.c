/* SPDX-License-Identifier: MIT */
#include "analyzer/store/epochs.h"

#include "analyzer/store/went.h"

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

/* -------------------------------------------------------------------------------------------------------- what went */

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
