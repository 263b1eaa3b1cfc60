/* SPDX-License-Identifier: MIT */
#include "analyzer/store/rows.h"

#include "analyzer/store/block.h"
#include "analyzer/store/epochs.h"
#include "analyzer/store/names.h"
#include "analyzer/store/gather.h"
#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ID_MAX (1ll << 27)
#define HOST "ifnull(t.s, '(unknown)')" /* an epoch without its host's name has this name */

struct place {
	int64_t series, function;
};

struct reading {
	struct store *store;
	struct place *place; /* all places, in an array by their numbers */
	int64_t nr_places;
	ARRAY(struct rows_row) rows;
};

static const char *text_of(const struct statement *q, int column)
{
	const char *text = (const char *)sqlite3_column_text(q->prepared, column);

	return text ? text : "";
}

static bool read_places(struct reading *r)
{
	static struct statement all = STATEMENT("SELECT id, series, function FROM place");
	int64_t most = store_ask_number(r->store, "SELECT max(id) FROM place");

	r->nr_places = most >= 0 && most < ID_MAX ? most + 1 : 0;
	if (!store_has_room(r->store, (uint64_t)r->nr_places * sizeof(*r->place)))
		return false;
	r->place = calloc((size_t)r->nr_places + 1, sizeof(*r->place));
	for (bool more = r->place && store_run(r->store, &all, ""); more; more = store_next(r->store, &all)) {
		int64_t id = sqlite3_column_int64(all.prepared, 0);

		if (id > 0 && id < r->nr_places)
			r->place[id] = (struct place){ sqlite3_column_int64(all.prepared, 1), sqlite3_column_int64(all.prepared, 2) };
	}
	return r->place;
}

static bool add_row(struct reading *r, int64_t series, int64_t function, uint64_t samples, uint64_t weight)
{
	if (!ARRAY_PUSH(r->rows, (struct rows_row){ series, function, samples, weight }))
		return false;
	return true;
}

int rows_compare(const void *a, const void *b)
{
	const struct rows_row *x = a, *y = b;

	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

/* Splits a series' weight among its nr places, in proportion to the places' stored weights, which are approximate (block.h).  The parts
 * are whole numbers whose sum is the series' weight. all: the sum of the stored weights. */
static void share_weight(struct rows_row *row, uint32_t nr, unsigned __int128 all, uint64_t weight)
{
	unsigned __int128 so_far = 0, given = 0;

	for (uint32_t i = 0; i < nr; i++) {
		unsigned __int128 until;

		so_far += row[i].weight;
		until = so_far == all ? weight : (unsigned __int128)((long double)weight * (long double)so_far / (long double)all);
		until = until < given ? given : until > weight ? weight : until;
		row[i].weight = (uint64_t)(until - given);
		given = until;
	}
}

static bool read_rows(struct reading *r, int64_t epoch)
{
	struct block series = { 0 }, places = { 0 };
	uint32_t nr_places, at = 0;
	bool room = true;

	r->rows.nr = 0;
	if (block_read(r->store, epoch, BLOCK_SERIES, &series) && block_read(r->store, epoch, BLOCK_PLACES, &places) &&
	    store_has_room(r->store, ((uint64_t)series.nr + places.nr) * sizeof(*r->rows.at)))
		for (uint32_t i = 0; i < places.nr && room; i++) {
			const struct block_row *row = block_row(&places, i);

			if (row->id < (uint64_t)r->nr_places)
				room = add_row(r, r->place[row->id].series, r->place[row->id].function, row->samples, row->weight);
		}
	nr_places = r->rows.nr;
	if (nr_places)
		qsort(r->rows.at, nr_places, sizeof(*r->rows.at), rows_compare);
	for (uint32_t i = 0; i < series.nr && room; i++) { /* series are sorted by number, as the rows of places are */
		const struct block_row *row = block_row(&series, i);
		int64_t id = (int64_t)row->id;
		uint32_t first;
		unsigned __int128 all = 0;

		while (at < nr_places && r->rows.at[at].series < id)
			r->rows.at[at++].weight = 0; /* the row's series has no weight in this epoch */
		for (first = at; at < nr_places && r->rows.at[at].series == id; at++)
			all += r->rows.at[at].weight;
		if (all)
			share_weight(r->rows.at + first, at - first, all, row->weight);
		else
			room = add_row(r, id, 0, row->samples, row->weight);
	}
	while (at < nr_places)
		r->rows.at[at++].weight = 0;
	block_fini(&series);
	block_fini(&places);
	return room;
}

int rows_read(struct store *s, const struct window *w, const char *host, const struct rows_reader *reader, struct diag *d)
{
	static struct statement some =
		STATEMENT("SELECT e.id, begin_ns, end_ns, recording, number, tier, parts, cpus, samples, effective, lost, "
			  HOST " FROM "
			  "epoch e LEFT JOIN text t ON t.id = e.host WHERE (begin_ns / 2 + end_ns / 2) >= ?1 AND "
			  "(begin_ns / 2 + end_ns / 2) < ?2 AND (?3 = '' OR " HOST " = ?3) ORDER BY begin_ns, e.id");
	struct reading r = { .store = s };
	bool more;
	int ret = 0;

	store_begin_question(s);
	store_execute(s, "BEGIN");
	if (!read_places(&r))
		store_fail(s, ENOMEM, "out of memory");
	more = store_run(s, &some, "iit", w->from_ns, w->to_ns, host ? host : "");
	for (; more && ret == 0; more = store_next(s, &some)) {
		sqlite3_stmt *p = some.prepared;
		int64_t begin_ns = epochs_date(sqlite3_column_int64(p, 1)), end_ns = sqlite3_column_int64(p, 2);
		struct rows_epoch e = { .id = sqlite3_column_int64(p, 0),
					.begin_ns = begin_ns,
					.end_ns = epochs_end(begin_ns, end_ns),
					.recording = sqlite3_column_int64(p, 3),
					.number = sqlite3_column_int64(p, 4),
					.tier = (uint32_t)sqlite3_column_int64(p, 5),
					.parts = (uint32_t)sqlite3_column_int64(p, 6),
					.cpus = (uint32_t)sqlite3_column_int64(p, 7),
					.samples = sqlite3_column_double(p, 8),
					.effective = sqlite3_column_double(p, 9),
					.lost = (uint64_t)sqlite3_column_int64(p, 10),
					.host = text_of(&some, 11) };

		if (reader->wanted && !reader->wanted(reader->context, &e))
			continue;
		if (!read_rows(&r, e.id))
			store_fail(s, ENOMEM, "out of memory");
		else if (!s->error)
			ret = reader->epoch(reader->context, &e, r.rows.at, r.rows.nr);
	}
	if (some.prepared)
		sqlite3_reset(some.prepared);
	store_execute(s, "COMMIT");
	free(r.place);
	free(r.rows.at);
	return ret ? ret : store_failed(s, d);
}

bool rows_span(struct store *s, struct window *w)
{
	w->from_ns = epochs_date(store_ask_number(s, "SELECT min(begin_ns) FROM epoch"));
	w->to_ns = epochs_end(w->from_ns, store_ask_number(s, "SELECT max(max(begin_ns, end_ns)) FROM epoch")) + 1;
	return store_ask_number(s, "SELECT EXISTS(SELECT 1 FROM epoch)") > 0;
}

const char *rows_store_name(struct store *s)
{
	static struct statement name = STATEMENT("SELECT value FROM meta WHERE key = 'store'");

	return store_run(s, &name, "") ? text_of(&name, 0) : "";
}

struct rows_series rows_series(struct store *s, int64_t id)
{
	static struct statement q =
		STATEMENT("SELECT en.s, eu.s, pn.s, pe.s, ps.s, cl.s, cn.s, cp.s, cd.s, cb.s, qt.s FROM series s "
			  "LEFT JOIN event e ON e.id = s.event LEFT JOIN text en ON en.id = e.name LEFT JOIN text eu ON eu.id = e.unit "
			  "LEFT JOIN process p ON p.id = s.process LEFT JOIN text pn ON pn.id = p.name "
			  "LEFT JOIN text pe ON pe.id = p.executable LEFT JOIN text ps ON ps.id = p.service "
			  "LEFT JOIN component c ON c.id = s.component "
			  "LEFT JOIN text cl ON cl.id = c.level LEFT JOIN text cn ON cn.id = c.name LEFT JOIN text cp ON cp.id = c.place "
			  "LEFT JOIN text cd ON cd.id = c.detail LEFT JOIN text cb ON cb.id = c.label "
			  "LEFT JOIN query q ON q.id = c.query LEFT JOIN text qt ON qt.id = q.text WHERE s.id = ?");

	if (!store_run(s, &q, "i", id))
		return (struct rows_series){ "", "", "", "", "", "", "", "", "", "", "" };
	return (struct rows_series){ text_of(&q, 0), text_of(&q, 1), text_of(&q, 2), text_of(&q, 3), text_of(&q, 4),
				     text_of(&q, 5), text_of(&q, 6), text_of(&q, 7), text_of(&q, 8), text_of(&q, 9),
				     text_of(&q, 10) };
}

struct rows_function rows_function(struct store *s, int64_t id)
{
	static struct statement q = STATEMENT("SELECT n.s, i.s, f.jit FROM function f LEFT JOIN text n ON n.id = f.name "
					      "LEFT JOIN text i ON i.id = f.image WHERE f.id = ?");

	if (!store_run(s, &q, "i", id))
		return (struct rows_function){ "", "", false };
	return (struct rows_function){ text_of(&q, 0), text_of(&q, 1), sqlite3_column_int(q.prepared, 2) };
}

const char *rows_next_host(struct store *s, char **after)
{
	static struct statement q = STATEMENT("SELECT DISTINCT " HOST " AS host FROM epoch e LEFT JOIN text t ON t.id = e.host "
					      "WHERE " HOST " > ? ORDER BY 1 LIMIT 1");
	char *next = store_run(s, &q, "t", *after) ? strdup(text_of(&q, 0)) : NULL;

	if (next) {
		sqlite3_reset(q.prepared);
		free(*after);
		*after = next;
	}
	return next;
}

/* -------------------------------------------------------------------------------------------------- rows from a server */

int gather_begin(const char *name, struct store **out, struct diag *d)
{
	int ret = store_open_in_memory(name, out, d);

	if (ret == 0)
		store_begin(*out);
	return ret;
}

int64_t gather_series(struct store *s, const struct rows_series *x)
{
	struct component_name c = { x->level, x->component, x->place, x->detail, x->label, names_query(s, x->query) };
	int64_t process = names_process(s, x->process, x->executable, x->service), event = names_event(s, x->event, x->unit);

	return names_series(s, process, *x->level ? names_component(s, &c) : 0, event);
}

int64_t gather_function(struct store *s, const struct rows_function *x)
{
	return names_function(s, x->name, x->image, x->jit);
}

void gather_epoch(struct store *s, const struct rows_epoch *e, const struct rows_row *row, uint32_t nr)
{
	static struct statement insert = STATEMENT("INSERT INTO epoch(recording, number, tier, begin_ns, end_ns, host, samples, effective, "
						   "lost, cpus, parts) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
	struct block series = { 0 }, places = { 0 };
	bool room = true;
	int64_t epoch;

	store_run(s, &insert, "iiiiiiddiii", e->recording, e->number, (int64_t)e->tier, e->begin_ns, e->end_ns, names_text(s, e->host),
		  e->samples, e->effective, (int64_t)e->lost, (int64_t)e->cpus, (int64_t)e->parts);
	epoch = s->error ? 0 : sqlite3_last_insert_rowid(s->db);
	for (uint32_t i = 0; i < nr && room && !s->error; i++) {
		room = block_add(&series, &(struct block_row){ (uint64_t)row[i].series, row[i].samples, row[i].weight });
		if (room && row[i].function && row[i].samples)
			room = block_add(&places, &(struct block_row){ (uint64_t)names_place(s, row[i].series, row[i].function),
								       row[i].samples, row[i].weight });
	}
	if (!room)
		store_fail(s, ENOMEM, "out of memory");
	if (!s->error) {
		block_write(s, epoch, BLOCK_SERIES, &series);
		block_write(s, epoch, BLOCK_PLACES, &places);
	}
	block_fini(&series);
	block_fini(&places);
}

int gather_end(struct store *s, struct diag *d)
{
	int ret = store_commit(s, d);

	if (ret)
		store_close(s);
	return ret;
}
