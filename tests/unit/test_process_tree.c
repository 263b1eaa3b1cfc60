/* SPDX-License-Identifier: MIT */
/* Which processes belong to one that is attached to, and which have a name. */
#include "tests/unit/unit.h"

#include "agent/recorder/process/attach_list.h"
#include "agent/recorder/process/process_names.h"
#include "agent/recorder/process/process_tree.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OWN_MS 30

static void work(int ms)
{
	struct timespec t;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
}

/* A process that has worked for a while, and sleeps, as do its child and its grandchild. */
struct family {
	pid_t parent, child, grandchild;
};

static struct family start_family(int parent_ms)
{
	struct family f = { 0 };
	char said;
	int ready[2];

	assert_int_equal(pipe(ready), 0);
	f.parent = fork();
	if (f.parent == 0) {
		pid_t child = fork();

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (child == 0) {
			pid_t grandchild = fork();

			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (grandchild != 0 && write(ready[1], "", 1) < 0)
				_exit(1);
			for (;;)
				pause();
		}
		work(parent_ms);
		if (write(ready[1], "", 1) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(read(ready[0], &said, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return f;
}

static void find_family(struct family *f, struct process_tree *t)
{
	assert_int_equal(process_tree_update(t), 0);
	for (uint32_t i = 0; i < t->nr; i++)
		if (t->at[i].parent == f->parent)
			f->child = t->at[i].pid;
	for (uint32_t i = 0; i < t->nr; i++)
		if (t->at[i].parent == f->child)
			f->grandchild = t->at[i].pid;
	assert_true(f->child && f->grandchild);
}

static void end_family(const struct family *f)
{
	kill(f->grandchild, SIGKILL);
	kill(f->child, SIGKILL);
	kill(f->parent, SIGKILL);
	waitpid(f->parent, NULL, 0);
}

static void descendants_are_wanted_with_their_ancestor(void **state)
{
	struct family f = start_family(0);
	struct process_tree t = { 0 };

	(void)state;
	find_family(&f, &t);
	process_tree_find(&t, f.parent)->wanted = PROCESS_ALONE;
	assert_true(process_tree_is_wanted(&t, process_tree_find(&t, f.parent)));
	assert_false(process_tree_is_wanted(&t, process_tree_find(&t, f.grandchild)));
	process_tree_find(&t, f.parent)->wanted = PROCESS_WITH_DESCENDANTS;
	assert_true(process_tree_is_wanted(&t, process_tree_find(&t, f.child)));
	assert_true(process_tree_is_wanted(&t, process_tree_find(&t, f.grandchild)));
	assert_false(process_tree_is_wanted(&t, process_tree_find(&t, getpid())));
	assert_null(process_tree_find(&t, 0));
	process_tree_fini(&t);
	end_family(&f);
}

static void descendants_of_process_1_are_all(void **state)
{
	struct process_tree t = { 0 };
	struct process_node *first;

	(void)state;
	assert_int_equal(process_tree_update(&t), 0);
	first = process_tree_find(&t, 1);
	if (first) {
		first->wanted = PROCESS_WITH_DESCENDANTS;
		assert_true(process_tree_is_wanted(&t, process_tree_find(&t, getpid())) || getppid() == 0);
	}
	process_tree_fini(&t);
}

static void workers_of_a_process_that_sleeps_count(void **state)
{
	struct family f = start_family(OWN_MS);
	struct process_tree t = { 0 };

	(void)state;
	find_family(&f, &t);
	assert_int_equal(process_tree_works_below(&t, f.parent), 2);
	process_tree_find(&t, f.child)->wanted = PROCESS_ALONE; /* named itself */
	assert_int_equal(process_tree_works_below(&t, f.parent), 1);
	assert_int_equal(process_tree_works_below(&t, f.grandchild), 0);
	process_tree_fini(&t);
	end_family(&f);
}

static int note_pid(void *found, pid_t pid)
{
	pid_t *wanted = found;

	return *wanted == pid ? 1 : 0;
}

static int find_named(const char *expression, pid_t wanted)
{
	struct process_names *names;
	int ret = process_names_open(&(struct names_wanted){ .expression = expression }, &names);

	if (ret)
		return ret;
	ret = process_names_each(names, note_pid, &wanted);
	process_names_close(names);
	return ret;
}

static void processes_have_names(void **state)
{
	struct family f = start_family(0);
	struct process_tree t = { 0 };
	struct attach_list l = { 0 };
	struct diag d = { "" };
	pid_t self = getpid();

	(void)state;
	find_family(&f, &t);
	assert_int_equal(find_named("[", f.child), -EINVAL);
	assert_int_equal(find_named("no such .* name$", f.child), 0);
	assert_int_equal(find_named(".", self), 0); /* this program is never meant */
	assert_int_equal(attach_list_add_named(&l, &(struct names_wanted){ .expression = "no such .* name$" }, &d), -ESRCH);
	assert_non_null(strstr(d.text, "no such .* name$"));
	assert_int_equal(attach_list_add(&l, f.child, &d), 0);
	assert_int_equal(attach_list_add(&l, f.child, &d), 0);
	assert_int_equal(l.nr, 1); /* once */
	assert_non_null(attach_list_find(&l, f.child));
	assert_null(attach_list_find(&l, f.parent));
	attach_list_fini(&l);
	process_tree_fini(&t);
	end_family(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descendants_are_wanted_with_their_ancestor),
		cmocka_unit_test(descendants_of_process_1_are_all),
		cmocka_unit_test(workers_of_a_process_that_sleeps_count),
		cmocka_unit_test(processes_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
