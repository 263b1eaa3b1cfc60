/* SPDX-License-Identifier: MIT */
#include "analyzer/store/gather.h"

#include "analyzer/store/block.h"
#include "analyzer/store/names.h"

#include <errno.h>

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
