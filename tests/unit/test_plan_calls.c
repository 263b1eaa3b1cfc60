/* SPDX-License-Identifier: MIT */
/* Functions and queries that plans call, found along call stacks. */
#include "analyzer/objects/plan_walk.h"
#include "tests/unit/plan_stacks.h"

#define CALL FUNCTION(9) /* executes stored functions */
enum { STORED_A = 20, STORED_B };

static void put_stored(uint64_t component, const char *name)
{
	const uint64_t of[][2] = { { NODE, component } }, call = CALL;

	put_component(PID, NODE, component, JITREG_COMPONENT_COMMON, name);
	put_object(PID, 10, AT(component), 0, JITREG_OBJECT_CLASS | JITREG_OBJECT_CALLED, 1, &call, 1, of);
}

static void put_server(void)
{
	PUT(level, PID, 1, .level = NODE, .flags = JITREG_LEVEL_PLAN, .name = trace_string("node"));
	put_outer(10);
	put_inner(10);
	put_stored(STORED_A, "a()");
	put_stored(STORED_B, "b()");
	finish();
}

/* Returns the name of what the sample's node is below in its plan. */
static const char *name_above(void)
{
	const struct dictionary *d = &model->dictionary;
	const uint32_t node = x.paths.row[0].component[dictionary_get_level(&model->dictionary, NODE)];

	for (uint32_t i = 0; i < d->edges.nr; i++)
		if (d->edges.at[i].from == node)
			return d->components.at[d->edges.at[i].to].name;
	return "";
}

static void a_function_has_a_place_below_what_calls_it(void **state)
{
	(void)state;
	put_server();
	ASK({ OTHER, 0 }, { CALL, AT(STORED_A) }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("a()", "outer");
	assert_string_equal(name_above(), "hash");
	/* by a word of the frame, and called by another function */
	ASK({ OTHER, 0 }, { CALL, 0 }, { OTHER, AT(STORED_B) }, { CALL, AT(STORED_A) }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("b()", "outer");
	ASK({ OTHER, 0 }, { CALL, AT(STORED_B) }, { CALL, AT(STORED_A) }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("b()", "outer");
	assert_string_equal(name_above(), "a()");
	/* the function's own call of a class of work; a function that calls itself */
	ASK({ OTHER, 0 }, { SORT, 0 }, { CALL, AT(STORED_A) }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("(sorting)", "outer");
	assert_string_equal(name_above(), "a()");
	ASK({ OTHER, 0 }, { CALL, AT(STORED_A) }, { CALL, AT(STORED_B) }, { CALL, AT(STORED_A) }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("a()", "outer");
	assert_string_equal(name_above(), "hash");
	/* a frame of which no function is known */
	ASK({ OTHER, 0 }, { CALL, 0x7777 }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("hash", "outer");
	assert_int_equal(x.answer.caller, CALLER_NONE);
}

static void a_query_in_a_function_has_a_caller(void **state)
{
	const struct caller *c;

	(void)state;
	put_server();
	ASK({ OTHER, 0 }, { SCAN, 0 }, Q(INNER), { CALL, AT(STORED_A) }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("inner scan", "inner");
	c = &model->callers.at[x.answer.caller];
	assert_string_equal(model->dictionary.components.at[c->component].name, "a()");
	assert_string_equal(model->dictionary.components.at[c->query].name, "outer");
	assert_int_equal(c->outer, CALLER_NONE);
	/* a trigger's query, which a class of work calls */
	ASK({ OTHER, 0 }, { SCAN, 0 }, Q(INNER), { SORT, 0 }, { OTHER, 0 }, Q(OUTER));
	c = &model->callers.at[x.answer.caller];
	assert_string_equal(model->dictionary.components.at[c->component].name, "(sorting)");
	/* work of a class that is in no query */
	ASK({ OTHER, 0 }, { SCAN, 0 }, Q(INNER), { SORT, 0 }, { OTHER, 0 });
	assert_int_equal(x.answer.caller, CALLER_NONE);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	static const struct CMUnitTest tests[] = {
		CASE(a_function_has_a_place_below_what_calls_it),
		CASE(a_query_in_a_function_has_a_caller),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
