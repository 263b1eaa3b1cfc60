/* SPDX-License-Identifier: MIT */
#include "analyzer/query/frequencies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct state {
	struct frequencies f;
	bool made, has;
};

/* Counters are summed up by variable of the program before the solver gets them, because several counters may count one variable. */
struct sums {
	uint64_t *sum;
	bool *counted;
	uint32_t nr;
};

static uint32_t flow_block_number(uint64_t block)
{
	return block < FLOW_OUTSIDE ? (uint32_t)block : FLOW_OUTSIDE;
}

/* Returns the function that a call names, or FLOW_NO_FUNCTION if it names none or one without a flow. */
static uint32_t callee_of_call(const struct model *m, const struct flow_record *from, const struct jitreg_flow_call *c)
{
	bool is_named = c->component && c->level < LEVELS_MAX;
	uint32_t found = is_named ? flow_records_find(&m->flows, from->process, (uint32_t)c->level, c->component) : 0;

	return found ? found - 1 : FLOW_NO_FUNCTION;
}

/* Adds all functions, arcs and calls to the program.  Counters refer to arcs and calls by their numbers, so an arc or call with an
 * invalid block must not be left out.  An arc from outside to outside, or a call of no function, stands for it.  Returns 0 or -ENOMEM. */
static int add_functions(struct report *r, struct frequencies *f)
{
	const struct flow_records *records = &r->model->flows;

	for (uint32_t i = 0; i < records->nr; i++) {
		const struct flow_record *flow = &records->at[i];
		const struct jitreg_flow_parts *p = &flow->parts;

		if (flow_add_function(&f->program, p->nr_blocks, flow->escapes) != i)
			return -ENOMEM;
		for (uint32_t n = 0; n < p->nr_arcs; n++)
			if (!flow_add_arc(&f->program, i, flow_block_number(p->arcs[n].from), flow_block_number(p->arcs[n].to)) &&
			    !flow_add_arc(&f->program, i, FLOW_OUTSIDE, FLOW_OUTSIDE))
				return -ENOMEM;
		for (uint32_t n = 0; n < p->nr_calls && p->nr_blocks; n++) {
			const struct jitreg_flow_call *c = &p->calls[n];

			if (!flow_add_call(&f->program, i, flow_block_number(c->block), c->site, callee_of_call(r->model, flow, c)) &&
			    !flow_add_call(&f->program, i, 0, UINT64_MAX - n, FLOW_NO_FUNCTION))
				return -ENOMEM;
		}
	}
	return flow_add_equations(&f->program);
}

static uint32_t component_of_ids_at(struct report *r, uint32_t process, uint64_t level, uint64_t id, uint64_t time_ns)
{
	struct time_range holds = TIME_RANGE_ALL;

	if (level >= LEVELS_MAX || !id)
		return COMPONENT_NONE;
	return model_find_component(r->model, r->model->numbered.at[process], (uint32_t)level, id, time_ns, &holds);
}

static uint32_t variable_of_counter(const struct frequencies *f, uint32_t function, uint64_t kind, uint64_t at)
{
	const struct flow_function *x = &f->program.functions.at[function];

	switch (kind) {
	case JITREG_COUNTS_ENTRY:
		return x->entries;
	case JITREG_COUNTS_BLOCK:
		return at < x->nr_blocks ? x->block[at].variable : UINT32_MAX;
	case JITREG_COUNTS_EDGE:
		return at < x->arcs.nr ? x->arcs.at[at].variable : UINT32_MAX;
	case JITREG_COUNTS_CALL:
		return at < x->nr_calls ? f->program.calls.at[x->first_call + at].variable : UINT32_MAX;
	default:
		return UINT32_MAX;
	}
}

static void add_address_count(struct frequencies *f, uint64_t process, uint64_t address, uint64_t count)
{
	f->at[f->nr_at++] = (struct address_frequency){ process, address, count };
}

static uint64_t count_of_counter(const struct counters_record *c, uint32_t i)
{
	return c->value[i] >= c->base[i] ? c->value[i] - c->base[i] : c->value[i];
}

static void add_counter_value(struct frequencies *f, const struct counters_record *c, uint32_t i, struct sums *s)
{
	const struct jitreg_counter_entry *e = &c->entry[i];
	uint64_t count = count_of_counter(c, i);
	uint32_t variable = c->flow[i] ? variable_of_counter(f, c->flow[i] - 1, e->kind, e->at) : UINT32_MAX;

	if (e->kind == JITREG_COUNTS_OFFSET) {
		add_address_count(f, c->process, e->component + e->at, count);
	} else if (variable < s->nr) {
		s->counted[variable] = true;
		if (__builtin_add_overflow(s->sum[variable], count, &s->sum[variable]))
			s->sum[variable] = UINT64_MAX;
	}
}

static int add_all_counters(struct report *r, struct frequencies *f)
{
	const struct flow_records *records = &r->model->flows;
	struct sums s = { .nr = equations_nr_variables(f->program.equations) };
	uint64_t nr = 0;
	int ret = 0;

	for (uint32_t i = 0; i < records->counters.nr; i++)
		nr += records->counters.at[i].nr;
	s.sum = calloc((size_t)s.nr + 1, sizeof(*s.sum));
	s.counted = calloc((size_t)s.nr + 1, sizeof(*s.counted));
	f->at = calloc((size_t)nr + 1, sizeof(*f->at));
	if (!s.sum || !s.counted || !f->at)
		ret = -ENOMEM;
	for (uint32_t i = 0; ret == 0 && i < records->counters.nr; i++)
		for (uint32_t n = 0; records->counters.at[i].read_ns && n < records->counters.at[i].nr; n++)
			add_counter_value(f, &records->counters.at[i], n, &s);
	for (uint32_t i = 0; ret == 0 && i < s.nr; i++)
		if (s.counted[i])
			equations_set_known(f->program.equations, i, FLOW_COUNTED, s.sum[i]);
	free(s.sum);
	free(s.counted);
	return ret;
}

/* ------------------------------------------------------------------------------------------------- the user's assumptions (--assume) */

struct assumption {
	const char *function, *to;
	size_t function_bytes, to_bytes;
	uint64_t site, count;
	bool is_arc; /* the assumption is about an arc, and site is the block that it comes from; else about a call */
};

static bool parse_number(const char *text, const char *end, uint64_t *v)
{
	char *stop;

	if (text == end || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*v = strtoull(text, &stop, 10);
	return stop == end && !errno;
}

/* Parses an assumption (frequencies_is_assumption()). A function's name may have dots, colons and arrows of its own, so the last ones
 * count. Returns false if text is no assumption. */
static bool parse_assumption(const char *text, struct assumption *a)
{
	const char *equals = strrchr(text, '='), *arrow = NULL, *mark;

	if (!equals || !parse_number(equals + 1, equals + strlen(equals), &a->count))
		return false;
	for (const char *c = text; c + 1 < equals; c++)
		if (c[0] == '-' && c[1] == '>')
			arrow = c;
	for (mark = arrow; mark && mark > text && *mark != '.' && *mark != ':'; mark--)
		;
	if (!arrow || mark == text || arrow + 2 == equals)
		return false;
	a->function = text;
	a->function_bytes = (size_t)(mark - text);
	a->is_arc = *mark == ':';
	a->to = arrow + 2;
	a->to_bytes = (size_t)(equals - a->to);
	if (a->is_arc && strncmp(mark + 1, "out", (size_t)(arrow - mark) - 1) == 0 && arrow - mark == 4)
		a->site = FLOW_OUTSIDE;
	else if (!parse_number(mark + 1, arrow, &a->site))
		return false;
	return true;
}

bool frequencies_is_assumption(const char *text)
{
	struct assumption a;

	return parse_assumption(text, &a);
}

static bool function_is_named(const struct report *r, const struct frequencies *f, uint32_t function, const char *name, size_t bytes)
{
	char spare[32];
	const char *own = function < f->program.functions.nr ? report_component_own_name(r, f->component[function], spare) : "(unknown)";

	return strlen(own) == bytes && memcmp(own, name, bytes) == 0;
}

static bool assumption_names_block(const struct assumption *a, uint32_t block)
{
	uint64_t number;

	if (block == FLOW_OUTSIDE)
		return a->to_bytes == 3 && memcmp(a->to, "out", 3) == 0;
	return parse_number(a->to, a->to + a->to_bytes, &number) && number == block;
}

/* Applies an assumption to the arcs or calls that it names. Returns false if there are none, or if all have another count already. */
static bool apply_assumption(const struct report *r, struct frequencies *f, const struct assumption *a)
{
	bool found = false;

	for (uint32_t i = 0; a->is_arc && i < f->program.functions.nr; i++)
		for (uint32_t n = 0; function_is_named(r, f, i, a->function, a->function_bytes) && n < f->program.functions.at[i].arcs.nr;
		     n++) {
			const struct flow_arc *arc = &f->program.functions.at[i].arcs.at[n];

			if (arc->from == a->site && assumption_names_block(a, arc->to))
				found |= equations_set_known(f->program.equations, arc->variable, FLOW_ASSUMED, a->count);
		}
	for (uint32_t i = 0; !a->is_arc && i < f->program.calls.nr; i++) {
		const struct flow_call *c = &f->program.calls.at[i];

		if (c->caller != FLOW_NO_FUNCTION && c->site == a->site &&
		    function_is_named(r, f, c->caller, a->function, a->function_bytes) &&
		    function_is_named(r, f, c->callee, a->to, a->to_bytes))
			found |= equations_set_known(f->program.equations, c->variable, FLOW_ASSUMED, a->count);
	}
	return found;
}

static void apply_all_assumptions(struct report *r, struct frequencies *f)
{
	struct assumption a;

	for (int i = 0; i < r->nr_assumed; i++)
		if (parse_assumption(r->assumed[i], &a))
			r->is_assumed[i] = apply_assumption(r, f, &a);
}

const char *frequencies_unused_assumption(const struct report *r, int n)
{
	for (int i = 0; i < r->nr_assumed; i++)
		if (!r->is_assumed[i] && n-- == 0)
			return r->assumed[i];
	return NULL;
}

/* ------------------------------------------------------------------------------------------- frequencies by component */

#define STEPS_A_COMPONENT 4

struct execution_walk {
	bool (*each)(void *context, uint32_t component, uint32_t variable, uint64_t count);
	void *context;
	const struct frequencies *f;
};

static bool walk_component(const struct execution_walk *w, uint32_t component, uint32_t variable, uint64_t count)
{
	return !component || component >= w->f->nr_components || w->each(w->context, component, variable, count);
}

static bool walk_flow(struct report *r, const struct execution_walk *w, uint32_t function)
{
	const struct flow_record *flow = &r->model->flows.at[function];
	const struct flow_function *x = &w->f->program.functions.at[function];

	for (uint32_t i = 0; i < x->nr_blocks; i++) {
		const struct jitreg_flow_block *b = &flow->parts.blocks[i];
		uint64_t nr = b->level >= LEVELS_MAX ? 0 : b->nr < w->f->nr_components ? b->nr : w->f->nr_components;

		for (uint64_t n = 0; n < nr && report_spend(r, STEPS_A_COMPONENT); n++) {
			uint32_t c = component_of_ids_at(r, flow->process, b->level, b->first + n, flow->time_ns);

			if (!walk_component(w, c, x->block[i].variable, 0))
				return false;
		}
	}
	for (uint32_t i = 0; i < flow->parts.nr_executions; i++) {
		const struct jitreg_flow_execution *e = &flow->parts.executions[i];
		uint32_t c = component_of_ids_at(r, flow->process, e->level, e->component, flow->time_ns);

		if (e->block < x->nr_blocks && !walk_component(w, c, x->block[e->block].variable, 0))
			return false;
	}
	return true;
}

bool frequencies_walk_executions(struct report *r, const struct frequencies *f,
				 bool (*each)(void *context, uint32_t component, uint32_t variable, uint64_t count), void *context)
{
	const struct execution_walk w = { each, context, f };
	const struct flow_records *records = &r->model->flows;

	for (uint32_t i = 0; i < f->program.functions.nr; i++)
		if (!walk_flow(r, &w, i))
			return false;
	for (uint32_t i = 0; i < records->counters.nr; i++)
		for (uint32_t n = 0; records->counters.at[i].read_ns && n < records->counters.at[i].nr; n++) {
			const struct counters_record *c = &records->counters.at[i];
			const struct jitreg_counter_entry *e = &c->entry[n];

			if (e->kind == JITREG_COUNTS_ENTRY &&
			    !walk_component(&w, component_of_ids_at(r, c->process, e->level, e->component, c->time_ns), FLOW_NO_VARIABLE,
					    count_of_counter(c, n)))
				return false;
		}
	return true;
}

static bool add_execution(void *context, uint32_t component, uint32_t variable, uint64_t count)
{
	struct frequencies *f = context;

	if (variable == FLOW_NO_VARIABLE)
		frequency_add(&f->executions[component], count, FLOW_COUNTED);
	else
		frequency_add_variable(&f->executions[component], &f->program, variable);
	return true;
}

static int compare_addresses(const void *a, const void *b)
{
	const struct address_frequency *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static int make_frequencies(struct report *r, struct frequencies *f)
{
	const struct flow_records *records = &r->model->flows;
	int ret = flow_program_init(&f->program);

	f->nr_components = r->model->dictionary.components.nr;
	f->component = calloc((size_t)records->nr + 1, sizeof(*f->component));
	f->executions = calloc((size_t)f->nr_components + 1, sizeof(*f->executions));
	f->calls_in = calloc((size_t)f->nr_components + 1, sizeof(*f->calls_in));
	f->calls_out = calloc((size_t)f->nr_components + 1, sizeof(*f->calls_out));
	if (ret || !f->component || !f->executions || !f->calls_in || !f->calls_out)
		return -ENOMEM;
	for (uint32_t i = 0; i < records->nr; i++) {
		const struct flow_record *flow = &records->at[i];

		f->component[i] = component_of_ids_at(r, flow->process, flow->level, flow->component, flow->time_ns);
		if (f->component[i] >= f->nr_components)
			f->component[i] = COMPONENT_NONE;
	}
	ret = add_functions(r, f);
	if (ret == 0)
		ret = add_all_counters(r, f);
	if (ret)
		return ret;
	apply_all_assumptions(r, f);
	ret = flow_solve(&f->program);
	for (uint32_t i = 0; ret == 0 && i < f->program.functions.nr; i++) {
		if (f->component[i])
			frequency_add_calls(&f->calls_in[f->component[i]], &f->calls_out[f->component[i]], &f->program, i);
		f->has_calls |= f->program.functions.at[i].nr_calls > 0;
		f->nr_contradictions += f->program.functions.at[i].contradicts;
	}
	if (ret == 0) {
		frequencies_walk_executions(r, f, add_execution, f);
		frequency_fill_executions(f->executions, f->calls_in, f->nr_components);
	}
	for (uint32_t i = 0; ret == 0 && i < f->program.functions.nr; i++) {
		char spare[32];

		if (f->component[i])
			hash_map_set(&f->named, hash_text(report_component_own_name(r, f->component[i], spare)), 0, i + 1);
	}
	for (uint32_t i = 0; i < f->nr_components; i++)
		f->nr_known += f->executions[i].state != FLOW_UNKNOWN;
	f->nr_known += f->nr_at;
	if (f->nr_at)
		qsort(f->at, f->nr_at, sizeof(*f->at), compare_addresses);
	return ret;
}

static void free_frequencies(void *p)
{
	struct frequencies *f = &((struct state *)p)->f;

	flow_program_fini(&f->program);
	free(f->component);
	free(f->executions);
	free(f->calls_in);
	free(f->calls_out);
	free(f->at);
	hash_map_fini(&f->named);
}

const struct frequencies *frequencies_of_report(struct report *r)
{
	struct state *s = r->frequencies;

	if (!s && (r->model->flows.counters.nr || r->model->flows.nr))
		s = r->frequencies = report_add_state(r, sizeof(*s), free_frequencies);
	if (!s)
		return NULL;
	if (!s->made) {
		s->made = true;
		s->has = make_frequencies(r, &s->f) == 0;
	}
	return s->has ? &s->f : NULL;
}

const struct frequency *frequency_of_component(const struct frequencies *f, uint32_t component)
{
	return f && component && component < f->nr_components && f->executions[component].state != FLOW_UNKNOWN ?
		       &f->executions[component] : NULL;
}

uint32_t frequencies_find_component(const struct report *r, const struct frequencies *f, const char *name)
{
	uint32_t found = f && name ? hash_map_find(&f->named, hash_text(name), 0) : 0;
	char spare[32];

	if (!found || strcmp(report_component_own_name(r, f->component[found - 1], spare), name) != 0)
		return COMPONENT_NONE;
	return f->component[found - 1];
}

const uint64_t *frequencies_count_at_address(const struct frequencies *f, uint32_t process, uint64_t address)
{
	const struct address_frequency wanted = { process, address, 0 };
	const struct address_frequency *found = f->nr_at ? bsearch(&wanted, f->at, f->nr_at, sizeof(*f->at), compare_addresses) : NULL;

	return found ? &found->count : NULL;
}

const char *frequency_state_name(enum flow_state state)
{
	static const char *const names[] = {
		[FLOW_UNKNOWN] = "", [FLOW_COUNTED] = "counted", [FLOW_ASSUMED] = "assumed", [FLOW_SOLVED] = "solved",
		[FLOW_ESTIMATED] = "estimated",
	};

	return (unsigned)state < sizeof(names) / sizeof(names[0]) ? names[state] : "";
}
