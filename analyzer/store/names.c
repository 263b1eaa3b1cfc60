/* SPDX-License-Identifier: MIT */
#include "analyzer/store/names.h"

#include "analyzer/model/host_levels.h"
#include "analyzer/query/report.h"
#include "analyzer/store/cap.h"
#include "analyzer/store/pieces.h"
#include "analyzer/store/room.h"
#include "jitreg/base/deleted_path.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/engines/sql_identity.h"

#include <stdlib.h>
#include <string.h>

#define JOIN_STEPS 16 /* steps of the budget for a component that names_join_components() reads */

static int64_t last_added(struct store *s)
{
	return s->error ? 0 : sqlite3_last_insert_rowid(s->db);
}

static int64_t find_text(struct store *s, int64_t hash, const char *text)
{
	static struct statement select = STATEMENT("SELECT id FROM text WHERE hash = ? AND s = ?");

	return store_run(s, &select, "it", hash, text) ? store_take_number(&select) : 0;
}

/* Returns whether the store has this text. Returns false for a text that would be cut, since another one may become the same. */
static bool has_text(struct store *s, const char *text)
{
	return strlen(text) <= NAMES_TEXT_MAX && find_text(s, (int64_t)hash_text(text), text) != 0;
}

int64_t names_text(struct store *s, const char *text)
{
	static struct statement insert = STATEMENT("INSERT INTO text(hash, s) VALUES(?, ?)");
	char *cut = NULL;
	int64_t id, hash;

	if (!text || !*text)
		return 0;
	if (strlen(text) > NAMES_TEXT_MAX && (cut = strndup(text, NAMES_TEXT_MAX)))
		text = cut;
	hash = (int64_t)hash_text(text);
	id = find_text(s, hash, text);
	if (!id && !s->error) {
		store_run(s, &insert, "it", hash, text);
		id = last_added(s);
	}
	free(cut);
	return id;
}

/* Each table of the dictionary except `text` has these two statements, for find_or_add(). All columns of the table are numbers, mostly of
 * rows in other tables, and no two rows have the same values in all of them. */
struct id_table {
	struct statement select, insert;
};
#define TABLE(name, columns, values, conditions) \
	{ STATEMENT("SELECT id FROM " name " WHERE " conditions), STATEMENT("INSERT INTO " name "(" columns ") VALUES(" values ")") }

static int64_t find_or_add(struct store *s, struct id_table *t, const int64_t *value, int nr)
{
	if (store_run_numbers(s, &t->select, value, nr))
		return store_take_number(&t->select);
	store_run_numbers(s, &t->insert, value, nr);
	return last_added(s);
}
#define FIND_OR_ADD(s, t, ...) \
	find_or_add(s, t, (const int64_t[]){ __VA_ARGS__ }, (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)))

int64_t names_process(struct store *s, const char *name, const char *executable, const char *service)
{
	static struct id_table t = TABLE("process", "name, executable, service", "?, ?, ?", "name = ? AND executable = ? AND service = ?");
	int64_t of_name = names_text(s, name), of_executable = names_text(s, executable), of_service = names_text(s, service);

	return FIND_OR_ADD(s, &t, of_name, of_executable, of_service);
}

int64_t names_event(struct store *s, const char *name, const char *unit)
{
	static struct id_table t = TABLE("event", "name, unit", "?, ?", "name = ? AND unit = ?");
	int64_t of_name = names_text(s, name), of_unit = names_text(s, unit);

	return FIND_OR_ADD(s, &t, of_name, of_unit);
}

int64_t names_query(struct store *s, const char *text)
{
	static struct id_table t = TABLE("query", "text", "?", "text = ?");
	int64_t of_text = names_text(s, text);

	return of_text ? FIND_OR_ADD(s, &t, of_text) : 0;
}

int64_t names_component(struct store *s, const struct component_name *c)
{
	static struct id_table t = TABLE("component", "level, name, place, detail, query, label", "?, ?, ?, ?, ?, ?",
				      "level = ? AND name = ? AND place = ? AND detail = ? AND query = ? AND label = ?");
	int64_t level = names_text(s, c->level), name = names_text(s, c->name), place = names_text(s, c->place);
	int64_t detail = names_text(s, c->detail), label = names_text(s, c->label);

	return FIND_OR_ADD(s, &t, level, name, place, detail, c->query, label);
}

int64_t names_function(struct store *s, const char *name, const char *image, bool jit)
{
	static struct id_table t = TABLE("function", "name, image, jit", "?, ?, ?", "name = ? AND image = ? AND jit = ?");
	int64_t of_name = names_text(s, name), of_image = names_text(s, image);

	return FIND_OR_ADD(s, &t, of_name, of_image, jit);
}

int64_t names_series(struct store *s, int64_t process, int64_t component, int64_t event)
{
	static struct id_table t = TABLE("series", "process, component, event", "?, ?, ?", "process = ? AND component = ? AND event = ?");

	return FIND_OR_ADD(s, &t, process, component, event);
}

int64_t names_place(struct store *s, int64_t series, int64_t function)
{
	static struct id_table t = TABLE("place", "series, function", "?, ?", "series = ? AND function = ?");

	return FIND_OR_ADD(s, &t, series, function);
}

/* --------------------------------------------------------------------------------------------- functions of several paths */

const char *names_image(const char *path, size_t *bytes)
{
	size_t end = deleted_path_bytes(path, strlen(path)), begin = end;

	while (begin && path[begin - 1] != '/')
		begin--;
	*bytes = end - begin;
	return path + begin;
}

static const char *text_of_column(const struct statement *q, int i)
{
	const char *text = (const char *)sqlite3_column_text(q->prepared, i);

	return text ? text : "";
}

/* Counts a path of a joined function once, although epochs may have it with and without a label. */
static bool count_path(struct hash_map *counted, struct joined_function *to, uint32_t first, uint64_t path)
{
	if (hash_map_find(counted, first, path))
		return true;
	to->paths++;
	return hash_map_set(counted, first, path, 1);
}

/* Lets a function with a label stand for those of its row, since its text is what people are shown.  labelled: its number, by that of the
 * row's first function. */
static void prefer_labels(struct joined_function *function, int64_t nr, const struct hash_map *labelled)
{
	for (int64_t id = 1; labelled->nr && id < nr; id++) {
		const uint32_t first = function[id].first, of = first ? hash_map_find(labelled, first, 0) : 0;

		if (!of || of == first)
			continue;
		function[of].paths = function[first].paths > function[of].paths ? function[first].paths : function[of].paths;
		function[id].first = of;
	}
}

bool names_join_functions(struct store *s, struct joined_function *function, int64_t nr)
{
	static struct statement all = STATEMENT("SELECT f.id, n.s, f.jit, i.s, f.image FROM function f LEFT JOIN text n ON n.id = f.name "
						"LEFT JOIN text i ON i.id = f.image ORDER BY f.id");
	struct hash_map first_of = { 0 }, counted = { 0 }, labelled = { 0 };
	bool ok = true;

	for (bool more = store_run(s, &all, ""); more; more = store_next(s, &all)) {
		int64_t id = sqlite3_column_int64(all.prepared, 0);
		const char *label = text_of_column(&all, 1), *in;
		const bool jit = sqlite3_column_int(all.prepared, 2);
		const size_t bytes = jit ? strlen(label) : function_label_name_bytes(label); /* JITs give names of any form */
		uint64_t name, image;
		uint32_t first;
		size_t in_bytes;

		if (id <= 0 || id >= nr)
			continue;
		in = names_image(text_of_column(&all, 3), &in_bytes);
		image = hash_bytes(in, in_bytes) << 1 | jit;
		name = hash_bytes(label, bytes);
		first = hash_map_find(&first_of, name, image);
		if (!first) {
			first = (uint32_t)id;
			ok &= hash_map_set(&first_of, name, image, first);
		}
		function[id].first = first;
		ok &= count_path(&counted, &function[first], first, (uint64_t)sqlite3_column_int64(all.prepared, 4));
		if (label[bytes])
			ok &= hash_map_set(&labelled, first, 0, (uint32_t)id);
	}
	prefer_labels(function, nr, &labelled);
	hash_map_fini(&first_of);
	hash_map_fini(&counted);
	hash_map_fini(&labelled);
	return ok;
}

/* ------------------------------------------------------------------------------------------------------- identities */

char *names_identity(const char *text)
{
	char *identity = strdup(text ? text : "");

	if (identity)
		sql_text_identity(identity, strlen(identity));
	return identity;
}

bool names_is_language_level(const char *level)
{
	return level && strcmp(level, host_level_names[HOST_LEVEL_FUNCTION]) == 0;
}

char *names_detail(const char *level, const char *detail)
{
	return names_is_language_level(level) ? strdup(detail ? detail : "") : names_identity(detail);
}

/* Returns the hash of a text on the heap, which is freed. */
static uint64_t hash_and_free(char *text, bool *ok)
{
	uint64_t hash = text ? hash_text(text) : 0;

	*ok &= text != NULL;
	free(text);
	return hash;
}

/* Returns the number behind the last '#' of a label, which tells components of one name apart, or 0. */
static uint64_t number_of_label(const char *label)
{
	const char *mark = strrchr(label, '#');

	return mark ? strtoul(mark + 1, NULL, 10) : 0;
}

bool names_join_components(struct store *s, uint32_t *first, int64_t nr)
{
	static struct statement all = STATEMENT(
		"SELECT c.id, c.level, c.name, c.place, d.s, t.s, b.s, l.s FROM component c LEFT JOIN text d ON d.id = c.detail LEFT JOIN "
		"query q ON q.id = c.query LEFT JOIN text t ON t.id = q.text LEFT JOIN text b ON b.id = c.label LEFT JOIN text l ON "
		"l.id = c.level ORDER BY c.id");
	struct hash_map first_of = { 0 };
	bool ok = true;

	for (bool more = store_run(s, &all, ""); more && store_spend(s, JOIN_STEPS); more = store_next(s, &all)) {
		int64_t id = sqlite3_column_int64(all.prepared, 0), name = sqlite3_column_int64(all.prepared, 2);
		uint64_t of, as;

		/* a component without a name stands for samples of a query that are in no node */
		if (id <= 0 || id >= nr || !name)
			continue;
		of = hash_pair(hash_pair((uint64_t)sqlite3_column_int64(all.prepared, 1), (uint64_t)name),
			       number_of_label(text_of_column(&all, 6)));
		as = hash_pair((uint64_t)sqlite3_column_int64(all.prepared, 3),
			       hash_and_free(names_detail(text_of_column(&all, 7), text_of_column(&all, 4)), &ok));
		as = hash_pair(as, hash_and_free(names_identity(text_of_column(&all, 5)), &ok));
		first[id] = hash_map_find(&first_of, of, as);
		if (!first[id]) {
			first[id] = (uint32_t)id;
			ok &= hash_map_set(&first_of, of, as, first[id]);
		}
	}
	hash_map_fini(&first_of);
	return ok;
}

/* --------------------------------------------------------------------------------------------------------------- room */

/* The macros below are estimates of bytes in the file. TEXT_BYTES is for a text in addition to its characters, and ROW_BYTES is for a row
 * of a block. */
#define TEXT_BYTES 40
#define FUNCTION_BYTES 90 /* a function, with a row of table `place` for its samples and one for code loads */
#define COMPONENT_BYTES 90 /* a component, with a row of table `series` */
#define ROW_BYTES 5
#define TEXT_LOG_BYTES (3ull * STORE_PAGE_BYTES)
#define EPOCH_BYTES (24 * STORE_PAGE_BYTES) /* last pages of tables and indexes, in the file and in the log */

bool room_add(struct room *r, const char *text)
{
	char *copy;

	if (!text || !*text)
		return true;
	copy = strdup(text);
	if (!copy || !ARRAY_GROW(*r)) {
		free(copy);
		return false;
	}
	r->at[r->nr++] = (struct room_text){ copy, (int64_t)hash_text(copy), 0 };
	return true;
}

bool room_add_component(struct room *r, const char *name)
{
	uint32_t nr = r->nr;

	if (!room_add(r, name))
		return false;
	if (r->nr > nr)
		r->at[nr].nr_components = 1;
	return true;
}

static int compare_texts(const void *a, const void *b)
{
	const struct room_text *x = a, *y = b;

	return x->hash != y->hash ? (x->hash < y->hash ? -1 : 1) : strcmp(x->text, y->text);
}

/* Keeps only the texts that the store does not have, each once, sorted by hash.  Returns an estimate of the bytes that they will take, and
 * sets *row_bytes to that of the bytes of rows for what has these names. */
static uint64_t keep_new_texts(struct room *r, struct store *s, uint64_t *row_bytes)
{
	uint64_t bytes = 0;
	uint32_t nr = 0;

	*row_bytes = 0;
	if (r->nr)
		qsort(r->at, r->nr, sizeof(*r->at), compare_texts);
	for (uint32_t i = 0; i < r->nr; i++) {
		struct room_text *t = &r->at[i];

		if ((nr && compare_texts(t, &r->at[nr - 1]) == 0)) {
			*row_bytes += t->nr_components * COMPONENT_BYTES;
			free(t->text);
			continue;
		}
		if (has_text(s, t->text)) {
			free(t->text);
			continue;
		}
		bytes += strlen(t->text) + TEXT_BYTES;
		*row_bytes += FUNCTION_BYTES + t->nr_components * COMPONENT_BYTES;
		r->at[nr++] = *t;
	}
	r->nr = nr;
	return bytes;
}

int room_make(struct room *r, struct store *s, uint32_t nr_rows, bool *with_functions, struct diag *d)
{
	uint64_t row_bytes, bytes, cap = store_cap(s), text_bytes = keep_new_texts(r, s, &row_bytes);
	uint64_t log_most = 2 * pieces_log_most(cap, 0);
	struct pieces p;
	int ret;

	/* Texts are written in many small transactions, which may take up to twice the limit of SQLite's log.  Rows are written in one
	 * transaction, so they take room in the log and in the file at the same time. */
	log_most = r->nr * TEXT_LOG_BYTES < log_most ? r->nr * TEXT_LOG_BYTES : log_most;
	row_bytes += (uint64_t)nr_rows * ROW_BYTES;
	bytes = text_bytes + (2 * row_bytes > log_most ? 2 * row_bytes : log_most) + EPOCH_BYTES + cap / 64;
	*with_functions = bytes <= cap / 2;
	ret = cap_keep(s, *with_functions ? bytes : log_most + EPOCH_BYTES, NULL, d);
	if (ret || !*with_functions)
		return ret;
	pieces_init(&p, s, pieces_log_most(cap, 0));
	for (uint32_t i = 0; i < r->nr && pieces_next(&p); i++)
		names_text(s, r->at[i].text);
	pieces_end(&p); /* if a reader blocked the log, the remaining texts are added with the epoch */
	return store_failed(s, d);
}

void room_fini(struct room *r)
{
	for (uint32_t i = 0; i < r->nr; i++)
		free(r->at[i].text);
	free(r->at);
	memset(r, 0, sizeof(*r));
}
