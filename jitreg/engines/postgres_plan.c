/* SPDX-License-Identifier: MIT */
#include "jitreg/engines/postgres_plan.h"

#include "jitreg/engines/postgres_names.h"
#include "jitreg/engines/sql_text.h"

#include <string.h>

#define LIST_MAX 10000 /* maximum number of elements of a list, or of an array of nodes */
#define RANGE_MAX 256 /* maximum number of tables from which the number of a query's component is computed */
#define OPERATION_MAX 6
#define IDENTIFIER_BYTES 64 /* NAMEDATALEN */

static const char *const end_texts[] = {
#define TEXT(NAME, text) text,
	POSTGRES_ENDS(TEXT)
#undef TEXT
};

const char *postgres_end_text(enum postgres_end end)
{
	return end < POSTGRES_NR_ENDS ? end_texts[end] : "unknown";
}

/* ------------------------------------------------------------------------------------------------------- reading */

static bool read_field_at(const struct postgres_reader *r, uint64_t address, uint16_t offset, void *to, size_t bytes)
{
	return address && offset != POSTGRES_ABSENT && address + offset >= address && r->read(r->context, address + offset, to, bytes) == 0;
}

/* Is there a node with this tag at address? */
static bool node_has_tag(const struct postgres_reader *r, uint64_t address, uint16_t tag)
{
	uint32_t there;

	return !(address & 7) && read_field_at(r, address, 0, &there, sizeof(there)) && there == tag;
}

/* Read the address and the number of a list's elements.  address 0 is the empty list.  Returns false if it is no list, or is too long. */
static bool read_list_header(const struct postgres_reader *r, uint64_t address, uint64_t *elements, uint32_t *nr)
{
	*elements = *nr = 0;
	if (!address)
		return true;
	return node_has_tag(r, address, r->layout->tag_list) && read_field_at(r, address, r->layout->list_nr, nr, sizeof(*nr)) &&
	       *nr <= LIST_MAX && read_field_at(r, address, r->layout->list_elements, elements, sizeof(*elements));
}

static bool read_list_element(const struct postgres_reader *r, uint64_t elements, uint32_t n, uint64_t *to)
{
	return elements && r->read(r->context, elements + 8 * (uint64_t)n, to, sizeof(*to)) == 0;
}

size_t postgres_read_text(const struct postgres_reader *r, uint64_t address, char *to, size_t room, bool *cut)
{
	size_t at = 0;

	*cut = false;
	while (address && at + 1 < room) {
		size_t part = 4096 - (address & 4095); /* read up to the next page at most, which may be unmapped */
		char *end;

		if (part > 256 - (address & 255))
			part = 256 - (address & 255);
		if (part > room - 1 - at)
			part = room - 1 - at;
		if (r->read(r->context, address, to + at, part))
			break;
		end = memchr(to + at, 0, part);
		if (end)
			return (size_t)(end - to);
		at += part;
		address += part;
	}
	*cut = address && at + 1 >= room;
	to[at] = 0;
	return at;
}

/* --------------------------------------------------------------------------------------------------------- query */

enum postgres_end postgres_query_read(const struct postgres_reader *r, uint64_t address, struct postgres_query *q)
{
	const struct postgres_layout *l = r->layout;
	uint64_t destination;
	int32_t at, bytes;
	uint8_t parallel;

	*q = (struct postgres_query){ .address = address };
	if (!address || address & 7)
		return POSTGRES_NO_QUERY;
	if (!read_field_at(r, address, l->query_operation, &q->operation, sizeof(q->operation)) ||
	    !read_field_at(r, address, l->query_statement, &q->statement, sizeof(q->statement)) ||
	    !read_field_at(r, address, l->query_text, &q->text, sizeof(q->text)) ||
	    !read_field_at(r, address, l->query_state, &q->state, sizeof(q->state)) ||
	    !read_field_at(r, address, l->query_root, &q->root, sizeof(q->root)))
		return POSTGRES_UNREADABLE;
	if (q->operation == 0 || q->operation > OPERATION_MAX || !node_has_tag(r, q->statement, l->tag_statement) || !q->text ||
	    (q->state && !node_has_tag(r, q->state, l->tag_state)))
		return POSTGRES_NO_QUERY;
	if (!read_field_at(r, q->statement, l->statement_parallel, &parallel, sizeof(parallel)) ||
	    !read_field_at(r, q->statement, l->statement_location, &at, sizeof(at)) ||
	    !read_field_at(r, q->statement, l->statement_bytes, &bytes, sizeof(bytes)))
		return POSTGRES_UNREADABLE;
	q->parallel = parallel;
	if (!read_field_at(r, address, l->query_destination, &destination, sizeof(destination)) ||
	    !read_field_at(r, destination, l->destination_function, &q->receive, sizeof(q->receive)) ||
	    !read_field_at(r, destination, l->destination_kind, &q->destination, sizeof(q->destination)) ||
	    !postgres_code_is_function_begin(r, q->receive))
		q->receive = q->destination = 0;
	if (at > 0)
		q->part_at = (uint32_t)at;
	if (at >= 0 && bytes > 0)
		q->part_bytes = (uint32_t)bytes;
	return POSTGRES_OK;
}

size_t postgres_query_text(const struct postgres_reader *r, const struct postgres_query *q, char *to, size_t room)
{
	size_t bytes, want = q->part_bytes && q->part_bytes < room - 1 ? q->part_bytes : room - 1;
	uint64_t from = q->text + q->part_at;
	bool cut;

	if (room < 8)
		return 0;
	bytes = postgres_read_text(r, from, to, want + 1, &cut);
	if (cut && want == room - 1 && want != q->part_bytes) {
		bytes = room - 4;
		while (bytes && (to[bytes] & 0xc0) == 0x80) /* the text is not cut within a character */
			bytes--;
		memcpy(to + bytes, "...", 4);
		bytes += 3;
	}
	while (bytes && strchr(" \t\r\n;", to[bytes - 1]))
		to[--bytes] = 0;
	from = strspn(to, " \t\r\n");
	memmove(to, to + from, bytes - from + 1);
	return bytes - from;
}

uint64_t postgres_hash(uint64_t hash, const void *bytes, size_t nr)
{
	const unsigned char *b = bytes;

	hash ^= 0xcbf29ce484222325;
	for (size_t i = 0; i < nr; i++)
		hash = (hash ^ b[i]) * 0x100000001b3;
	hash ^= hash >> 32;
	hash *= 0xd6e8feb86659fd93;
	return hash ^ hash >> 32;
}

uint64_t postgres_salt(uint32_t postmaster_pid, uint64_t start_time)
{
	const uint64_t salt[2] = { postmaster_pid, start_time };

	return postgres_hash(0, salt, sizeof(salt));
}

/* Returns the hash continued by the tables of a query: kind, OID and name of each.  Parallel workers have all of these, but only a part of
 * the plan. */
static uint64_t hash_range_table(const struct postgres_reader *r, uint64_t hash, const struct postgres_query *q)
{
	const struct postgres_layout *l = r->layout;
	uint64_t list, elements, entry, names;
	char name[IDENTIFIER_BYTES];
	uint32_t nr;
	bool cut;

	if (!read_field_at(r, q->statement, l->statement_range_table, &list, sizeof(list)) || !read_list_header(r, list, &elements, &nr))
		return hash;
	for (uint32_t i = 0; i < nr && i < RANGE_MAX; i++) {
		uint32_t kind_and_relation[2] = { 0, 0 };

		if (!read_list_element(r, elements, i, &entry) || !node_has_tag(r, entry, l->tag_range) ||
		    !read_field_at(r, entry, l->range_kind, &kind_and_relation[0], 4) ||
		    !read_field_at(r, entry, l->range_relation, &kind_and_relation[1], 4))
			break;
		hash = postgres_hash(hash, kind_and_relation, sizeof(kind_and_relation));
		if (read_field_at(r, entry, l->range_names, &names, sizeof(names)) && node_has_tag(r, names, l->tag_alias) &&
		    read_field_at(r, names, l->alias_name, &names, sizeof(names)))
			hash = postgres_hash(hash, name, postgres_read_text(r, names, name, sizeof(name), &cut));
	}
	return hash;
}

uint64_t postgres_query_component(const struct postgres_reader *r, const struct postgres_query *q, uint64_t salt, bool worker,
				  char text[POSTGRES_TEXT_BYTES], char work[POSTGRES_TEXT_BYTES], char name[POSTGRES_NAME_BYTES])
{
	struct postgres_query whole = *q;
	uint64_t hash = postgres_hash(0, &salt, sizeof(salt));
	size_t bytes = postgres_query_text(r, q, text, POSTGRES_TEXT_BYTES);

	memcpy(work, text, bytes + 1);
	bytes = sql_text_normalise(work, bytes);
	sql_text_shorten(work, bytes, name, POSTGRES_NAME_BYTES);
	if (worker || q->parallel) {
		whole.part_at = whole.part_bytes = 0;
		bytes = sql_text_normalise(work, postgres_query_text(r, &whole, work, POSTGRES_TEXT_BYTES));
		if (memchr(work, ';', bytes)) /* there are several statements, or a quoted name with that character */
			hash = hash_range_table(r, hash, q);
	}
	hash = postgres_hash(hash, work, bytes);
	return hash ? hash : 1;
}

const char *postgres_role_label(enum postgres_role role)
{
	return role == POSTGRES_INIT_PLAN ? "InitPlan" : role == POSTGRES_SUBPLAN ? "SubPlan" : "";
}

int64_t postgres_node_rows(const struct postgres_node *n)
{
	return n->rows >= 0 && n->rows < 9e18 ? (int64_t)(n->rows + 0.5) : -1;
}

uint32_t postgres_request_functions(const struct postgres_reader *r, const struct postgres_node *n,
				    uint64_t to[POSTGRES_REQUEST_FUNCTIONS])
{
	static const enum postgres_symbol symbols[] = { POSTGRES_ASYNC_REQUEST, POSTGRES_ASYNC_CONFIGURE_WAIT, POSTGRES_ASYNC_NOTIFY };
	uint32_t nr = n->nr_functions;

	memcpy(to, n->functions, nr * sizeof(*to));
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (r->code->symbol[symbols[i]])
			to[nr++] = r->code->symbol[symbols[i]];
	return nr;
}

bool postgres_query_is_counted(const struct postgres_reader *r, uint64_t query)
{
	int32_t options;

	return read_field_at(r, query, r->layout->query_counts, &options, sizeof(options)) && options;
}

bool postgres_node_counts(const struct postgres_reader *r, const struct postgres_node *n, double *rows, double *loops)
{
	const struct postgres_layout *l = r->layout;
	uint64_t counts;
	uint8_t running;
	double now;

	if (!read_field_at(r, n->address, l->node_counts, &counts, sizeof(counts)) ||
	    !read_field_at(r, counts, l->counts_running, &running, sizeof(running)) ||
	    !read_field_at(r, counts, l->counts_rows_now, &now, sizeof(now)) ||
	    !read_field_at(r, counts, l->counts_rows, rows, sizeof(*rows)) ||
	    !read_field_at(r, counts, l->counts_loops, loops, sizeof(*loops)))
		return false;
	if (running) { /* the present execution has not ended */
		*rows += now;
		*loops += 1;
	}
	return *loops >= 1 && *rows >= 0 && *rows < 9e18;
}

uint64_t postgres_node_id(uint64_t query_id, const struct postgres_node *n)
{
	uint64_t hash = postgres_hash(query_id, &n->plan_node_id, sizeof(n->plan_node_id));

	hash = postgres_hash(hash, n->name, strlen(n->name));
	return hash ? hash : 1;
}

/* ---------------------------------------------------------------------------------------------------------- walk */

/* This struct is a node on the current path, whose children are being visited, one list (enum stage) after another. */
struct level {
	uint64_t node;
	uint32_t type;
	uint32_t stage, next, nr, order;
	uint64_t elements;
};
/* A node's children are in these lists, here in the order of EXPLAIN. INIT_PLANS and SUBPLANS are lists of SubPlanStates, the others of
 * nodes. */
enum stage { INIT_PLANS, LEFT, RIGHT, MEMBERS, CHILDREN, SUBPLANS, NR_STAGES };

struct walk {
	const struct postgres_reader *r;
	const struct postgres_query *q;
	struct level level[POSTGRES_DEPTH_MAX];
	struct postgres_way way[POSTGRES_DEPTH_MAX];
	uint32_t depth, nr_nodes;
	struct postgres_node node;
};

static bool node_type_of_tag(const struct postgres_layout *l, uint32_t tag, enum postgres_node_type *type)
{
	for (int i = 0; i < POSTGRES_NR_NODES; i++)
		if (l->tag_of_state[i] == tag) {
			*type = (enum postgres_node_type)i;
			return true;
		}
	return false;
}

/* Read the node at w->node.address, and set all members of w->node but owner, upper, role and order, which are set already, and those that
 * visit_plan_node() sets. */
static enum postgres_end read_plan_node(struct walk *w)
{
	const struct postgres_reader *r = w->r;
	const struct postgres_layout *l = r->layout;
	struct postgres_node *n = &w->node;
	uint64_t function[2], state; /* ExecProcNode, and ExecProcNodeReal, which is the next member of PlanState */
	uint32_t tag;

	if (n->address & 7)
		return POSTGRES_NO_NODE;
	if (!read_field_at(r, n->address, 0, &tag, sizeof(tag)) || !read_field_at(r, n->address, l->node_plan, &n->plan, sizeof(n->plan)) ||
	    !read_field_at(r, n->address, l->node_state, &state, sizeof(state)) ||
	    !read_field_at(r, n->address, l->node_function - sizeof(function[0]), function, sizeof(function)))
		return POSTGRES_UNREADABLE;
	if (!node_type_of_tag(l, tag, &n->type) || state != w->q->state || !node_has_tag(r, n->plan, l->tag_of_plan[n->type]))
		return POSTGRES_NO_NODE;
	if (!read_field_at(r, n->plan, l->plan_id, &n->plan_node_id, sizeof(n->plan_node_id)) ||
	    !read_field_at(r, n->plan, l->plan_rows, &n->rows, sizeof(n->rows)) ||
	    !read_field_at(r, n->plan, l->plan_width, &n->width, sizeof(n->width)) ||
	    !read_field_at(r, n->plan, l->plan_startup_cost, &n->startup_cost, sizeof(n->startup_cost)) ||
	    !read_field_at(r, n->plan, l->plan_total_cost, &n->total_cost, sizeof(n->total_cost)))
		return POSTGRES_UNREADABLE;
	n->nr_functions = postgres_code_node_functions(r, n->type, function[1], function[0], n->functions);
	return n->nr_functions ? POSTGRES_OK : POSTGRES_NO_FUNCTION;
}

static bool open_child_list(const struct postgres_reader *r, struct level *at, uint16_t offset)
{
	uint64_t list;

	return read_field_at(r, at->node, offset, &list, sizeof(list)) && read_list_header(r, list, &at->elements, &at->nr);
}

static bool open_child_array(const struct postgres_reader *r, struct level *at, uint16_t members, uint16_t nr)
{
	return read_field_at(r, at->node, nr, &at->nr, sizeof(at->nr)) && at->nr <= LIST_MAX &&
	       read_field_at(r, at->node, members, &at->elements, sizeof(at->elements));
}

/* Make a list of the single child whose address a member of the node is, or an empty list if that is 0. */
static bool open_single_child(const struct postgres_reader *r, struct level *at, uint16_t offset)
{
	uint64_t there;

	if (!read_field_at(r, at->node, offset, &there, sizeof(there)))
		return false;
	at->elements = at->node + offset;
	at->nr = there != 0;
	return true;
}

static bool open_member_nodes(const struct postgres_reader *r, struct level *at)
{
	const struct postgres_layout *l = r->layout;

	switch (at->type) {
	case POSTGRES_APPEND:
		return open_child_array(r, at, l->append_members, l->append_nr);
	case POSTGRES_MERGE_APPEND:
		return open_child_array(r, at, l->merge_append_members, l->merge_append_nr);
	case POSTGRES_BITMAP_AND:
		return open_child_array(r, at, l->bitmap_and_members, l->bitmap_and_nr);
	case POSTGRES_BITMAP_OR:
		return open_child_array(r, at, l->bitmap_or_members, l->bitmap_or_nr);
	case POSTGRES_SUBQUERY_SCAN:
		return open_single_child(r, at, l->subquery_plan);
	default:
		return true;
	}
}

static bool open_child_stage(const struct postgres_reader *r, struct level *at)
{
	const struct postgres_layout *l = r->layout;

	at->next = at->nr = 0;
	at->elements = 0;
	switch ((enum stage)at->stage) {
	case INIT_PLANS:
		return open_child_list(r, at, l->node_init_plans);
	case LEFT:
		return open_single_child(r, at, l->node_left);
	case RIGHT:
		return open_single_child(r, at, l->node_right);
	case MEMBERS:
		return open_member_nodes(r, at);
	case CHILDREN:
		return at->type != POSTGRES_CUSTOM_SCAN || open_child_list(r, at, l->custom_children);
	case SUBPLANS:
		return open_child_list(r, at, l->node_subplans);
	default:
		return true;
	}
}

static const enum postgres_role role_of_stage[NR_STAGES] = {
	[INIT_PLANS] = POSTGRES_INIT_PLAN, [LEFT] = POSTGRES_OUTER,    [RIGHT] = POSTGRES_INNER,
	[MEMBERS] = POSTGRES_MEMBER,	   [CHILDREN] = POSTGRES_MEMBER, [SUBPLANS] = POSTGRES_SUBPLAN,
};

/* Read the next child of a node.  Sets *node to its address, or to 0 if there are no more, and *subplan to the address of the SubPlanState
 * that refers to it, or 0. */
static enum postgres_end read_next_child(const struct postgres_reader *r, struct level *at, uint64_t *node, uint64_t *subplan)
{
	*node = *subplan = 0;
	for (;;) {
		while (at->next >= at->nr) {
			if (++at->stage >= NR_STAGES)
				return POSTGRES_OK;
			if (!open_child_stage(r, at))
				return POSTGRES_NO_LIST;
		}
		if (!read_list_element(r, at->elements, at->next++, node))
			return POSTGRES_UNREADABLE;
		if (at->stage == INIT_PLANS || at->stage == SUBPLANS) {
			*subplan = *node;
			if (!node_has_tag(r, *subplan, r->layout->tag_subplan_state))
				return POSTGRES_NO_LIST;
			if (!read_field_at(r, *subplan, r->layout->subplan_node, node, sizeof(*node)))
				return POSTGRES_UNREADABLE;
		}
		if (*node) /* it is 0 for a subplan that this parallel worker does not execute */
			return POSTGRES_OK;
	}
}

/* Returns the address of the AsyncRequest by which an Append requests rows of the current node, or 0.  The Append has an array of them, by
 * child. */
static uint64_t find_request(const struct walk *w)
{
	const struct postgres_layout *l = w->r->layout;
	const struct level *owner = w->depth ? &w->level[w->depth - 1] : NULL;
	uint64_t requests, request, node;

	if (!owner || owner->type != POSTGRES_APPEND || owner->stage != MEMBERS || w->node.type != POSTGRES_FOREIGN_SCAN ||
	    !read_field_at(w->r, owner->node, l->append_requests, &requests, sizeof(requests)) ||
	    !read_list_element(w->r, requests, owner->next - 1, &request) ||
	    !read_field_at(w->r, request, l->request_node, &node, sizeof(node)))
		return 0;
	return node == w->node.address ? request : 0;
}

static enum postgres_end
visit_plan_node(struct walk *w, uint64_t subplan, int (*visit)(void *context, const struct postgres_node *n), void *context, bool *stop)
{
	enum postgres_end end;

	if (w->nr_nodes++ >= POSTGRES_NODES_MAX)
		return POSTGRES_TOO_MANY;
	if (w->depth >= POSTGRES_DEPTH_MAX)
		return POSTGRES_TOO_DEEP;
	w->node.depth = w->depth;
	end = read_plan_node(w);
	if (end)
		return end;
	postgres_node_name(w->r, w->q, &w->node);
	w->node.subplan = subplan;
	w->node.request = find_request(w);
	w->way[w->depth] = (struct postgres_way){ w->node.plan, subplan };
	w->node.way = w->way;
	*stop = visit(context, &w->node) != 0;
	w->level[w->depth++] = (struct level){ .node = w->node.address, .type = w->node.type, .stage = UINT32_MAX };
	return POSTGRES_OK;
}

enum postgres_end postgres_plan_walk(const struct postgres_reader *r, const struct postgres_query *q,
				     int (*visit)(void *context, const struct postgres_node *n), void *context)
{
	struct walk w; /* the struct has 15 KB, most of which need not be cleared */
	enum postgres_end end;
	bool stop = false;

	if (!q->root)
		return POSTGRES_NO_QUERY;
	w.r = r;
	w.q = q;
	w.depth = w.nr_nodes = 0;
	w.node = (struct postgres_node){ .address = q->root, .upper = q->address };
	end = visit_plan_node(&w, 0, visit, context, &stop);
	while (end == POSTGRES_OK && !stop && w.depth) {
		struct level *at = &w.level[w.depth - 1];
		uint64_t node, subplan;

		end = read_next_child(r, at, &node, &subplan);
		if (end)
			break;
		if (!node) {
			w.depth--;
			continue;
		}
		w.node = (struct postgres_node){ .address = node, .owner = at->node, .upper = at->node, .order = at->order++,
						 .role = role_of_stage[at->stage] };
		end = visit_plan_node(&w, subplan, visit, context, &stop);
	}
	return end;
}
