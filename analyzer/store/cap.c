/* SPDX-License-Identifier: MIT */
/*
 * In stores of programs with a JIT, names are nine tenths of the bytes.  Nearly all that an epoch frees is names that no other epoch has.
 * These are known only after all epochs have been read (usage.h), which happens before the first step.  Then steps are taken for a part of
 * the excess at a time.  The file's size is measured after each part, since pages that are half empty free less than the estimate says.
 */
#include "analyzer/store/cap.h"

#include "analyzer/store/block.h"
#include "analyzer/store/pieces.h"
#include "analyzer/store/usage.h"
#include "analyzer/store/went.h"
#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NEARLY_FULL(cap) ((cap) - (cap) / 16) /* without room_bytes, room is made above this size */
#define EMPTIED(cap) ((cap) - (cap) / 10)     /* largest size at which making room ends */
#define PART 0.7                              /* part of the excess that is freed at once */
#define BATCH(cap) ((cap) / 50)               /* most bytes freed at once while the store is below the cap, so that few pages change */
#define SLACK 16                              /* 1/SLACK of the file may be free pages, which the next epochs use */
#define BYTES_EMPTY (23.0 * 4096)             /* about the size of a store without rows, of which the estimates of usage.h have nothing */
#define HASH_INDEX_BYTES 14                   /* bytes of the index by hash for a text */
#define IDS_OF_STEP 16                        /* numbers that find_names() looks at for one step of the question's budget */
#define REMEMBERED_LEAST 2048                 /* rows that the table `folded` may have, however small the cap is */
#define REMEMBERED(cap) ((cap) / 512)

struct capping {
	struct store *s;
	struct usage u;
	struct pieces p;
	uint32_t most[NR_USAGE_TABLES]; /* changes in a transaction, by table, since a text changes more pages than other rows */
	double scale;  /* bytes of the file per estimated byte */
	uint32_t step; /* last step that was taken */
	struct cap_work work;
};

/* ----------------------------------------------------------------------------------------------------------- planning */

static double bytes_of_steps(const struct usage *u, uint32_t from, uint32_t to)
{
	double bytes = 0;

	for (uint32_t i = from; i <= to; i++)
		bytes += u->bytes[i];
	return bytes;
}

/* Returns the step at which the steps after `from` have freed so many bytes, or the last step if all of them free less.  Returns `from` if
 * bytes is not positive. */
static uint32_t step_that_frees(const struct capping *c, uint32_t from, double bytes)
{
	uint32_t step = from;

	while (step < c->u.nr_steps && bytes > 0)
		bytes -= c->u.bytes[++step] * c->scale;
	return step;
}

/* Sets the ratio of real bytes to estimated ones.  Estimates count rows, but pages are never quite full.  The ratio is that of the whole
 * store, limited to 0.5 to 2. */
static void set_scale(struct capping *c)
{
	double estimate = c->u.bytes_kept + bytes_of_steps(&c->u, 0, c->u.nr_steps);
	double taken = (double)store_size(c->s) - BYTES_EMPTY;

	c->scale = estimate > 0 && taken > 0 ? taken / estimate : 1;
	c->scale = c->scale < 0.5 ? 0.5 : c->scale > 2 ? 2 : c->scale;
}

/* Reads what all epochs use.  If the newest one alone is larger than the target, it loses its functions before other epochs go. */
static bool plan(struct capping *c, double target)
{
	if (!usage_read(c->s, false, &c->u))
		return false;
	set_scale(c);
	if (c->u.bytes_kept * c->scale + BYTES_EMPTY <= target || !c->u.epochs.nr || !c->u.epochs.at[c->u.epochs.nr - 1].has_functions)
		return true;
	usage_fini(&c->u);
	return usage_read(c->s, true, &c->u);
}

/* -------------------------------------------------------------------------------------------------------------- steps */

/* Adds the samples of functions of languages to those of their processes without a component. */
static void strip_series(struct capping *c, int64_t epoch)
{
	struct block b = { 0 };
	uint32_t nr = 0;

	if (!block_read(c->s, epoch, BLOCK_SERIES, &b))
		return;
	for (uint32_t i = 0; i < b.nr; i++) {
		uint32_t plain = hash_map_find(&c->u.plain, block_row(&b, i)->id, 0);

		if (plain > 1) {
			block_row(&b, i)->id = plain - 1;
			nr++;
		}
	}
	if (nr)
		block_write(c->s, epoch, BLOCK_SERIES, &b);
	block_fini(&b);
}

static void strip_epoch(struct capping *c, const struct usage_epoch *e)
{
	static struct statement strip = STATEMENT("DELETE FROM block WHERE epoch = ? AND part IN (1, 2)");

	if (!e->has_functions || !pieces_next(&c->p))
		return;
	store_run(c->s, &strip, "i", e->id);
	strip_series(c, e->id);
	c->work.stripped++;
	c->work.stripped_end_ns = e->end_ns;
}

/* Removes an epoch.  If it is an epoch as recorded, the table `folded` gets its number, so that its trace, which may still be beside the
 * store, is not added again. */
static void remove_epoch(struct capping *c, const struct usage_epoch *e)
{
	static struct statement remember = STATEMENT("INSERT OR IGNORE INTO folded VALUES(?, ?)"),
				blocks = STATEMENT("DELETE FROM block WHERE epoch = ?"),
				reasons = STATEMENT("DELETE FROM reason WHERE epoch = ?"),
				losses = STATEMENT("DELETE FROM loss WHERE epoch = ?"),
				epoch = STATEMENT("DELETE FROM epoch WHERE id = ?");
	const struct went went = { e->parts > 0 ? e->parts : 1, e->samples, e->begin_ns, e->end_ns };

	if (!pieces_next(&c->p))
		return;
	if (e->tier == 0)
		store_run(c->s, &remember, "ii", e->recording, e->number);
	store_run(c->s, &blocks, "i", e->id);
	store_run(c->s, &reasons, "i", e->id);
	store_run(c->s, &losses, "i", e->id);
	store_run(c->s, &epoch, "i", e->id);
	went_add(c->s, &went);
	c->work.went++;
	c->work.went_end_ns = e->end_ns;
}

static void take_step(struct capping *c, uint32_t step)
{
	if (step <= c->u.nr_stripped)
		strip_epoch(c, &c->u.epochs.at[step - 1]);
	else
		remove_epoch(c, &c->u.epochs.at[step - 1 - c->u.nr_stripped]);
}

/* -------------------------------------------------------------------------------------------------------------- names */

struct ids {
	ARRAY_OF(int64_t);
};

static bool goes_with(const struct usage_names *n, int64_t id, uint32_t from, uint32_t to)
{
	return id > 0 && id < n->nr && n->step[id] >= from && n->step[id] <= to;
}

/* Finds the names of a table that go with the steps `from` to `to`, sorted by number.  With is_by_hash, texts are sorted by hash.  Returns
 * false if the store has failed. */
static bool find_names(struct capping *c, enum usage_table table, uint32_t from, uint32_t to, bool is_by_hash, struct ids *ids)
{
	static struct statement by_hash = STATEMENT("SELECT id FROM text ORDER BY hash");
	const struct usage_names *n = &c->u.names[table];
	bool room = true;

	ids->nr = 0;
	if (!store_spend(c->s, (uint64_t)n->nr / IDS_OF_STEP))
		return false;
	if (table == USAGE_TEXT && is_by_hash) {
		for (bool more = store_run(c->s, &by_hash, ""); more && room; more = store_next(c->s, &by_hash)) {
			int64_t id = sqlite3_column_int64(by_hash.prepared, 0);

			if (goes_with(n, id, from, to) && (room = ARRAY_GROW(*ids)))
				ids->at[ids->nr++] = id;
		}
		if (by_hash.prepared)
			sqlite3_reset(by_hash.prepared);
	} else {
		for (int64_t id = 1; id < n->nr && room; id++)
			if (goes_with(n, id, from, to) && (room = ARRAY_GROW(*ids)))
				ids->at[ids->nr++] = id;
	}
	if (!room)
		store_fail(c->s, ENOMEM, "out of memory");
	return !c->s->error;
}

/*
 * Returns whether deleting texts in the order of their hashes changes fewer pages than in the order of their numbers. A text is on a page
 * of its table and on a page of the index by hash. Texts of an epoch are neighbours in the table, but not in the index. If what goes takes
 * fewer bytes than the index, texts are deleted by hash, so that each transaction changes only a part of the index. More texts are deleted
 * by number. bytes: of all rows that go, most of which are texts.
 */
static bool has_fewer_pages_by_hash(struct capping *c, double bytes)
{
	return bytes < HASH_INDEX_BYTES * (double)c->u.names[USAGE_TEXT].nr;
}

static void drop_names(struct capping *c, uint32_t from, uint32_t to)
{
	bool is_by_hash = has_fewer_pages_by_hash(c, bytes_of_steps(&c->u, from, to));
	static struct statement drop[NR_USAGE_TABLES] = {
		[USAGE_PLACE] = STATEMENT("DELETE FROM place WHERE id = ?"),
		[USAGE_SERIES] = STATEMENT("DELETE FROM series WHERE id = ?"),
		[USAGE_FUNCTION] = STATEMENT("DELETE FROM function WHERE id = ?"),
		[USAGE_COMPONENT] = STATEMENT("DELETE FROM component WHERE id = ?"),
		[USAGE_PROCESS] = STATEMENT("DELETE FROM process WHERE id = ?"),
		[USAGE_QUERY] = STATEMENT("DELETE FROM query WHERE id = ?"),
		[USAGE_TEXT] = STATEMENT("DELETE FROM text WHERE id = ?"),
	};
	struct ids ids = { 0 };

	/* the tables are in such an order that a row is deleted before the rows that it refers to */
	for (int table = 0; table < NR_USAGE_TABLES && find_names(c, table, from, to, is_by_hash, &ids); table++) {
		c->p.most = c->most[table] ? c->most[table] : PIECES_FIRST;
		for (uint32_t i = 0; i < ids.nr && pieces_next(&c->p); i++)
			store_run(c->s, &drop[table], "i", ids.at[i]);
		pieces_end(&c->p);
		c->most[table] = c->p.most;
	}
	free(ids.at);
}

/* Bounds the table `folded`, which has the numbers of epochs that were removed or became part of an hour or a day. */
static void forget_oldest(struct capping *c)
{
	static struct statement oldest = STATEMENT("DELETE FROM folded WHERE (recording, number) IN (SELECT recording, number FROM folded "
						   "ORDER BY recording, number LIMIT ?)");
	int64_t most = (int64_t)REMEMBERED(store_cap(c->s)), nr = store_ask_number(c->s, "SELECT count(*) FROM folded");

	most = most < REMEMBERED_LEAST ? REMEMBERED_LEAST : most;
	if (nr > most && pieces_next(&c->p))
		store_run(c->s, &oldest, "i", nr - most);
	pieces_end(&c->p);
}

/* --------------------------------------------------------------------------------------------------------------- cap */

static void take_steps(struct capping *c, uint32_t to)
{
	uint32_t from = c->step + 1;

	while (c->step < to && !c->s->error && !c->p.is_blocked)
		take_step(c, ++c->step);
	if (pieces_end(&c->p))
		drop_names(c, from, c->step);
}

static uint64_t bytes_above(uint64_t bytes, uint64_t limit)
{
	return bytes > limit ? bytes - limit : 0;
}

static void make_room(struct capping *c, uint64_t cap, uint64_t target)
{
	uint64_t above = bytes_above(store_size(c->s), cap);

	pieces_init(&c->p, c->s, pieces_log_most(cap, above));
	if (pieces_next(&c->p))
		usage_add_plain_series(c->s);
	if (!pieces_end(&c->p) || !plan(c, (double)target))
		return;
	drop_names(c, 0, 0);
	forget_oldest(c);
	while (!c->s->error && !c->p.is_blocked && c->step < c->u.nr_steps) {
		uint64_t size = store_size(c->s);
		double excess = (double)bytes_above(size, target) * PART;

		if (size <= target)
			break;
		above = bytes_above(size, cap);
		c->p.log_most = pieces_log_most(cap, above);
		take_steps(c, step_that_frees(c, c->step, above || excess < (double)BATCH(cap) ? excess : (double)BATCH(cap)));
	}
}

/* Gives free pages back to the file system if they are many, or if the file is larger than the target.  Other free pages stay for the
 * next epochs. */
static void shrink_file(struct capping *c, uint64_t cap, uint64_t target)
{
	uint64_t file = store_file_bytes(c->s), size = store_size(c->s);

	if (c->p.is_blocked)
		return;
	pieces_init(&c->p, c->s, pieces_log_most(cap, bytes_above(file, cap)));
	if (file - size > file / SLACK)
		pieces_shrink_file(&c->p, size + file / SLACK / 2 < target ? size + file / SLACK / 2 : target);
	else if (file > target)
		pieces_shrink_file(&c->p, target);
}

int cap_keep(struct store *s, uint64_t room_bytes, struct cap_work *work, struct diag *d)
{
	struct capping c = { .s = s };
	uint64_t cap = store_cap(s), target = EMPTIED(cap), limit = NEARLY_FULL(cap);

	if (room_bytes) {
		limit = bytes_above(cap, room_bytes);
		target = limit < target ? limit : target;
	}
	if (store_size(s) > limit)
		make_room(&c, cap, target);
	shrink_file(&c, cap, limit);
	usage_fini(&c.u);
	c.work.bytes = (double)store_size(s);
	if (work)
		*work = c.work;
	return store_failed(s, d);
}

/* Simulates make_room(), with estimates in place of measured sizes. */
static void foresee(struct capping *c, double target)
{
	double bytes = (double)store_size(c->s);
	uint32_t last;

	bytes -= c->u.bytes[0] * c->scale;
	last = step_that_frees(c, 0, bytes - target);
	for (uint32_t step = 1; step <= last; step++) {
		const struct usage_epoch *e = &c->u.epochs.at[step <= c->u.nr_stripped ? step - 1 : step - 1 - c->u.nr_stripped];

		bytes -= c->u.bytes[step] * c->scale;
		if (step > c->u.nr_stripped) {
			c->work.went++;
			c->work.went_end_ns = e->end_ns;
		} else if (e->has_functions) {
			c->work.stripped++;
			c->work.stripped_end_ns = e->end_ns;
		}
	}
	c->work.bytes = bytes;
}

int cap_foresee(struct store *s, uint64_t cap, struct cap_work *work, struct diag *d)
{
	struct capping c = { .s = s };
	double target;

	cap = cap ? cap : store_cap(s);
	target = (double)EMPTIED(cap);
	c.work.bytes = (double)store_size(s);
	if (c.work.bytes > (double)NEARLY_FULL(cap) && plan(&c, target))
		foresee(&c, target);
	usage_fini(&c.u);
	*work = c.work;
	return store_failed(s, d);
}
