/* SPDX-License-Identifier: MIT */
#include "analyzer/store/sums.h"

#include "analyzer/store/block.h"
#include "analyzer/store/epochs.h"
#include "analyzer/store/fold.h"
#include "analyzer/store/names.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/base/suggest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ID_MAX (1ll << 27) /* limit for the numbers of rows, since arrays are indexed by them */
#define EPOCH_STEPS 16	   /* steps of the budget for an epoch, in addition to SQLite's own, since a table may have a row per epoch */
#define NAMES_STEPS 8
#define TEXT_STEP_BYTES 16

/* The arrays have the part of the dictionary that rows refer to, by number. */
struct rows {
	struct series {
		uint32_t process, component, event, query, service;
		bool wanted;
	} *series;
	struct place {
		uint32_t series, function;
	} *place;
	struct joined_function *function;
	uint32_t *component; /* number of the first component that is the same node of a plan, or 0 (names_join_components()) */
	int64_t nr_series, nr_places, nr_functions, nr_components;
};

struct summing {
	struct store *store;
	const struct sums_question *question;
	struct sums *to;
	struct rows rows;
	struct hash_map line_of; /* (id, 1 + service) -> 1 + index of the line */
	/* weights of one epoch, by series: exact ones, and sums of the approximate ones of its places */
	double *series_weight, *series_places;
	int64_t event;
};

static uint32_t column(const struct statement *q, int i)
{
	int64_t n = sqlite3_column_int64(q->prepared, i);

	return n > 0 && n < ID_MAX ? (uint32_t)n : 0;
}

/* ------------------------------------------------------------------------------------------------------- which rows */

/* Allocates an array by number, for *nr numbers. largest: a statement that returns the largest number.  Returns NULL if the number or
 * the array is too large, or if memory ran out. */
static void *allocate_by_number(struct store *s, const char *largest, size_t each, int64_t *nr)
{
	int64_t most = store_ask_number(s, largest);

	*nr = most >= 0 && most < ID_MAX ? most + 1 : 0;
	return *nr && store_has_room(s, (uint64_t)*nr * each) ? calloc((size_t)*nr, each) : NULL;
}

static bool read_series(struct summing *x)
{
	static struct statement all = STATEMENT("SELECT s.id, s.process, s.component, s.event, ifnull(c.query, 0), ifnull(p.service, 0) "
						"FROM series s LEFT JOIN component c ON c.id = s.component LEFT JOIN process p ON "
						"p.id = s.process");
	struct rows *r = &x->rows;

	r->series = allocate_by_number(x->store, "SELECT max(id) FROM series", sizeof(*r->series), &r->nr_series);
	for (bool more = store_run(x->store, &all, ""); more; more = store_next(x->store, &all))
		if (column(&all, 0) < r->nr_series)
			r->series[column(&all, 0)] = (struct series){ column(&all, 1), column(&all, 2), column(&all, 3),
								      column(&all, 4), column(&all, 5), true };
	return r->series;
}

static bool read_components(struct summing *x)
{
	struct rows *r = &x->rows;

	r->component = allocate_by_number(x->store, "SELECT max(id) FROM component", sizeof(*r->component), &r->nr_components);
	return r->component && names_join_components(x->store, r->component, r->nr_components);
}

static bool read_functions(struct summing *x)
{
	struct rows *r = &x->rows;

	r->function = allocate_by_number(x->store, "SELECT max(id) FROM function", sizeof(*r->function), &r->nr_functions);
	return r->function && names_join_functions(x->store, r->function, r->nr_functions);
}

static bool read_places(struct summing *x)
{
	static struct statement all = STATEMENT("SELECT id, series, function FROM place");
	struct rows *r = &x->rows;

	r->place = allocate_by_number(x->store, "SELECT max(id) FROM place", sizeof(*r->place), &r->nr_places);
	for (bool more = store_run(x->store, &all, ""); more; more = store_next(x->store, &all))
		if (column(&all, 0) < r->nr_places && column(&all, 1) < r->nr_series)
			r->place[column(&all, 0)] = (struct place){
				column(&all, 1), column(&all, 2) < r->nr_functions ? r->function[column(&all, 2)].first : 0
			};
	return r->place;
}

/* Clears `wanted` of all series whose member at offset `part` is none of the numbers that the statement returns.  Returns how many
 * numbers there were. If there were none, nothing is cleared. */
static int keep_wanted(struct summing *x, struct statement *q, const char *text, size_t part)
{
	struct hash_map wanted = { 0 };
	int nr = 0;

	for (bool more = store_run(x->store, q, "t", text); more; more = store_next(x->store, q), nr++)
		if (!hash_map_set(&wanted, column(q, 0), 0, 1))
			store_fail(x->store, ENOMEM, "out of memory");
	for (int64_t i = 0; nr && i < x->rows.nr_series; i++)
		x->rows.series[i].wanted &= hash_map_find(&wanted, *(uint32_t *)((char *)&x->rows.series[i] + part), 0) != 0;
	hash_map_fini(&wanted);
	return nr;
}

#define SUGGESTED_MAX 4096 /* names among which a near one is looked for */

/* Writes a clause with the names that the statement returns, as suggest() does. */
static const char *suggest_of_store(struct summing *x, struct statement *names, const char *wanted, char *text, size_t bytes)
{
	char **name = calloc(SUGGESTED_MAX, sizeof(*name));
	uint32_t nr = 0;

	for (bool more = name && store_run(x->store, names, ""); more; more = store_next(x->store, names))
		if (nr < SUGGESTED_MAX)
			name[nr++] = strdup(store_printable((const char *)sqlite3_column_text(names->prepared, 0)));
	suggest(wanted, (const char *const *)name, nr, text, bytes);
	for (uint32_t i = 0; i < nr; i++)
		free(name[i]);
	free(name);
	return text;
}

/* Clears `wanted` of series without the names that the question asks for.  A process without that name is known by a program's name
 * without the version: python3 is python3.11. Returns 0, or -errno with the reason in d. */
static int filter_series(struct summing *x, struct diag *d)
{
	static struct statement processes = STATEMENT("SELECT p.id FROM process p, text t WHERE t.id IN (p.name, p.executable) AND "
						      "t.s = ?1"),
				versions = STATEMENT("SELECT p.id FROM process p JOIN text t ON t.id = p.name WHERE substr(t.s, 1, "
						     "length(?1)) = ?1 AND ltrim(substr(t.s, length(?1) + 1), '0123456789.') = ''"),
				process_names = STATEMENT("SELECT DISTINCT t.s FROM process p JOIN text t ON t.id = p.name"),
				service_names = STATEMENT("SELECT DISTINCT t.s FROM process p JOIN text t ON t.id = p.service"),
				query_names = STATEMENT("SELECT DISTINCT t.s FROM query q JOIN text t ON t.id = q.text"),
				component_names = STATEMENT("SELECT DISTINCT t.s FROM component c JOIN text t ON t.id = c.name"),
				services = STATEMENT("SELECT t.id FROM text t WHERE t.s = ?1"),
				queries = STATEMENT("SELECT q.id FROM query q, text t WHERE t.id = q.text AND instr(t.s, ?1) > 0"),
				components = STATEMENT(
					"SELECT c.id FROM component c JOIN text n ON n.id = c.name LEFT JOIN text b ON b.id = c.label LEFT "
					"JOIN text l ON l.id = c.level LEFT JOIN text d ON d.id = c.detail WHERE ?1 IN (n.s, b.s, l.s || "
					"':' || n.s, l.s || ':' || b.s, n.s || ' (' || d.s || ')', l.s || ':' || n.s || ' (' || d.s || "
					"')')");
	const struct {
		const char *what, *text, *view;
		struct statement *q, *other, *names;
		size_t part;
	} filters[] = { { "process", x->question->process, "processes", &processes, &versions, &process_names,
			  offsetof(struct series, process) },
			{ "service", x->question->service, "services", &services, NULL, &service_names, offsetof(struct series, service) },
			{ "query", x->question->query, "queries", &queries, NULL, &query_names, offsetof(struct series, query) },
			{ "component", x->question->component, "components", &components, NULL, &component_names,
			  offsetof(struct series, component) } };
	char near[512];

	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		if (filters[i].text && !keep_wanted(x, filters[i].q, filters[i].text, filters[i].part) &&
		    !(filters[i].other && keep_wanted(x, filters[i].other, filters[i].text, filters[i].part)) && !x->store->error)
			return diag_fail(d, EINVAL, "%s: no %s is called '%.80s'%s (tailor db report --view %s lists them)", x->store->path,
					 filters[i].what, filters[i].text,
					 suggest_of_store(x, filters[i].names, filters[i].text, near, sizeof(near)), filters[i].view);
	return 0;
}

static int choose_event(struct summing *x, struct diag *d)
{
	static struct statement named = STATEMENT(
					"SELECT e.id, t.s, u.s FROM event e JOIN text t ON t.id = e.name LEFT JOIN text u ON u.id = "
					"e.unit WHERE t.s = ?"),
				/* waits and code loads are chosen if asked for, or if there is no other */
		first = STATEMENT("SELECT e.id, t.s, u.s FROM event e JOIN text t ON t.id = e.name LEFT JOIN text u ON u.id = "
				  "e.unit ORDER BY t.s IN ('context-switches', 'preempted', '" FOLD_LOADS "'), e.id LIMIT 1");
	const char *wanted = x->question->event;
	struct statement *q = wanted ? &named : &first;

	if (!(wanted ? store_run(x->store, q, "t", wanted) : store_run(x->store, q, "")))
		return store_failed(x->store, d) ? -x->store->error :
		       wanted			 ? diag_fail(d, EINVAL, "%s: it has no event '%s'", x->store->path, wanted) :
						   0;
	x->event = column(q, 0);
	x->to->event = strdup((const char *)sqlite3_column_text(q->prepared, 1));
	x->to->unit = strdup(sqlite3_column_text(q->prepared, 2) ? (const char *)sqlite3_column_text(q->prepared, 2) : "");
	sqlite3_reset(q->prepared);
	return x->to->event && x->to->unit ? 0 : diag_fail(d, ENOMEM, "out of memory");
}

/* Reads the epochs of the window.  An epoch belongs to the window in which its middle lies, so that windows without overlap share none. */
static bool read_epochs(struct summing *x)
{
	static struct statement some =
		STATEMENT("SELECT id, begin_ns, end_ns, recording, number, tier, parts, cpus, samples, effective, lost, "
			  "EXISTS(SELECT 1 FROM block WHERE epoch = id AND part = 1) FROM epoch WHERE "
			  "(begin_ns / 2 + end_ns / 2) >= ?1 AND (begin_ns / 2 + end_ns / 2) < ?2 AND (?3 = '' OR "
			  "host IN (SELECT id FROM text WHERE s = ?3)) ORDER BY begin_ns, id");
	const struct window *w = &x->question->window;
	struct sums *to = x->to;

	for (bool more = store_run(x->store, &some, "iit", w->from_ns, w->to_ns, x->question->host ? x->question->host : ""); more;
	     more = store_next(x->store, &some)) {
		sqlite3_stmt *p = some.prepared;
		double samples = sqlite3_column_double(p, 8), effective = sqlite3_column_double(p, 9);
		int64_t begin_ns = epochs_date(sqlite3_column_int64(p, 1)), end_ns = sqlite3_column_int64(p, 2);

		if (!store_spend(x->store, EPOCH_STEPS) || !ARRAY_GROW(to->epochs))
			return false;
		to->epochs.at[to->epochs.nr++] = (struct sums_epoch){
			.id = sqlite3_column_int64(p, 0),
			.begin_ns = begin_ns,
			.end_ns = epochs_end(begin_ns, end_ns),
			.recording = sqlite3_column_int64(p, 3),
			.number = column(&some, 4),
			.tier = column(&some, 5),
			.parts = column(&some, 6),
			.cpus = column(&some, 7),
			.samples = samples,
			.effective = effective < samples ? effective : samples,
			.lost = (uint64_t)sqlite3_column_int64(p, 10),
			.has_functions = sqlite3_column_int(p, 11)
		};
		to->nr_without_functions += !to->epochs.at[to->epochs.nr - 1].has_functions;
	}
	return true;
}

/* If the window has more than half of all epochs, the kernel is asked to read the whole file. */
static void prepare_reading(struct summing *x)
{
	/* count(*) would be one instruction, during which the budget is not checked */
	if (2 * (int64_t)x->to->epochs.nr > store_ask_number(x->store, "SELECT count(id) FROM epoch"))
		store_read_ahead(x->store);
}

/* ------------------------------------------------------------------------------------------------------------- sums */

static struct sums_line *line_of(struct summing *x, uint32_t id, const struct series *s)
{
	const int64_t service = x->question->per_service ? (int64_t)s->service : SUMS_ALL_SERVICES;
	const uint64_t of_service = (uint64_t)(service + 1);
	struct sums *to = x->to;
	uint32_t i = hash_map_find(&x->line_of, id, of_service);
	double *of_epoch = NULL;

	if (i)
		return &to->lines.at[i - 1];
	if (!store_spend(x->store, 1 + to->epochs.nr / 8))
		return NULL;
	if (!x->question->is_total)
		of_epoch = calloc((size_t)to->epochs.nr + 1, sizeof(*of_epoch));
	if ((!of_epoch && !x->question->is_total) || !ARRAY_GROW(to->lines) ||
	    !hash_map_set(&x->line_of, id, of_service, to->lines.nr + 1)) {
		free(of_epoch);
		return NULL;
	}
	to->lines.at[to->lines.nr] = (struct sums_line){ .id = id, .service = service, .of_epoch = of_epoch };
	if (x->question->by == SUMS_FUNCTION && id < x->rows.nr_functions)
		to->lines.at[to->lines.nr].paths = x->rows.function[id].paths;
	return &to->lines.at[to->lines.nr++];
}

static void add(struct summing *x, uint32_t id, const struct series *s, uint32_t epoch, double samples, double weight)
{
	struct sums_line *l = line_of(x, id, s);

	if (!l) {
		store_fail(x->store, ENOMEM, "out of memory");
		return;
	}
	l->samples += samples;
	l->weight += weight;
	if (l->of_epoch)
		l->of_epoch[epoch] += weight;
}

static uint32_t key_of_series(const struct rows *r, const struct series *s, enum sums_by by)
{
	if (by == SUMS_COMPONENT)
		return s->component < r->nr_components ? r->component[s->component] : 0;
	return by == SUMS_QUERY ? s->query : by == SUMS_SERVICE ? s->service : s->process;
}

/* Adds an epoch's places. A place gets its part of its series' exact weight. The weight of a series without places is that of no function,
 * or of SUMS_DROPPED if the epoch has no functions. */
static void add_places(struct summing *x, uint32_t epoch)
{
	struct rows *r = &x->rows;
	struct block b = { 0 };

	if (!block_read(x->store, x->to->epochs.at[epoch].id, BLOCK_PLACES, &b))
		return;
	for (uint32_t i = 0; i < b.nr; i++) {
		const struct block_row *row = block_row(&b, i);

		if (row->id < (uint64_t)r->nr_places)
			x->series_places[r->place[row->id].series] += (double)row->weight;
	}
	for (uint32_t i = 0; i < b.nr; i++) {
		const struct block_row *row = block_row(&b, i);
		const struct place *p = row->id < (uint64_t)r->nr_places ? &r->place[row->id] : NULL;

		if (p && row->weight && x->series_weight[p->series] > 0)
			add(x, p->function, &r->series[p->series], epoch, (double)row->samples,
			    (double)row->weight * x->series_weight[p->series] / x->series_places[p->series]);
	}
	block_fini(&b);
	for (int64_t i = 0; i < r->nr_series; i++)
		if (x->series_weight[i] > 0 && x->series_places[i] <= 0)
			add(x, x->to->epochs.at[epoch].has_functions ? 0 : SUMS_DROPPED, &r->series[i], epoch, 0, x->series_weight[i]);
}

/* Adds the weight of samples whose call stacks have a component, to lines that may have no samples of their own. */
static void add_totals(struct summing *x, uint32_t epoch)
{
	struct rows *r = &x->rows;
	struct block b = { 0 };

	if (!block_read(x->store, x->to->epochs.at[epoch].id, BLOCK_TOTALS, &b))
		return;
	for (uint32_t i = 0; i < b.nr; i++) {
		const struct block_row *row = block_row(&b, i);
		const struct series *s = row->id < (uint64_t)r->nr_series ? &r->series[row->id] : NULL;
		struct sums_line *l;

		if (!s || !s->wanted || s->event != x->event)
			continue;
		l = line_of(x, key_of_series(r, s, SUMS_COMPONENT), s);
		if (!l) {
			store_fail(x->store, ENOMEM, "out of memory");
			break;
		}
		l->total += (double)row->weight;
		x->to->has_totals = true;
	}
	block_fini(&b);
}

static void add_epoch(struct summing *x, uint32_t epoch)
{
	bool functions = x->question->by == SUMS_FUNCTION;
	struct rows *r = &x->rows;
	struct block b = { 0 };

	if (!block_read(x->store, x->to->epochs.at[epoch].id, BLOCK_SERIES, &b))
		return;
	if (functions && store_spend(x->store, (uint64_t)r->nr_series / 2)) {
		memset(x->series_weight, 0, (size_t)r->nr_series * sizeof(*x->series_weight));
		memset(x->series_places, 0, (size_t)r->nr_series * sizeof(*x->series_places));
	}
	for (uint32_t i = 0; i < b.nr; i++) {
		const struct block_row *row = block_row(&b, i);
		const struct series *s = row->id < (uint64_t)r->nr_series ? &r->series[row->id] : NULL;

		if (!s || !s->wanted || s->event != x->event)
			continue;
		x->to->samples += (double)row->samples;
		x->to->weight += (double)row->weight;
		x->to->epochs.at[epoch].weight += (double)row->weight;
		if (functions)
			x->series_weight[row->id] = (double)row->weight;
		else
			add(x, key_of_series(r, s, x->question->by), s, epoch, (double)row->samples, (double)row->weight);
	}
	block_fini(&b);
	if (functions)
		add_places(x, epoch);
	if (x->question->by == SUMS_COMPONENT && x->question->is_total)
		add_totals(x, epoch);
}

/* Epochs without call stacks have no totals, and a node of a plan has none.  Both have at least what is their own. */
static void settle_totals(struct sums *s)
{
	for (uint32_t i = 0; i < s->lines.nr; i++)
		if (s->lines.at[i].total > 0 && s->lines.at[i].total < s->lines.at[i].weight)
			s->lines.at[i].total = s->lines.at[i].weight;
}

static int compare_lines(const void *a, const void *b)
{
	const struct sums_line *x = a, *y = b;

	if (x->weight < y->weight || x->weight > y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->total < y->total || x->total > y->total)
		return x->total > y->total ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->service < y->service ? -1 : x->service > y->service;
}

int sums_make(struct store *s, const struct sums_question *q, struct sums *out, struct diag *d)
{
	struct summing x = { .store = s, .question = q, .to = out };
	bool functions = q->by == SUMS_FUNCTION, room;
	int ret;

	memset(out, 0, sizeof(*out));
	store_begin_question(s);
	out->by = q->by;
	store_execute(s, "BEGIN"); /* all statements read one state of the store */
	went_read(s, &out->went);
	lacking_read(s, q->window.from_ns, q->window.to_ns, &out->lacking);
	if (out->went.end_ns <= q->window.from_ns || out->went.begin_ns >= q->window.to_ns)
		out->went.epochs = 0;
	ret = choose_event(&x, d);
	if (ret == 0) {
		room = read_series(&x) && (q->by != SUMS_COMPONENT || read_components(&x)) &&
		       (!functions || (read_functions(&x) && read_places(&x))) && read_epochs(&x);
		x.series_weight = calloc((size_t)x.rows.nr_series + 1, sizeof(double));
		x.series_places = calloc((size_t)x.rows.nr_series + 1, sizeof(double));
		if (!room || !x.series_weight || !x.series_places)
			store_fail(s, ENOMEM, "out of memory");
		else
			ret = filter_series(&x, d);
		prepare_reading(&x);
	}
	for (uint32_t i = 0; i < out->epochs.nr && ret == 0 && !s->error; i++) {
		add_epoch(&x, i);
		out->lost += out->epochs.at[i].lost;
	}
	store_execute(s, "COMMIT");
	if (ret == 0)
		ret = store_failed(s, d);
	settle_totals(out);
	if (out->lines.nr)
		qsort(out->lines.at, out->lines.nr, sizeof(*out->lines.at), compare_lines);
	free(x.rows.series);
	free(x.rows.place);
	free(x.rows.function);
	free(x.rows.component);
	free(x.series_weight);
	free(x.series_places);
	hash_map_fini(&x.line_of);
	if (ret)
		sums_fini(out);
	return ret;
}

void sums_fini(struct sums *s)
{
	for (uint32_t i = 0; i < s->lines.nr; i++)
		free(s->lines.at[i].of_epoch);
	free(s->lines.at);
	free(s->epochs.at);
	free(s->event);
	free(s->unit);
	memset(s, 0, sizeof(*s));
}

/* ------------------------------------------------------------------------------------------------------------ names */

/* The statements return the names of a line.  Their columns are name, label, level, place, detail, query and jit. */
static struct statement names_of[] = {
	[SUMS_COMPONENT] =
		STATEMENT("SELECT n.s, b.s, l.s, p.s, e.s, t.s, 0 FROM component c LEFT JOIN text n ON n.id = c.name LEFT JOIN text b "
			  "ON b.id = c.label LEFT JOIN text l ON l.id = c.level LEFT JOIN text p ON p.id = c.place LEFT JOIN text e "
			  "ON e.id = c.detail LEFT JOIN query q ON q.id = c.query LEFT JOIN text t ON t.id = q.text WHERE c.id = ?"),
	[SUMS_FUNCTION] =
		STATEMENT("SELECT n.s, n.s, 'function', i.s, '', '', f.jit FROM function f LEFT JOIN text n ON n.id = f.name LEFT JOIN "
			  "text i ON i.id = f.image WHERE f.id = ?"),
	[SUMS_QUERY] = STATEMENT("SELECT t.s, t.s, 'query', '', '', t.s, 0 FROM query q LEFT JOIN text t ON t.id = q.text WHERE q.id = ?"),
	[SUMS_PROCESS] =
		STATEMENT("SELECT n.s, n.s, 'process', e.s, '', '', 0 FROM process p LEFT JOIN text n ON n.id = p.name LEFT JOIN text e "
			  "ON e.id = p.executable WHERE p.id = ?"),
	[SUMS_SERVICE] = STATEMENT("SELECT s, s, 'service', '', '', '', 0 FROM text WHERE id = ?"),
};

static char *copy_text(struct store *s, sqlite3_stmt *p, int i)
{
	const char *text = p ? (const char *)sqlite3_column_text(p, i) : NULL;
	size_t bytes = text ? strnlen(text, NAMES_TEXT_MAX) : 0;
	char *copy;

	store_spend(s, bytes / TEXT_STEP_BYTES);
	copy = strndup(text ? text : "", bytes);
	if (!copy)
		store_fail(s, ENOMEM, "out of memory");
	return copy;
}

static void name_service(struct store *s, int64_t service, struct sums_names *out)
{
	static struct statement text = STATEMENT("SELECT s FROM text WHERE id = ?");
	sqlite3_stmt *p = service > 0 && store_run(s, &text, "i", service) ? text.prepared : NULL;

	out->service = service == 0 ? strdup("(no service)") : copy_text(s, p, 0);
	if (p)
		sqlite3_reset(p);
}

/* Replaces the path of an image by its name, since the row stands for all paths that the image has. */
static void name_image(struct sums_names *n)
{
	size_t bytes;
	const char *name = names_image(n->place ? n->place : "", &bytes);
	char *place = strndup(name, bytes);

	free(n->place);
	n->place = place;
}

/* Removes literals, which stores of tailor 1.0 have. */
static void reduce_detail(struct sums_names *n)
{
	char *detail = names_detail(n->level, n->detail);

	free(n->detail);
	n->detail = detail;
}

int sums_names(struct store *s, enum sums_by by, const struct sums_line *l, struct sums_names *out, struct diag *d)
{
	static const char *const none[] = { [SUMS_COMPONENT] = "(unattributed)",
					    [SUMS_FUNCTION] = "(no samples)",
					    [SUMS_QUERY] = "(no query)",
					    [SUMS_PROCESS] = "(unknown)",
					    [SUMS_SERVICE] = "(no service)" };
	struct statement *q = &names_of[by];
	sqlite3_stmt *p = store_spend(s, NAMES_STEPS) && l->id && store_run(s, q, "i", l->id) ? q->prepared : NULL;

	*out = (struct sums_names){ copy_text(s, p, 0), copy_text(s, p, 1), copy_text(s, p, 2),		  copy_text(s, p, 3),
				    copy_text(s, p, 4), copy_text(s, p, 5), NULL,		  p && sqlite3_column_int(p, 6) };
	if (!p && !s->error) {
		free(out->name);
		free(out->label);
		out->name = strdup(by == SUMS_FUNCTION && l->id == SUMS_DROPPED ? "(functions dropped)" : none[by]);
		out->label = strdup(out->name ? out->name : "");
	}
	if (p)
		sqlite3_reset(p);
	if (by == SUMS_FUNCTION && l->paths > 1)
		name_image(out);
	if (by == SUMS_COMPONENT)
		reduce_detail(out);
	name_service(s, l->service, out);
	if (!out->service || !out->place || !out->detail)
		store_fail(s, ENOMEM, "out of memory");
	return store_failed(s, d);
}

void sums_names_fini(struct sums_names *n)
{
	free(n->name);
	free(n->label);
	free(n->level);
	free(n->place);
	free(n->detail);
	free(n->query);
	free(n->service);
	memset(n, 0, sizeof(*n));
}

/* ------------------------------------------------------------------------------------------------ one side of a comparison */

static int fill_entry(struct store *s, const struct sums_question *q, struct sums *sums, uint32_t line, struct profile_entry *e,
		      struct diag *d)
{
	struct sums_names n;
	int ret = sums_names(s, q->by, &sums->lines.at[line], &n, d);

	e->number = line;
	e->is_none = !sums->lines.at[line].id;
	e->name = n.name;
	e->label = n.label;
	if (n.service && *n.service) {
		e->group = strdup(n.service);
		if (!e->group || asprintf(&e->label, "%s (%s)", n.label ? n.label : "", n.service) < 0) {
			e->label = NULL;
			ret = diag_fail(d, ENOMEM, "out of memory");
		}
		free(n.label);
	}
	free(n.service);
	e->path = n.place;
	if (q->by == SUMS_COMPONENT && n.query && *n.query) {
		if (asprintf(&e->path, "%s%s%s", n.place, *n.place ? " < " : "", n.query) < 0) {
			e->path = NULL;
			ret = diag_fail(d, ENOMEM, "out of memory");
		}
		free(n.place);
	}
	e->detail = n.detail;
	free(n.level);
	free(n.query);
	e->samples = sums->lines.at[line].samples;
	e->measure = sums->lines.at[line].weight;
	e->run = sums->lines.at[line].of_epoch;
	sums->lines.at[line].of_epoch = NULL;
	return ret;
}

#define LABEL_DETAIL_MAX 120 /* maximum number of bytes of a detail that becomes a part of a label */

bool sums_tell_apart(char **label, const char *const *detail, uint32_t nr)
{
	struct hash_map times = { 0 }; /* hash of a label -> how many have it; the labels are changed, so the hashes are kept */
	uint64_t *hash = calloc((size_t)nr + 1, sizeof(*hash));
	bool ok = hash;

	for (uint32_t i = 0; ok && i < nr; i++) {
		hash[i] = hash_text(label[i]);
		ok = hash_map_set(&times, hash[i], 0, hash_map_find(&times, hash[i], 0) + 1);
	}
	for (uint32_t i = 0; ok && i < nr; i++) {
		char *longer;

		if (hash_map_find(&times, hash[i], 0) < 2 || !*detail[i] || strlen(detail[i]) > LABEL_DETAIL_MAX)
			continue;
		ok = asprintf(&longer, "%s (%s)", label[i], detail[i]) >= 0;
		if (ok) {
			free(label[i]);
			label[i] = longer;
		}
	}
	free(hash);
	hash_map_fini(&times);
	return ok;
}

/* Makes the labels of components of one name differ by their details. */
static bool tell_entries_apart(struct profile *p)
{
	char **label = calloc((size_t)p->entries.nr + 1, sizeof(*label));
	const char **detail = calloc((size_t)p->entries.nr + 1, sizeof(*detail));
	bool ok = label && detail;

	for (uint32_t i = 0; ok && i < p->entries.nr; i++) {
		label[i] = p->entries.at[i].label;
		detail[i] = p->entries.at[i].detail;
	}
	ok = ok && sums_tell_apart(label, detail, p->entries.nr);
	for (uint32_t i = 0; label && detail && i < p->entries.nr; i++)
		p->entries.at[i].label = label[i];
	free(label);
	free(detail);
	return ok;
}

int sums_profile(struct store *s, const struct sums_question *q, const char *called, struct profile *p, struct diag *d)
{
	double samples = 0, effective = 0;
	struct sums sums;
	int ret = sums_make(s, q, &sums, d);

	memset(p, 0, sizeof(*p));
	if (ret == 0 && !sums.epochs.nr) {
		sums_fini(&sums);
		ret = diag_fail(d, ENODATA, "%s: no epoch is in that window", called);
	}
	if (ret)
		return ret;
	p->trace = strdup(called);
	p->event = strdup(sums.event ? sums.event : "");
	p->unit = strdup(sums.unit ? sums.unit : "");
	p->entries.at = calloc((size_t)sums.lines.nr + 1, sizeof(*p->entries.at));
	p->nr_runs = sums.epochs.nr;
	p->run = calloc(p->nr_runs, sizeof(*p->run));
	p->run_ns = calloc(p->nr_runs, sizeof(*p->run_ns));
	if (!p->trace || !p->event || !p->unit || !p->entries.at || !p->run || !p->run_ns)
		ret = diag_fail(d, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < sums.lines.nr && ret == 0; i++)
		ret = fill_entry(s, q, &sums, i, &p->entries.at[p->entries.nr++], d);
	if (ret == 0 && q->by == SUMS_COMPONENT && !tell_entries_apart(p))
		ret = diag_fail(d, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < sums.epochs.nr && ret == 0; i++) {
		p->run[i] = sums.epochs.at[i].weight;
		samples += sums.epochs.at[i].samples;
		effective += sums.epochs.at[i].effective;
	}
	p->samples = sums.samples;
	p->measure = sums.weight;
	p->effective = samples > 0 ? sums.samples * effective / samples : 0;
	sums_fini(&sums);
	if (ret)
		profile_fini(p);
	return ret;
}
