/* SPDX-License-Identifier: MIT */
/* Reads plans of a backend, and keeps track of which of them live. */
#include "agent/recorder/engines/postgres.h"

#include "jitreg/base/grow.h"
#include "jitreg/engines/postgres_names.h"

#include <stdlib.h>
#include <string.h>

#define COMPARISONS_MAX 1000000u

/* This node is not in the trace yet. */
struct unsaid_node {
	struct postgres_node node;
	uint64_t id, consumer;
	char detail[POSTGRES_DETAIL_BYTES];
};

/* This plan is being read. Nothing is written until all of it was read and was still the same in memory afterwards. */
struct reading {
	struct engines *e;
	struct postgres_backend *b;
	struct postgres_plan *p;
	ARRAY(struct unsaid_node) unsaid;
	bool no_memory;
};

static const struct postgres_plan_node *find_plan_node(const struct postgres_plan *p, uint64_t address)
{
	for (uint32_t i = p->nodes.nr; i > 0; i--)
		if (p->nodes.at[i - 1].address == address)
			return &p->nodes.at[i - 1];
	return NULL;
}

static bool keep_unsaid_node(struct reading *g, const struct postgres_node *n, uint64_t id, uint64_t consumer)
{
	struct postgres_reader r = postgres_server_reader(g->e, g->b);
	struct unsaid_node *u = ARRAY_ADD(g->unsaid);

	if (!u)
		return false;
	u->node = *n;
	u->node.way = NULL;
	u->id = id;
	u->consumer = consumer;
	postgres_node_detail(&r, &g->p->query, n, u->detail);
	return true;
}

/* Adds an object of a plan.  The caller has made room for it. */
static void add_plan_object(struct postgres_plan *p, uint64_t address, uint64_t upper, uint64_t id, const uint64_t *function, uint32_t nr)
{
	p->nodes.at[p->nodes.nr++] = (struct postgres_plan_node){ .address = address, .upper = upper, .id = id,
								  .first_function = p->functions.nr, .nr_functions = nr };
	memcpy(p->functions.at + p->functions.nr, function, nr * sizeof(*function));
	p->functions.nr += nr;
}

static int add_plan_node(void *context, const struct postgres_node *n)
{
	struct reading *g = context;
	struct postgres_plan *p = g->p;
	const struct postgres_plan_node *owner;
	const struct postgres_reader r = postgres_server_reader(g->e, g->b);
	uint64_t id = postgres_node_id(p->id, n), request[POSTGRES_REQUEST_FUNCTIONS];

	if (find_plan_node(p, n->address)) /* several nodes may call one subplan, which is added once */
		return 0;
	if (!ARRAY_RESERVE(p->nodes, 2) || !ARRAY_RESERVE(p->functions, n->nr_functions + POSTGRES_REQUEST_FUNCTIONS)) {
		g->no_memory = true;
		return 1;
	}
	owner = n->owner ? find_plan_node(p, n->owner) : NULL;
	if (!postgres_node_is_said(g->e, id, owner ? owner->id : 0) && !keep_unsaid_node(g, n, id, owner ? owner->id : 0)) {
		g->no_memory = true;
		return 1;
	}
	add_plan_object(p, n->address, n->upper, id, n->functions, n->nr_functions);
	/* an asynchronous request for the node's rows is an object with the node's component, because frames that work on it hold its
	 * address */
	if (n->request)
		add_plan_object(p, n->request, n->address, id, request, postgres_request_functions(&r, n, request));
	return 0;
}

static void free_plan(struct postgres_plan *p)
{
	free(p->nodes.at);
	free(p->functions.at);
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

/* Returns room for one more plan.  If there is none, the plan that no sample has shown for longest is forgotten. */
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

static int count_plan_node(void *context, const struct postgres_node *n)
{
	*(uint32_t *)context += 1 + (n->request != 0);
	return 0;
}

/* Is the plan still the same in memory?  Pages were kept while it was read, so the query is read again.  If the plan has nodes that are not
 * in the trace yet, all of it is walked again, because they are written for good. */
static bool is_plan_still_there(const struct reading *g, enum postgres_end end)
{
	const struct postgres_query *q = &g->p->query;
	struct postgres_reader r = postgres_server_reader(g->e, g->b);
	struct postgres_query again;
	uint32_t nr = 0;

	page_cache_reset(&g->e->memory->pages, g->b->pid);
	if (postgres_query_read(&r, q->address, &again) || again.statement != q->statement || again.root != q->root ||
	    again.state != q->state || again.text != q->text)
		return false;
	return !g->unsaid.nr || (postgres_plan_walk(&r, q, count_plan_node, &nr) == end && nr >= g->p->nodes.nr);
}

/*
 * Returns the component of a query. A parallel worker's query has that of its leader's latest plan with workers, if one is known. An agent
 * in the worker cannot ask the leader, so there the number is computed from what both know. Here the leader's plans can be read, so the
 * number is computed from the query's part of the text alone, as if there were no workers, which distinguishes the statements of one
 * string.
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
	enum postgres_end end;
	int class;

	plan.id = component_of_query(e, b, q);
	memcpy(plan.name, e->memory->query_name, sizeof(plan.name));
	postgres_catalog_begin(&b->server->catalog, (uint64_t)b->pid);
	end = postgres_plan_walk(&r, q, add_plan_node, &g);
	if ((end && end != POSTGRES_TOO_MANY && end != POSTGRES_TOO_DEEP) || g.no_memory || !is_plan_still_there(&g, end)) {
		free_plan(&plan);
		free(g.unsaid.at);
		return NULL;
	}
	if (end)
		notice_incomplete_plan(e, b, end);
	class = q->receive ? postgres_class_of_destination(q->destination) : -1;
	if (class >= 0)
		postgres_server_add_class(b->server, (enum postgres_class)class, q->receive);
	postgres_write_query(e, b, &plan);
	for (uint32_t i = 0; i < g.unsaid.nr; i++)
		postgres_write_node(e, b, &plan, &g.unsaid.at[i].node, g.unsaid.at[i].id, g.unsaid.at[i].consumer, g.unsaid.at[i].detail);
	free(g.unsaid.at);
	p = get_free_plan_slot(e, b);
	*p = plan;
	b->nr_plans++;
	return p;
}

struct postgres_plan *postgres_plan_keep_utility(struct engines *e, struct postgres_backend *b, const struct postgres_query *q,
						 uint64_t begin_ns)
{
	struct postgres_plan *p, plan = { .query = *q, .top = true, .utility = true, .begin_ns = begin_ns, .seen_ns = begin_ns,
					  .start_us = b->start_us, .state_us = b->state_us };

	plan.id = component_of_query(e, b, q);
	memcpy(plan.name, e->memory->query_name, sizeof(plan.name));
	postgres_write_query(e, b, &plan);
	p = get_free_plan_slot(e, b);
	*p = plan;
	b->nr_plans++;
	return p;
}

static bool plans_overlap(const struct postgres_plan *a, const struct postgres_plan *b)
{
	if (a->query.address == b->query.address || (a->query.root && a->query.root == b->query.root))
		return true;
	if ((uint64_t)a->nodes.nr * b->nodes.nr > COMPARISONS_MAX)
		return false;
	for (uint32_t i = 0; i < a->nodes.nr; i++)
		if (find_plan_node(b, a->nodes.at[i].address))
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
