/* SPDX-License-Identifier: MIT */
/*
 * Reads phases and executions (MARK).  A mark with a handle is ended by its handle, on any thread.  A mark without one is ended by its
 * name, component and instance: on its own thread, else on another, else on its own with another instance, because such marks nest.
 */
#include "analyzer/model/read.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/sorted.h"

#include <stdlib.h>
#include <string.h>

#define PARENTS_LOOKED 256u /* limit of marks that are compared, from the latest back, to find a parent by its instance */

/*
 * This struct has the marks without a handle that have not ended, by name, component and the keys of open_mark_key().  An END without a
 * handle ends one of them.  Each mark is in three chains (by instance and thread, by instance, by thread), from the latest back.  Searches
 * take out marks that have ended.
 */
enum { BY_ALL, BY_INSTANCE, BY_TID, NR_BY };

struct open_marks {
	struct hash_map latest[NR_BY]; /* hash -> 1 + index of the latest mark */
	struct mark_chain {
		uint32_t before[NR_BY]; /* 1 + index of the mark before it in the chain; 0: none */
	} *chain; /* places in the chains, by index of a mark */
	uint32_t capacity;
};

void marks_free_open(struct marks *marks)
{
	for (int by = 0; marks->open && by < NR_BY; by++)
		hash_map_fini(&marks->open->latest[by]);
	if (marks->open)
		free(marks->open->chain);
	free(marks->open);
	marks->open = NULL;
}

void marks_fini(struct marks *marks)
{
	for (uint32_t i = 0; i < marks->nr; i++) {
		free(marks->at[i].name);
		free(marks->at[i].text);
	}
	free(marks->at);
	free(marks->pieces.at);
	hash_map_fini(&marks->handles);
	marks_free_open(marks);
}

struct mark_key {
	uint64_t a, b;
};

static struct mark_key open_mark_key(int by, uint32_t process, uint32_t tid, uint32_t component, uint64_t instance, const char *name)
{
	uint64_t about = hash_text(name ? name : "") ^ ((uint64_t)process << 32 | component) * 0x9e3779b97f4a7c15ull;

	return (struct mark_key){ about, by == BY_TID ? tid : by == BY_INSTANCE ? instance : instance ^ (uint64_t)tid << 32 };
}

/* Checks that a mark is one that the END can end.  Hashes alone may be equal by chance. */
static bool mark_is_begin_of_end(const struct mark *k, int by, const struct process *p, uint32_t tid, uint32_t component, uint64_t instance,
				 const char *name)
{
	return k->process == p->number && k->component == component && (by == BY_INSTANCE || k->tid == tid) &&
	       (by == BY_TID || k->instance == instance) && strcmp(k->name ? k->name : "", name ? name : "") == 0;
}

/* Adds a mark to the chains.  mark: an index. */
static void add_open_mark(struct model *m, uint32_t mark)
{
	const struct mark *k = &m->marks.at[mark];
	struct open_marks *o = m->marks.open ? m->marks.open : (m->marks.open = calloc(1, sizeof(*o)));

	if (!o)
		return;
	if (mark >= o->capacity) {
		struct mark_chain *bigger = realloc(o->chain, (size_t)m->marks.capacity * sizeof(*bigger));

		if (!bigger)
			return;
		memset(bigger + o->capacity, 0, (size_t)(m->marks.capacity - o->capacity) * sizeof(*bigger));
		o->chain = bigger;
		o->capacity = m->marks.capacity;
	}
	for (int by = 0; by < NR_BY; by++) {
		struct mark_key key = open_mark_key(by, k->process, k->tid, k->component, k->instance, k->name);

		o->chain[mark].before[by] = hash_map_find(&o->latest[by], key.a, key.b);
		hash_map_set(&o->latest[by], key.a, key.b, mark + 1);
	}
}

/* Finds the latest mark that an END without a handle can end.  Returns NULL if there is none. */
static struct mark *find_begun_mark(struct model *m, const struct process *p, uint32_t tid, uint32_t component, uint64_t instance,
				    const char *name)
{
	struct open_marks *o = m->marks.open;

	for (int by = 0; o && by < NR_BY; by++) {
		struct mark_key key = open_mark_key(by, p->number, tid, component, instance, name);
		uint32_t i = hash_map_find(&o->latest[by], key.a, key.b), was = i;

		while (i && (m->marks.at[i - 1].end_ns != UINT64_MAX ||
			     !mark_is_begin_of_end(&m->marks.at[i - 1], by, p, tid, component, instance, name)))
			i = o->chain[i - 1].before[by];
		if (i && i != was)
			hash_map_set(&o->latest[by], key.a, key.b, i);
		else if (was && !i)
			o->chain[was - 1].before[by] = 0; /* all have ended: the next search stops at the latest */
		if (i)
			return &m->marks.at[i - 1];
	}
	return NULL;
}

static void begin_mark_piece(struct model *m, uint32_t mark, uint32_t tid, uint64_t time_ns)
{
	struct mark *k = &m->marks.at[mark];

	if (!ARRAY_GROW(m->marks.pieces))
		return;
	m->marks.pieces.at[m->marks.pieces.nr] = (struct mark_piece){ k->process, tid, time_ns, UINT64_MAX, mark, 0, k->pieces };
	k->pieces = ++m->marks.pieces.nr;
}

static void end_mark_piece(struct model *m, const struct mark *k, uint64_t time_ns)
{
	if (k->pieces && m->marks.pieces.at[k->pieces - 1].to_ns == UINT64_MAX)
		m->marks.pieces.at[k->pieces - 1].to_ns = time_ns;
}

/* Returns the owner of a handle: this process, or none if a command added the mark to the trace afterwards. */
static uint32_t owner_of_handle(const struct process *p, uint64_t handle)
{
	return handle & TRACE_MARK_OF_NO_HOST ? UINT32_MAX : p->number;
}

static uint32_t find_handle(const struct model *m, const struct process *p, uint64_t handle)
{
	return hash_map_find(&m->marks.handles, owner_of_handle(p, handle), handle);
}

static uint32_t parent_of_mark(const struct model *m, const struct process *p, uint64_t handle, uint64_t instance)
{
	if (handle)
		return find_handle(m, p, handle);
	for (uint32_t i = m->marks.nr, n = 0; instance && i > 0 && n < PARENTS_LOOKED; i--, n++)
		if (m->marks.at[i - 1].process == p->number && m->marks.at[i - 1].instance == instance &&
		    m->marks.at[i - 1].end_ns == UINT64_MAX)
			return i;
	return 0;
}

static void begin_mark(struct model *m, const struct process *p, const struct trace_record *r, uint32_t component, char *name)
{
	uint64_t handle = trace_u64(r, F(mark, mark)), parent_instance = trace_u64(r, F(mark, parent_instance));
	uint32_t parent = parent_of_mark(m, p, trace_u64(r, F(mark, parent)), parent_instance);
	struct mark *k;

	if (!ARRAY_GROW(m->marks)) {
		free(name);
		return;
	}
	k = &m->marks.at[m->marks.nr++];
	*k = (struct mark){ r->time_ns, UINT64_MAX, p->number, r->tid, component, trace_u64(r, F(mark, instance)), parent_instance,
			    trace_u64(r, F(mark, units)), name, trace_text(r, F(mark, text)), handle,
			    (uint32_t)trace_u64(r, F(mark, covers)), parent, 0 };
	if (handle)
		hash_map_set(&m->marks.handles, owner_of_handle(p, handle), handle, m->marks.nr);
	else
		add_open_mark(m, m->marks.nr - 1);
	if (k->covers == JITREG_COVERS_THREAD || k->covers == JITREG_COVERS_TASK || (!k->covers && component && parent))
		begin_mark_piece(m, m->marks.nr - 1, r->tid, r->time_ns);
}

void model_read_mark(struct model *m, struct process *p, const struct trace_record *r)
{
	uint64_t action = trace_u64(r, F(mark, action)), handle = trace_u64(r, F(mark, mark)), id = trace_u64(r, F(mark, component));
	uint64_t instance = trace_u64(r, F(mark, instance));
	uint32_t level = id ? dictionary_get_level(&m->dictionary, (uint32_t)trace_u64(r, F(mark, level))) : LEVELS_MAX, of;
	uint32_t component = level < LEVELS_MAX ? dictionary_get_component(&m->dictionary, p->number, level, id) : COMPONENT_NONE;
	char *name = trace_text(r, F(mark, name));
	struct mark *k;

	p->nr_uses++;
	if (action == JITREG_MARK_BEGIN) {
		begin_mark(m, p, r, component, name);
		return;
	}
	of = handle ? find_handle(m, p, handle) : 0;
	k = of ? &m->marks.at[of - 1] : handle ? NULL : find_begun_mark(m, p, r->tid, component, trace_u64(r, F(mark, instance)), name);
	/* A process without an agent has marks with neither handle nor name, whose beginning may be unknown.  That is no fault. */
	if (action == JITREG_MARK_END && (handle || (name && *name)) &&
	    (!k || k->end_ns != UINT64_MAX || (!handle && instance && k->instance != instance)))
		model_fault(m, FAULT_MARK_END_UNKNOWN, p, trace_u64(r, F(mark, instance)), r->tid, handle, name);
	free(name);
	if (!k || k->end_ns != UINT64_MAX)
		return;
	if (action == JITREG_MARK_ENTER && k->covers == JITREG_COVERS_TASK) {
		end_mark_piece(m, k, r->time_ns);
		begin_mark_piece(m, (uint32_t)(k - m->marks.at), r->tid, r->time_ns);
	} else if (action == JITREG_MARK_LEAVE && k->covers == JITREG_COVERS_TASK) {
		end_mark_piece(m, k, r->time_ns);
	} else if (action == JITREG_MARK_END) {
		end_mark_piece(m, k, r->time_ns);
		k->end_ns = r->time_ns;
		if (trace_u64(r, F(mark, units)))
			k->units = trace_u64(r, F(mark, units));
	}
}

/* ---------------------------------------------------------------------------------------------------------- sorting */

static int compare_mark_begins(const void *a, const void *b)
{
	const struct mark *const *x = a, *const *y = b;

	if ((*x)->begin_ns != (*y)->begin_ns)
		return (*x)->begin_ns < (*y)->begin_ns ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

static int compare_piece_threads(const void *a, const void *b)
{
	const struct mark_piece *const *x = a, *const *y = b;

	if ((*x)->process != (*y)->process)
		return (*x)->process < (*y)->process ? -1 : 1;
	if ((*x)->tid != (*y)->tid)
		return (*x)->tid < (*y)->tid ? -1 : 1;
	if ((*x)->from_ns != (*y)->from_ns)
		return (*x)->from_ns < (*y)->from_ns ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/* Sorts elements by a comparison of pointers to them. Returns an array of where each has gone, in which both places are 1 + an index.
 * The caller frees it. Returns NULL, with nothing sorted, if memory ran out. */
static uint32_t *sort_and_track_moves(void *array, uint32_t nr, size_t each, int (*compare)(const void *, const void *))
{
	uint32_t *gone_to = calloc((size_t)nr + 1, sizeof(*gone_to));
	char **order = calloc((size_t)nr + 1, sizeof(*order)), *copy = malloc(((size_t)nr + 1) * each), *from = array;

	if (gone_to && order && copy) {
		for (uint32_t i = 0; i < nr; i++)
			order[i] = from + i * each;
		qsort(order, nr, sizeof(*order), compare);
		for (uint32_t i = 0; i < nr; i++) {
			gone_to[(size_t)(order[i] - from) / each + 1] = i + 1;
			memcpy(copy + i * each, order[i], each);
		}
		if (nr)
			memcpy(array, copy, nr * each);
	} else {
		free(gone_to);
		gone_to = NULL;
	}
	free(order);
	free(copy);
	return gone_to;
}

void model_settle_marks(struct model *m)
{
	uint32_t *marks = m->marks.nr ? sort_and_track_moves(m->marks.at, m->marks.nr, sizeof(*m->marks.at), compare_mark_begins) : NULL;
	uint32_t *pieces = m->marks.pieces.nr ? sort_and_track_moves(m->marks.pieces.at, m->marks.pieces.nr,
								     sizeof(*m->marks.pieces.at), compare_piece_threads) : NULL;

	hash_map_fini(&m->marks.handles);
	marks_free_open(&m->marks);
	for (uint32_t i = 0; marks && i < m->marks.nr; i++)
		m->marks.at[i].parent = marks[m->marks.at[i].parent];
	for (uint32_t i = 0; pieces && i < m->marks.nr; i++)
		m->marks.at[i].pieces = pieces[m->marks.at[i].pieces];
	for (uint32_t i = 0; marks && pieces && i < m->marks.pieces.nr; i++) {
		struct mark_piece *x = &m->marks.pieces.at[i];
		uint32_t outer = i; /* candidates are the piece before it, and those in which that one began */

		x->mark = marks[x->mark + 1] - 1;
		x->before = pieces[x->before];
		while (outer && m->marks.pieces.at[outer - 1].to_ns <= x->from_ns)
			outer = m->marks.pieces.at[outer - 1].outer;
		if (outer && (m->marks.pieces.at[outer - 1].process != x->process || m->marks.pieces.at[outer - 1].tid != x->tid))
			outer = 0;
		x->outer = outer;
	}
	if (m->marks.pieces.nr && (!marks || !pieces))
		m->marks.pieces.nr = 0;
	free(marks);
	free(pieces);
}

static bool piece_begins_up_to(const struct mark_piece *x, const struct process *p, uint32_t tid, uint64_t time_ns)
{
	if (x->process != p->number)
		return x->process < p->number;
	return x->tid != tid ? x->tid < tid : x->from_ns <= time_ns;
}

const struct mark_piece *
model_find_mark_piece(const struct model *m, const struct process *p, uint32_t tid, uint64_t time_ns, uint64_t *until_ns)
{
	const struct mark_piece *x;
	uint32_t up_to = SORTED_COUNT(m->marks.pieces.nr, i, piece_begins_up_to(&m->marks.pieces.at[i], p, tid, time_ns));

	x = up_to < m->marks.pieces.nr ? &m->marks.pieces.at[up_to] : NULL; /* the next piece */
	if (x && x->process == p->number && x->tid == tid && x->from_ns < *until_ns)
		*until_ns = x->from_ns;
	x = up_to ? &m->marks.pieces.at[up_to - 1] : NULL;
	if (!x || x->process != p->number || x->tid != tid)
		return NULL;
	while (x && x->to_ns <= time_ns)
		x = x->outer ? &m->marks.pieces.at[x->outer - 1] : NULL;
	if (x && x->to_ns < *until_ns)
		*until_ns = x->to_ns;
	return x;
}
