/* SPDX-License-Identifier: MIT */
/*
 * A CPython that tailor leaves alone: python_of_tomorrow ROUNDS (0: until SIGTERM) [LIBRARY].  It exports CPython's interface, and reports
 * the version in PLANTED_VERSION.  A profiler may ask for the version: whoever calls anything else is named on standard error, and the exit
 * status is 3.  LIBRARY: the interface is in one that it opens (built with -DLIBRARY).
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef PROGRAM
const char *Py_GetVersion(void);
const char *Py_GetVersion(void)
{
	const char *version = getenv("PLANTED_VERSION");

	return version ? version : "3.99.1 (main, Jan  1 2030, 00:00:00) [GCC]";
}

#define MUST_NOT_BE_CALLED(name) \
	void name(void); \
	void name(void) \
	{ \
		static const char says[] = #name " was called\n"; \
		if (write(STDERR_FILENO, says, sizeof(says) - 1) >= 0) \
			_exit(3); \
	}
MUST_NOT_BE_CALLED(PyThreadState_GetUnchecked)
MUST_NOT_BE_CALLED(PyGILState_GetThisThreadState)
MUST_NOT_BE_CALLED(PyInterpreterState_Get)
MUST_NOT_BE_CALLED(PyUnstable_Eval_RequestCodeExtraIndex)
MUST_NOT_BE_CALLED(_PyInterpreterState_GetEvalFrameFunc)
MUST_NOT_BE_CALLED(_PyInterpreterState_SetEvalFrameFunc)
MUST_NOT_BE_CALLED(Py_IsInitialized)
MUST_NOT_BE_CALLED(Py_AddPendingCall)

/* CPython asks for it when it begins. */
uint64_t _PyEval_EvalFrameDefault(uint64_t x);
uint64_t _PyEval_EvalFrameDefault(uint64_t x)
{
	if (fileno(stdin) != 0)
		return 0;
	for (int i = 0; i < 1000000; i++)
		x = x * 3 + 1;
	return x;
}
#endif

#ifndef LIBRARY
static volatile sig_atomic_t enough;

static void on_term(int signal)
{
	(void)signal;
	enough = 1;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1;
	void *library = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
	uint64_t (*evaluate)(uint64_t) =
		(uint64_t(*)(uint64_t))(uintptr_t)dlsym(library ? library : RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
	uint64_t x = 3;

	if (!evaluate || signal(SIGTERM, on_term) == SIG_ERR)
		return 2;
	for (long i = 0; rounds ? i < rounds : !enough; i++)
		x = evaluate(x);
	if (rounds)
		printf("%016llx\n", (unsigned long long)x);
	else
		puts("enough");
	return 7;
}
#endif
