/* SPDX-License-Identifier: MIT */
/* Plans of a backend that were read, and which of them live. */
#include "agent/recorder/engines/postgres.h"

#include <stdlib.h>
#include <string.h>

#define COMPARISONS_MAX 1000000u

struct reading {
	struct engines *e;
	struct postgres_backend *b;
	struct postgres_plan *p;
	uint32_t nodes_capacity, functions_capacity;
	bool no_memory;
};

static const struct postgres_plan_node *find_plan_node(const struct postgres_plan *p, uint64_t address)
{
	for (uint32_t i = p->nr; i > 0; i--)
		if (p->node[i - 1].address == address)
			return &p->node[i - 1];
	return NULL;
}

static bool make_array_room(void **array, uint32_t nr, uint32_t *capacity, size_t each)
{
	uint32_t more = *capacity;
	void *bigger;

	while (more < nr)
		more = more ? 2 * more : 64;
	if (more == *capacity)
		return true;
	bigger = realloc(*array, more * each);
	if (!bigger)
		return false;
	*array = bigger;
	*capacity = more;
	return true;
}

static int add_plan_node(void *context, const struct postgres_node *n)
{
	struct reading *g = context;
	struct postgres_plan *p = g->p;
	const struct postgres_plan_node *owner = n->owner ? find_plan_node(p, n->owner) : NULL;
	uint64_t id = postgres_node_id(p->id, n);

	if (find_plan_node(p, n->address)) /* a subplan that several nodes call */
		return 0;
	if (!make_array_room((void **)&p->node, p->nr + 1, &g->nodes_capacity, sizeof(*p->node)) ||
	    !make_array_room((void **)&p->function, p->nr_functions + n->nr_functions, &g->functions_capacity, sizeof(*p->function))) {
		g->no_memory = true;
		return 1;
	}
	owner = n->owner ? find_plan_node(p, n->owner) : NULL;
	postgres_write_node(g->e, g->b, p, n, id, owner ? owner->id : 0);
	p->node[p->nr++] = (struct postgres_plan_node){ .address = n->address, .upper = n->upper, .id = id,
							.first_function = p->nr_functions, .nr_functions = n->nr_functions };
	memcpy(p->function + p->nr_functions, n->functions, n->nr_functions * sizeof(*n->functions));
	p->nr_functions += n->nr_functions;
	return 0;
}

static void free_plan(struct postgres_plan *p)
{
	free(p->node);
	free(p->function);
	memset(p, 0, sizeof(*p));
}

void postgres_plan_forget(struct engines *e, struct postgres_backend *b, struct postgres_plan *p, uint64_t time_ns)
{
	postgres_write_plan_end(e, b, p, time_ns);
	engines_note_query_duration(e, p->begin_ns, time_ns);
	free_plan(p);
	*p = b->plan[--b->nr_plans];
	memset(&b->plan[b->nr_plans], 0, sizeof(b->plan[0]));
}

/* Room for one more: that of the one that was not seen for longest. */
static struct postgres_plan *get_free_plan_slot(struct engines *e, struct postgres_backend *b)
{
	struct postgres_plan *oldest = &b->plan[0];

	if (b->nr_plans == POSTGRES_PLANS) {
		for (uint32_t i = 1; i < b->nr_plans; i++)
			if (b->plan[i].seen_ns < oldest->seen_ns)
				oldest = &b->plan[i];
		postgres_plan_forget(e, b, oldest, oldest->seen_ns + 1);
	}
	return &b->plan[b->nr_plans];
}

static void notice_incomplete_plan(struct engines *e, const struct postgres_backend *b, enum postgres_end end)
{
	if (e->noticed_plan)
		return;
	e->noticed_plan = true;
	engines_notice(e, "plan nodes of a query of process %d incomplete: %s; further plans with this limit are not reported", (int)b->pid,
		       postgres_end_text(end));
}

/* Two walks: the first one finds out whether the memory holds a plan, and says nothing. */
static int count_plan_node(void *context, const struct postgres_node *n)
{
	(void)n;
	++*(uint32_t *)context;
	return 0;
}

/*
 * A worker's query is its leader's.  From outside the leader can be asked; so a leader's own number is of its part of the text alone, which
 * tells the statements of one string apart.
 */
static uint64_t component_of_query(struct engines *e, const struct postgres_backend *b, const struct postgres_query *q)
{
	const struct postgres_backend *leader = b->leader ? engines_find_own_pid(e, b->server, b->leader) : NULL;
	struct postgres_reader r = postgres_server_reader(e, b);
	const struct postgres_plan *of = NULL;
	struct postgres_query own = *q;
	uint64_t id;

	own.parallel = false;
	id = postgres_query_component(&r, &own, b->server->salt, b->leader != 0, e->memory->text, e->memory->work, e->memory->query_name);
	for (uint32_t i = 0; leader && i < leader->nr_plans; i++)
		if (leader->plan[i].query.parallel && (!of || leader->plan[i].seen_ns > of->seen_ns))
			of = &leader->plan[i];
	return of ? of->id : id;
}

struct postgres_plan *postgres_plan_read(struct engines *e, struct postgres_backend *b, const struct postgres_query *q, bool top,
					 uint64_t begin_ns)
{
	struct postgres_reader r = postgres_server_reader(e, b);
	struct postgres_plan plan = { .query = *q, .top = top, .begin_ns = begin_ns, .seen_ns = begin_ns, .start_us = b->start_us,
				      .state_us = b->state_us }, *p;
	struct reading g = { .e = e, .b = b, .p = &plan };
	struct postgres_query again;
	enum postgres_end end;
	uint32_t nr = 0;
	int class;

	plan.id = component_of_query(e, b, q);
	memcpy(plan.name, e->memory->query_name, sizeof(plan.name));
	end = postgres_plan_walk(&r, q, count_plan_node, &nr);
	if (end && end != POSTGRES_TOO_MANY && end != POSTGRES_TOO_DEEP)
		return NULL;
	if (end)
		notice_incomplete_plan(e, b, end);
	class = q->receive ? postgres_class_of_destination(q->destination) : -1;
	if (class >= 0)
		postgres_server_add_class(b->server, (enum postgres_class)class, q->receive);
	postgres_write_query(e, b, &plan);
	postgres_plan_walk(&r, q, add_plan_node, &g);
	/* pages were kept meanwhile: is it still the same? */
	page_cache_reset(&e->memory->pages, b->pid);
	if (g.no_memory || postgres_query_read(&r, q->address, &again) || again.statement != q->statement || again.root != q->root ||
	    again.state != q->state || again.text != q->text) {
		free_plan(&plan);
		return NULL;
	}
	p = get_free_plan_slot(e, b);
	*p = plan;
	b->nr_plans++;
	return p;
}

static bool plans_overlap(const struct postgres_plan *a, const struct postgres_plan *b)
{
	if (a->query.address == b->query.address || a->query.root == b->query.root)
		return true;
	if ((uint64_t)a->nr * b->nr > COMPARISONS_MAX)
		return false;
	for (uint32_t i = 0; i < a->nr; i++)
		if (find_plan_node(b, a->node[i].address))
			return true;
	return false;
}

void postgres_plan_set_live(struct engines *e, struct postgres_backend *b, struct postgres_plan *p, uint64_t time_ns)
{
	for (uint32_t i = 0; i < b->nr_plans; i++)
		if (&b->plan[i] != p && b->plan[i].live && plans_overlap(&b->plan[i], p))
			postgres_write_plan_end(e, b, &b->plan[i], time_ns);
	if (!p->live)
		postgres_write_plan(e, b, p, time_ns);
}
