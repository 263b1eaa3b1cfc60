/* SPDX-License-Identifier: MIT */
/*
 * Finds out how deep calls of Python functions may be that take C stack because of the agent.  The stack limits it in all versions.  3.12
 * and 3.13 limit the number of calls through C, too, whatever the stack. Their calls through trampolines are not counted, so that a program
 * may make as many calls through C as without the agent.
 */
#include "shim/libraries/python.h"

#include <errno.h>
#include <pthread.h>

#define STACK_PART 4		 /* the stack is deep beyond a quarter of its size */
#define STACK_UNKNOWN_BYTES 65536 /* bytes below a thread's first check that are taken for that quarter if the size is not known */

static __thread uintptr_t deep_below __attribute__((tls_model("initial-exec")));

/* The functions are looked up, because they are in libpthread before glibc 2.34. */
static bool read_stack_bounds(void **lowest, size_t *bytes)
{
	static void *getattr, *getstack, *destroy;
	pthread_attr_t attributes;
	bool is_known;

	if (guest_is_confined() || !objects_find_next_cached("pthread_getattr_np", &getattr) ||
	    !objects_find_next_cached("pthread_attr_getstack", &getstack) || !objects_find_next_cached("pthread_attr_destroy", &destroy))
		return false;
	if (((int (*)(pthread_t, pthread_attr_t *))getattr)(pthread_self(), &attributes))
		return false;
	is_known = !((int (*)(const pthread_attr_t *, void **, size_t *))getstack)(&attributes, lowest, bytes);
	((int (*)(pthread_attr_t *))destroy)(&attributes);
	return is_known;
}

static void find_deep_part(uintptr_t now)
{
	int saved = errno;
	void *lowest;
	size_t bytes;

	if (read_stack_bounds(&lowest, &bytes) && now - (uintptr_t)lowest < bytes)
		deep_below = (uintptr_t)lowest + bytes - bytes / STACK_PART;
	else
		deep_below = now - STACK_UNKNOWN_BYTES;
	errno = saved;
}

bool python_stack_is_deep(void)
{
	uintptr_t now = (uintptr_t)__builtin_frame_address(0);

	if (!deep_below)
		find_deep_part(now);
	return now < deep_below;
}

/* ----------------------------------------------------------------------------------------------------- calls through C */

#define THREAD_NUMBERS 32    /* numbers at the beginning of a thread's state that are searched */
#define CALLS_OF_A_FRAME 2   /* calls through C that 3.12 and 3.13 count for one frame through a trampoline */

/* A thread's state has, one behind the other, how many more calls of Python functions it may make, the recursion limit, and how many more
 * calls through C. The headers of 3.12 and 3.13 show them to extensions (greenlet changes them), so all releases of a version have them in
 * the same place, which is another one in the other version. */
static struct {
	uint32_t number; /* index of the number of calls that are left; 0: not found */
	int32_t most;	 /* the number in a thread that has made none */
} c_calls;

/* Are these three numbers like the calls of Python functions that are left, the limit, and the calls through C that are left? */
static bool is_like_limits(const int32_t *number, int32_t limit)
{
	return limit > 0 && number[1] == limit && number[0] > 0 && number[0] <= limit && number[2] > 0 && number[2] <= c_calls.most;
}

/* A thread that has made no call has the limit twice, so that two places side by side can be alike. The second one is right then. */
void python_find_c_calls(int minor, const int32_t *thread, int32_t recursion_limit)
{
	c_calls.number = 0;
	c_calls.most = minor == 12 ? 1500 : minor == 13 ? 10000 : 0;
	for (uint32_t i = 2; i < THREAD_NUMBERS; i++) {
		if (!is_like_limits(thread + i - 2, recursion_limit))
			continue;
		if (c_calls.number && c_calls.number + 1 != i) { /* two places apart: which one is right is not known */
			c_calls.number = 0;
			return;
		}
		c_calls.number = i;
	}
}

int32_t *python_c_calls(int32_t *thread, int32_t *more)
{
	int32_t *left = thread + c_calls.number;

	if (!c_calls.number)
		return NULL;
	*more = *left <= c_calls.most - CALLS_OF_A_FRAME ? CALLS_OF_A_FRAME : 0;
	return left;
}
