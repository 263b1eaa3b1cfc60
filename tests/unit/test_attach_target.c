/* SPDX-License-Identifier: MIT */
/* A process that ends between two looks at it is said to have ended, whatever the look missed. */
#include "tests/unit/unit.h"

#include "agent/recorder/inject/inject.h"
#include "agent/recorder/process/attach_target.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void serve(void *context)
{
	(void)context;
}

static void end_and(bool wait_for, struct attach_target *t)
{
	struct diag d = { "" };
	pid_t pid = child();

	assert_int_equal(attach_target_inspect(pid, t, &d), 0);
	kill(pid, SIGKILL);
	if (wait_for)
		waitpid(pid, NULL, 0);
	else /* a zombie: it ends without anybody taking its number */
		assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
}

static void every_step_says_that_it_ended(void **state)
{
	(void)state;
	for (int waited = 0; waited < 2; waited++) {
		struct diag looked = { "" }, injected = { "" };
		struct attach_target t;

		end_and(waited, &t);
		assert_int_equal(inject_check_preconditions(&t, "/proc/self/exe", &looked), -ESRCH);
		assert_int_equal(inject(&t, true, "/proc/self/exe", "socket", serve, NULL, &injected), -ESRCH);
		if (!waited)
			waitpid(t.pid, NULL, 0);
		assert_non_null(strstr(looked.text, "exited while tailor attached to it"));
		assert_string_equal(injected.text, looked.text);
	}
}

static void other_reasons_stay(void **state)
{
	struct diag d = { "" };
	struct attach_target t;
	pid_t pid = child();
	int ret;

	(void)state;
	assert_int_equal(attach_target_inspect(pid, &t, &d), 0);
	t.is_static = true;
	ret = inject_check_preconditions(&t, "/proc/self/exe", &d);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(ret, -ENOTSUP);
	assert_non_null(strstr(d.text, "it is statically linked"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_step_says_that_it_ended),
		cmocka_unit_test(other_reasons_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
