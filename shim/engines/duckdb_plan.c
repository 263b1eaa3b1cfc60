/* SPDX-License-Identifier: MIT */
/*
 * Reads and registers a plan of DuckDB. The operators below each one come from the operator itself, and the names from the library's
 * EXPLAIN.
 */
#include "shim/engines/duckdb.h"

#include "agent/guest/sys.h"
#include "shim/engines/cxx_call.h"

#include <string.h>
#include <time.h>

#define RENEW_NS 1000000000ull /* names of a plan are read again after this time, because the next plan of a query may join other tables */

bool duckdb_is_registered(uint64_t id)
{
	return __atomic_load_n(&duckdb.said[id % DUCKDB_SAID], __ATOMIC_RELAXED) == id;
}

void duckdb_mark_registered(uint64_t id)
{
	__atomic_store_n(&duckdb.said[id % DUCKDB_SAID], id, __ATOMIC_RELAXED);
}

struct duckdb_room *duckdb_room_take(void)
{
	for (size_t i = 0; i < sizeof(duckdb.queries->room) / sizeof(duckdb.queries->room[0]); i++)
		if (!__atomic_exchange_n(&duckdb.queries->room[i].is_taken, 1, __ATOMIC_ACQUIRE))
			return &duckdb.queries->room[i];
	return NULL;
}

void duckdb_room_leave(struct duckdb_room *r)
{
	__atomic_store_n(&r->is_taken, 0, __ATOMIC_RELEASE);
}

uint32_t duckdb_find_operator(const struct duckdb_connection *c, uint64_t address)
{
	for (uint32_t i = 0; i < c->nr; i++)
		if (c->operator[i].address == address)
			return i + 1;
	return 0;
}

uint64_t duckdb_operator_id(const struct duckdb_connection *c, uint32_t operator)
{
	return engine_hash(c->plan, &operator, sizeof(operator));
}

/* A class may have virtual functions behind those of the base class.  They get the role DUCKDB_MIDDLE, because functions of that role call
 * them. */
uint32_t duckdb_functions_of_role(const struct duckdb_operator *o, enum duckdb_role role, struct jitreg_function *to)
{
	const uint64_t *table = (const uint64_t *)o->table;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < DUCKDB_SLOTS && nr < DUCKDB_FUNCTIONS; i++) {
		enum duckdb_role of = i < duckdb.nr_slots ? (enum duckdb_role)duckdb.role[i] : DUCKDB_MIDDLE;

		if (i >= duckdb.nr_slots && (!object_contains(&duckdb.library, table + i, 8) || table[i] < duckdb.text_begin ||
					     table[i] >= duckdb.text_end))
			break;
		if (of == DUCKDB_NO_ROLE || (role != DUCKDB_NO_ROLE && role != of))
			continue;
		if (i < duckdb.nr_slots && table[i] == duckdb.operator_table[i])
			continue; /* it is the function of the base class, which all classes share */
		to[nr++].address = table[i];
	}
	return role == DUCKDB_NO_ROLE ? duckdb_class_functions(o->table, to, nr) : nr;
}

/* ------------------------------------------------------------------------------------------------------------ reading */

bool duckdb_string_read(uint64_t string, struct duckdb_text *to)
{
	struct cxx_string new;

	if (duckdb.string_abi == DUCKDB_STRING_OLD) {
		if (!sys_readable_range((const void *)string, sizeof(to->text)))
			return false;
		memcpy(&to->text, (const void *)string, sizeof(to->text));
		if (!sys_readable_range(to->text + CXX_OLD_STRING_BYTES_AT, -CXX_OLD_STRING_BYTES_AT))
			return false;
		memcpy(&to->bytes, to->text + CXX_OLD_STRING_BYTES_AT, sizeof(to->bytes));
		return true;
	}
	if (!sys_readable_range((const void *)string, sizeof(new)))
		return false;
	memcpy(&new, (const void *)string, sizeof(new));
	*to = (struct duckdb_text){ new.text, new.bytes };
	return true;
}

static bool read_operator_tree(struct duckdb_connection *c, uint64_t address, uint32_t upper, uint32_t order, int depth)
{
	struct cxx_vector below = { 0, 0, 0 };
	struct duckdb_operator *o = &c->operator[c->nr];
	uint64_t result;
	uint32_t own;
	bool ok = true;

	if (c->nr == DUCKDB_OPERATORS_MAX || depth == DUCKDB_DEPTH_MAX || !sys_readable_range((const void *)address, 8))
		return false;
	*o = (struct duckdb_operator){ .address = address, .upper = upper, .order = order };
	memcpy(&o->table, (const void *)address, 8);
	if (o->table % 8 || !sys_readable_range((const void *)o->table, (size_t)duckdb.nr_slots * 8))
		return false;
	own = ++c->nr;
	if (!cxx_call(((const uint64_t *)o->table)[duckdb.children_slot],
		      (const uint64_t[CXX_ARGUMENTS]){ (uint64_t)(uintptr_t)&below, address }, &result))
		return false;
	if (below.begin > below.end || (below.end - below.begin) % 8 || (below.end - below.begin) / 8 > DUCKDB_OPERATORS_MAX)
		return false; /* the vector is invalid, so nothing is freed */
	for (uint64_t at = below.begin; ok && at < below.end; at += 8)
		ok = read_operator_tree(c, *(const uint64_t *)at, own, (uint32_t)((at - below.begin) / 8), depth + 1);
	cxx_vector_free(&below);
	return ok;
}

/* Returns a hash of the query, and of the operators' classes and tree. It does not depend on the tables that the operators read. */
static uint64_t hash_plan_shape(const struct duckdb_connection *c)
{
	uint64_t hash = c->query;

	for (uint32_t i = 0; i < c->nr; i++) {
		const uint64_t part[2] = { c->operator[i].table - duckdb.library.bias, c->operator[i].upper };

		hash = engine_hash(hash, part, sizeof(part));
	}
	return hash;
}

static bool read_operator_names(struct duckdb_connection *c, struct duckdb_room *r)
{
	struct cxx_string s = { NULL, 0, "" }, format = { NULL, sizeof("json") - 1, "json" };
	uint64_t argument[CXX_ARGUMENTS] = { (uint64_t)(uintptr_t)&s, c->operator[0].address, DUCKDB_FORMAT_JSON }, result;
	struct duckdb_text text;
	bool ok;

	format.text = format.own;
	if (duckdb.has_print_format) {
		argument[2] = 0;
		argument[3] = (uint64_t)(uintptr_t)&format;
	}
	if (!cxx_call(duckdb.to_string, argument, &result))
		return false;
	ok = duckdb_string_read((uint64_t)(uintptr_t)&s, &text) && duckdb_explain_read(text.text, text.bytes, &r->explained) &&
	     r->explained.nr == c->nr;
	if (duckdb.string_abi == DUCKDB_STRING_OLD)
		cxx_old_string_free(s.text);
	else
		cxx_string_free(&s);
	return ok;
}

static int register_operator_component(const struct duckdb_connection *c, uint32_t i, struct duckdb_explanation *all)
{
	const struct duckdb_explained *e = &all->operator[i];
	uint64_t id = duckdb_operator_id(c, i);
	char detail[512];
	size_t n = e->detail_bytes < sizeof(detail) ? e->detail_bytes : sizeof(detail) - 1;
	int ret;

	if (duckdb_is_registered(id))
		return 0;
	memcpy(detail, all->text + e->detail, n);
	detail[n] = 0;
	ret = jitreg_component(DUCKDB_LEVEL_OPERATOR, id, e->name, n ? detail : NULL, JITREG_COMPONENT_COMMON);
	ret = ret ? ret : jitreg_link_to(jitreg_at(DUCKDB_LEVEL_OPERATOR, id), jitreg_at(DUCKDB_LEVEL_QUERY, c->query), 1);
	if (!ret && e->rows >= 0)
		ret = jitreg_counter(DUCKDB_LEVEL_OPERATOR, id, "estimated rows", e->rows);
	if (!ret && c->operator[i].upper)
		ret = jitreg_edge(DUCKDB_LEVEL_OPERATOR, id, duckdb_operator_id(c, c->operator[i].upper - 1), c->operator[i].order, NULL);
	if (!ret)
		duckdb_mark_registered(id);
	return ret;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Returns the checksum of an entry.  The stored one does not match while another thread is writing the entry. */
static uint64_t checksum_of_known_plan(uint64_t shape, uint64_t plan)
{
	return engine_hash(shape, &plan, sizeof(plan));
}

/* Sets c->plan if the names of a plan of this shape were read recently and all of its operators are still registered. Otherwise sets it to
 * 0 and returns false. */
static bool find_known_plan(struct duckdb_connection *c, uint64_t shape, uint64_t time_ns)
{
	const struct duckdb_known *k = &duckdb.known[shape % DUCKDB_PLANS];
	uint64_t known_ns = __atomic_load_n(&k->time_ns, __ATOMIC_RELAXED);

	c->plan = __atomic_load_n(&k->plan, __ATOMIC_RELAXED);
	if (!c->plan || __atomic_load_n(&k->check, __ATOMIC_RELAXED) != checksum_of_known_plan(shape, c->plan) ||
	    time_ns - known_ns >= RENEW_NS)
		c->plan = 0;
	for (uint32_t i = 0; i < c->nr && c->plan; i++)
		if (!duckdb_is_registered(duckdb_operator_id(c, i)))
			c->plan = 0;
	return c->plan;
}

/* Sets c->plan to a known plan of this shape, or else by the operators' names, and then registers the components of the operators. c->plan
 * stays 0 if the names cannot be read or all rooms are taken. */
static void identify_plan_by_names(struct duckdb_connection *c)
{
	uint64_t shape = hash_plan_shape(c), time_ns = now_ns(), plan = c->query;
	struct duckdb_known *k = &duckdb.known[shape % DUCKDB_PLANS];
	struct duckdb_room *r;

	if (find_known_plan(c, shape, time_ns))
		return;
	r = duckdb_room_take();
	if (!r)
		return;
	if (read_operator_names(c, r)) {
		for (uint32_t i = 0; i < c->nr; i++) {
			plan = engine_hash(plan, r->explained.operator[i].name, strlen(r->explained.operator[i].name));
			memcpy(c->operator[i].name, r->explained.operator[i].name, DUCKDB_NAME_BYTES);
		}
		c->plan = engine_hash(plan, &shape, sizeof(shape));
		for (uint32_t i = 0; i < c->nr; i++)
			register_operator_component(c, i, &r->explained);
		__atomic_store_n(&k->plan, c->plan, __ATOMIC_RELAXED);
		__atomic_store_n(&k->time_ns, time_ns, __ATOMIC_RELAXED);
		__atomic_store_n(&k->check, checksum_of_known_plan(shape, c->plan), __ATOMIC_RELAXED);
	}
	duckdb_room_leave(r);
}

void duckdb_plan_register(struct duckdb_connection *c, uint64_t outermost)
{
	struct jitreg_object_component of[2];
	struct jitreg_function functions[DUCKDB_FUNCTIONS];
	uint64_t self = (uint64_t)(uintptr_t)c;

	c->nr = 0;
	c->plan = 0;
	if (read_operator_tree(c, outermost, 0, 0, 0))
		identify_plan_by_names(c);
	if (!c->plan) {
		c->nr = 0;
		ANNOUNCE_ONCE("DuckDB: operators of a plan unavailable (more than 512 operators, or they have other names than their "
			      "EXPLAIN); its samples belong to its query");
	}
	of[0] = of[1] = (struct jitreg_object_component){ DUCKDB_LEVEL_QUERY, c->query };
	jitreg_object(self, 0, 0, NULL, 0, of, 1);
	of[0] = (struct jitreg_object_component){ DUCKDB_LEVEL_OPERATOR, DUCKDB_WAITING_ID };
	jitreg_object(c->executor, self, 0, &duckdb.executor_waits, duckdb.executor_waits.address != 0, of, 2);
	jitreg_object(c->context, self, 0, &duckdb.context_waits, duckdb.context_waits.address != 0, of, 2);
	for (uint32_t i = 0; i < c->nr; i++) {
		const struct duckdb_operator *o = &c->operator[i];

		of[0] = (struct jitreg_object_component){ DUCKDB_LEVEL_OPERATOR, duckdb_operator_id(c, i) };
		jitreg_object(o->address, o->upper ? c->operator[o->upper - 1].address : self, 0, functions,
			      duckdb_functions_of_role(o, DUCKDB_NO_ROLE, functions), of, 2);
	}
}
