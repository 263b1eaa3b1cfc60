/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "analyzer/attribute/stacks.h"

static struct stack_node frame(uint32_t function, uint32_t component)
{
	return (struct stack_node){ .function = function, .component = component };
}

static uint32_t add(struct stacks *s, uint32_t caller, uint32_t function, uint32_t component)
{
	struct stack_node n = frame(function, component);

	return stacks_add(s, caller, &n);
}

static void equal_stacks_share_their_nodes(void **state)
{
	struct stacks s;
	uint32_t main_, a, b;

	(void)state;
	assert_int_equal(stacks_init(&s), 0);
	main_ = add(&s, 0, 1, 0);
	a = add(&s, main_, 2, 0);
	b = add(&s, a, 3, 0);
	assert_int_equal(s.nr, 4);
	assert_int_equal(add(&s, add(&s, add(&s, 0, 1, 0), 2, 0), 3, 0), b);
	assert_int_equal(s.nr, 4);
	assert_int_not_equal(add(&s, main_, 3, 0), b); /* the same function, called from elsewhere */
	assert_int_equal(s.node[b].depth, 2);
	assert_int_equal(s.node[b].caller, a);
	stacks_fini(&s);
}

static void code_without_a_component_is_on_behalf_of_its_callers(void **state)
{
	struct stacks s;
	uint32_t n;

	(void)state;
	assert_int_equal(stacks_init(&s), 0);
	n = add(&s, 0, 1, 0);
	assert_int_equal(s.node[n].component, COMPONENT_NONE);
	n = add(&s, n, 2, 77);
	n = add(&s, n, 3, 0);
	assert_int_equal(s.node[n].component, 77);
	n = add(&s, n, 4, 78);
	assert_int_equal(s.node[add(&s, n, 5, 0)].component, 78);
	stacks_fini(&s);
}

static void many_stacks_are_found_again(void **state)
{
	struct stacks s;
	uint32_t nr;

	(void)state;
	assert_int_equal(stacks_init(&s), 0);
	for (int twice = 0; twice < 2; twice++) {
		for (uint32_t i = 0; i < 20000; i++) {
			uint32_t n = add(&s, add(&s, 0, i % 100, 0), i, 0);

			assert_true(s.node[n].caller < n);
		}
		if (!twice)
			nr = s.nr;
	}
	assert_int_equal(nr, 20101);
	assert_int_equal(s.nr, nr);
	stacks_fini(&s);
}

/* Adding whole stacks, of any depth, gives the nodes that adding them frame by frame gives. */
static void whole_stacks_have_the_nodes_of_their_frames(void **state)
{
	struct stacks whole, single;
	uint32_t random = 1;

	(void)state;
	assert_int_equal(stacks_init(&whole), 0);
	assert_int_equal(stacks_init(&single), 0);
	for (int i = 0; i < 5000; i++) {
		struct stack_node f[200];
		const uint32_t nr = i % 50 ? (uint32_t)i % 7 : 200;
		uint32_t node = 0;

		for (uint32_t n = 0; n < nr; n++) {
			random = random * 1103515245 + 12345;
			f[n] = frame(1 + (random >> 16) % 3, (random >> 20) % 8 ? 0 : 5);
		}
		for (uint32_t n = nr; n > 0; n--)
			node = stacks_add(&single, node, &f[n - 1]);
		assert_int_equal(stacks_add_frames(&whole, f, nr), node);
	}
	assert_int_equal(whole.nr, single.nr);
	assert_memory_equal(whole.node, single.node, whole.nr * sizeof(*whole.node));
	stacks_fini(&whole);
	stacks_fini(&single);
}

static void a_component_leads_up_by_the_largest_share(void **state)
{
	struct dictionary d;
	struct stacks s;
	uint32_t lower, upper[2], task, op, n;

	(void)state;
	assert_int_equal(dictionary_init(&d), 0);
	assert_int_equal(stacks_init(&s), 0);
	task = dictionary_get_level(&d, 2);
	op = dictionary_get_level(&d, 1);
	lower = dictionary_get_component(&d, 0, task, 5);
	upper[0] = dictionary_get_component(&d, 0, op, 1);
	upper[1] = dictionary_get_component(&d, 0, op, 2);
	dictionary_link(&d, lower, upper[0], 1, 0);
	dictionary_link(&d, lower, upper[1], 3, 0);
	dictionary_rank_levels(&d);
	n = add(&s, add(&s, 0, 1, 0), 2, lower);
	assert_int_equal(stacks_component(&s, &d, n, task), lower);
	assert_int_equal(stacks_component(&s, &d, n, op), upper[1]);
	assert_int_equal(stacks_component(&s, &d, s.node[n].caller, op), COMPONENT_NONE);
	stacks_fini(&s);
	dictionary_fini(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_share_their_nodes),
		cmocka_unit_test(code_without_a_component_is_on_behalf_of_its_callers),
		cmocka_unit_test(many_stacks_are_found_again),
		cmocka_unit_test(whole_stacks_have_the_nodes_of_their_frames),
		cmocka_unit_test(a_component_leads_up_by_the_largest_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
