/* SPDX-License-Identifier: MIT */
/*
 * A V8 of a version that nobody knows yet: v8_of_tomorrow ROUNDS (0: until SIGTERM) [LIBRARY].  It exports V8's interface, and runs
 * code that it generated.  A profiler may ask for the version: whoever calls anything else is named on standard error, and the exit status
 * is 3.  LIBRARY: the interface is in one that it opens (built with -DLIBRARY); there the version needs the library to be relocated.
 * With -DYESTERDAY it is a V8 that is known and has not begun: what would be its isolate is another library's.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifndef PROGRAM
/* V8 has it in a variable; that a function returns it is what a library of several parts would do. */
const char *v8_version_inside(void);
const char *v8_version_inside(void)
{
#ifdef YESTERDAY
	return "9.4.146";
#else
	return "99.1.2";
#endif
}
#ifdef YESTERDAY
int _ZN2v88internal7Isolate12isolate_key_E;
#endif

const char *_ZN2v82V810GetVersionEv(void);
const char *_ZN2v82V810GetVersionEv(void)
{
	return v8_version_inside();
}

#define MUST_NOT_BE_CALLED(name) \
	void name(void); \
	void name(void) \
	{ \
		static const char says[] = #name " was called\n"; \
		if (write(STDERR_FILENO, says, sizeof(says) - 1) >= 0) \
			_exit(3); \
	}
MUST_NOT_BE_CALLED(_ZN2v87Isolate13TryGetCurrentEv)
MUST_NOT_BE_CALLED(_ZN2v87Isolate9InContextEv)
MUST_NOT_BE_CALLED(_ZN2v87Isolate22SetJitCodeEventHandlerENS_19JitCodeEventOptionsEPFvPKNS_12JitCodeEventEE)
MUST_NOT_BE_CALLED(_ZN2v87Isolate16RequestInterruptEPFvPS0_PvES2_)
MUST_NOT_BE_CALLED(_ZN2v813UnboundScript13GetLineNumberEi)

/* V8 asks for the time whenever it compiles. */
long v8_compile(void);
long v8_compile(void)
{
	struct timespec now;

	return clock_gettime(CLOCK_MONOTONIC, &now);
}
#endif

#ifndef LIBRARY
/* mov rax, rdi; mov ecx, 1000000; loop: imul rax, rdi; inc rax; dec ecx; jnz loop; ret */
static const unsigned char code[] = { 0x48, 0x89, 0xf8, 0xb9, 0x40, 0x42, 0x0f, 0x00, 0x48, 0x0f, 0xaf, 0xc7,
				      0x48, 0xff, 0xc0, 0xff, 0xc9, 0x75, 0xf5, 0xc3 };

static volatile sig_atomic_t enough;

static void on_term(int signal)
{
	(void)signal;
	enough = 1;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1;
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *library = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;
	long (*compile)(void) = (long (*)(void))(uintptr_t)dlsym(library ? library : RTLD_DEFAULT, "v8_compile");
	uint64_t (*function)(uint64_t) = (uint64_t (*)(uint64_t))(uintptr_t)memory, x = 3;

	if (memory == MAP_FAILED || !compile || signal(SIGTERM, on_term) == SIG_ERR)
		return 2;
	memcpy(memory, code, sizeof(code));
	for (long i = 0; rounds ? i < rounds : !enough; i++) {
		x = function(x);
		if (compile())
			return 2;
	}
	if (rounds)
		printf("%016llx\n", (unsigned long long)x);
	else
		puts("enough");
	return 7;
}
#endif
