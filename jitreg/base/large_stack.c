/* SPDX-License-Identifier: MIT */
#include "jitreg/base/large_stack.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#define STACK_BYTES ((size_t)8 << 20) /* this is address space, of which only pages in use take memory */
#define ENOUGH_BYTES ((rlim_t)1 << 20)

static struct {
	int (*run)(int argc, char **argv);
	int argc, result;
	char **argv;
	ucontext_t before, context;
} call;

static void run_call(void)
{
	call.result = call.run(call.argc, call.argv);
}

static void set_stacks_of_threads(void)
{
	pthread_attr_t attributes;

	if (pthread_attr_init(&attributes))
		return;
	if (pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0)
		pthread_setattr_default_np(&attributes);
	pthread_attr_destroy(&attributes);
}

int large_stack_run(int (*run)(int argc, char **argv), int argc, char **argv)
{
	struct rlimit limit;
	void *stack;

	if (getrlimit(RLIMIT_STACK, &limit) || limit.rlim_cur >= ENOUGH_BYTES)
		return run(argc, argv);
	stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
	if (stack == MAP_FAILED || getcontext(&call.context)) {
		fprintf(stderr, "tailor: no memory for a stack of %zu MiB, and the limit is %llu KiB (ulimit -s): %s\n", STACK_BYTES >> 20,
			(unsigned long long)limit.rlim_cur >> 10, strerror(errno));
		return 1;
	}
	set_stacks_of_threads();
	call.run = run;
	call.argc = argc;
	call.argv = argv;
	call.context.uc_stack.ss_sp = stack;
	call.context.uc_stack.ss_size = STACK_BYTES;
	call.context.uc_link = &call.before;
	makecontext(&call.context, run_call, 0);
	swapcontext(&call.before, &call.context);
	return call.result;
}
