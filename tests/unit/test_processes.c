/* SPDX-License-Identifier: MIT */
/* Which program ran in a process when, however the rings of processors were drained. */
#include "tests/unit/unit.h"

#include "analyzer/model/processes.h"

#include <stdlib.h>
#include <string.h>

enum { PARENT = 100, CHILD = 200 };

struct moment {
	uint32_t id, pid;
	uint64_t time_ns;
	uint32_t number; /* of the parent, or 1: an exec */
	const char *comm, *executable;
};

static struct trace_value number(uint64_t n)
{
	return (struct trace_value){ .kind = TRACE_UINT, .u = n };
}

static struct trace_value text(const char *s)
{
	return (struct trace_value){ .kind = TRACE_TEXT, .p = s, .bytes = strlen(s) };
}

static void tell(struct model *m, const struct moment *told, int nr)
{
	struct lifetimes l = { 0 };

	*m = (struct model){ 0 };
	for (int i = 0; i < nr; i++) {
		const struct moment *t = &told[i];
		struct trace_record r = { .id = t->id, .pid = t->pid, .tid = t->pid, .time_ns = t->time_ns };

		if (t->id == TRACE_PROCESS) {
			r.nr_values = F_COUNT(process);
			r.values[F(process, executable)] = text(t->executable);
			r.values[F(process, comm)] = text(t->comm);
		} else if (t->id == TRACE_FORK) {
			r.nr_values = F_COUNT(fork);
			r.values[F(fork, ppid)] = number(t->number);
		} else {
			r.nr_values = F_COUNT(comm);
			r.values[F(comm, exec)] = number(t->number);
			r.values[F(comm, comm)] = text(t->comm);
		}
		assert_int_equal(lifetimes_add(&l, &r), 0);
	}
	lifetimes_apply_to_model(&l, m);
}

static void forget(struct model *m)
{
	for (uint32_t i = 0; i < m->processes.nr; i++) {
		free(m->processes.at[i]->comm);
		free(m->processes.at[i]->executable);
		free(m->processes.at[i]);
	}
	free(m->processes.at);
	free(m->numbered.at);
}

static const struct moment history[] = {
	{ TRACE_PROCESS, PARENT, 1, 0, "shell", "/bin/sh" },
	{ TRACE_FORK, CHILD, 10, PARENT, NULL, NULL },
	{ TRACE_COMM, CHILD, 15, 0, "a thread's name", NULL },
	{ TRACE_FORK, CHILD, 18, CHILD, NULL, NULL }, /* a thread */
	{ TRACE_COMM, CHILD, 20, 1, "ls", NULL },
	{ TRACE_COMM, CHILD, 30, 1, "cat", NULL },
};
enum { NR = sizeof(history) / sizeof(history[0]) };

static void check(const struct moment *told)
{
	struct model m;

	tell(&m, told, NR);
	assert_int_equal(m.processes.nr, 4);
	assert_string_equal(model_get_process(&m, CHILD, 12)->comm, "shell");
	assert_string_equal(model_get_process(&m, CHILD, 12)->executable, "/bin/sh");
	assert_ptr_equal(model_get_process(&m, CHILD, 12)->parent, model_get_process(&m, PARENT, 12));
	assert_string_equal(model_get_process(&m, CHILD, 20)->comm, "ls");
	assert_int_equal(model_process_until(&m, model_get_process(&m, CHILD, 25)), 30);
	assert_string_equal(model_get_process(&m, CHILD, 1000)->comm, "cat");
	for (uint64_t at = 12; at < 40; at += 10)
		assert_int_equal(model_get_process(&m, CHILD, at)->parent_pid, PARENT);
	forget(&m);
}

/* The rings of two processors are drained one after the other: an exec may stand before the fork that it follows. */
static void the_order_in_the_trace_does_not_matter(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 500; seed++) {
		struct moment told[NR];
		unsigned random = seed;

		memcpy(told, history, sizeof(told));
		for (int i = NR - 1; seed && i > 0; i--) {
			struct moment other = told[i];
			int k;

			random = random * 1103515245u + 12345;
			k = (int)(random >> 16) % (i + 1);
			told[i] = told[k];
			told[k] = other;
		}
		check(told);
	}
}

/* What `tailor run` starts is the recorder itself until its first exec: that is no process of its own. */
static void what_was_started_is_one_process(void **state)
{
	static const struct moment told[] = { { TRACE_PROCESS, PARENT, 1, 0, "tailor", "" }, { TRACE_COMM, PARENT, 5, 1, "ls", NULL } };
	struct model m;

	(void)state;
	tell(&m, told, 2);
	assert_int_equal(m.processes.nr, 1);
	assert_string_equal(m.processes.at[0]->comm, "ls");
	forget(&m);
}

/* A family that is attached to: its children's births stand before what it is itself. */
static void children_inherit_names_that_come_later(void **state)
{
	static const struct moment told[] = { { TRACE_FORK, CHILD, 10, PARENT, NULL, NULL },
					      { TRACE_PROCESS, PARENT, 20, 0, "postgres", "/bin/postgres" } };
	struct model m;

	(void)state;
	tell(&m, told, 2);
	assert_int_equal(m.processes.nr, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_string_equal(m.processes.at[i]->comm, "postgres");
		assert_string_equal(m.processes.at[i]->executable, "/bin/postgres");
	}
	forget(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_order_in_the_trace_does_not_matter),
		cmocka_unit_test(what_was_started_is_one_process),
		cmocka_unit_test(children_inherit_names_that_come_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
