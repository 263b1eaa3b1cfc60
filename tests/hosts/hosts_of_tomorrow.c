/* SPDX-License-Identifier: MIT */
/*
 * Hosts of versions that nobody knows yet, or without a part that is needed, one for each of -DCPYTHON, -DDUCKDB, -DSQLITE, -DRUBY,
 * -DLUAJIT, -DPHP, -DERLANG, -DOPENJDK (a libjvm.so without tables): NAME_of_tomorrow ROUNDS (0: until SIGTERM).  Each exports its
 * host's interface, and runs code that it generated.
 * -DLIBRARY: the interface alone; -DPROGRAM: a program without it.  A profiler may ask for the version: a call of a
 * function that a version could have changed is named on standard error, and the exit status is 3.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MUST_NOT_BE_CALLED(name) \
	void name(void); \
	void name(void) \
	{ \
		static const char says[] = #name " was called\n"; \
		if (write(STDERR_FILENO, says, sizeof(says) - 1) >= 0) \
			_exit(3); \
	}
#define VERSION(function, text) \
	const char *function(void); \
	const char *function(void) \
	{ \
		return text; \
	}

#if defined(PROGRAM)
#elif defined(CPYTHON)
VERSION(Py_GetVersion, "3.99.1 (main, Jan 1 2030)")
extern const unsigned long Py_Version;
const unsigned long Py_Version = 0x036301f0;
MUST_NOT_BE_CALLED(_PyEval_EvalFrameDefault)
MUST_NOT_BE_CALLED(PyThreadState_GetUnchecked)
MUST_NOT_BE_CALLED(PyGILState_GetThisThreadState)
MUST_NOT_BE_CALLED(PyInterpreterState_Get)
MUST_NOT_BE_CALLED(PyUnstable_Eval_RequestCodeExtraIndex)
MUST_NOT_BE_CALLED(PyUnstable_Code_GetExtra)
MUST_NOT_BE_CALLED(PyUnstable_Code_SetExtra)
MUST_NOT_BE_CALLED(Py_DecRef)
MUST_NOT_BE_CALLED(PyObject_GetAttrString)
MUST_NOT_BE_CALLED(PyUnicode_AsUTF8)
MUST_NOT_BE_CALLED(PyLong_AsLong)
MUST_NOT_BE_CALLED(PyErr_Fetch)
MUST_NOT_BE_CALLED(PyErr_Restore)
MUST_NOT_BE_CALLED(PyCode_Type)
MUST_NOT_BE_CALLED(_PyInterpreterState_GetEvalFrameFunc)
MUST_NOT_BE_CALLED(_PyInterpreterState_SetEvalFrameFunc)
MUST_NOT_BE_CALLED(PyUnstable_InterpreterFrame_GetCode)
#elif defined(DUCKDB)
VERSION(duckdb_library_version, "v9.9.1")
MUST_NOT_BE_CALLED(duckdb_open)
#elif defined(SQLITE)
VERSION(sqlite3_libversion, "9.99.1")
MUST_NOT_BE_CALLED(sqlite3_step)
#elif defined(RUBY)
extern const char ruby_version[], rb_yjit_enabled_p;
const char ruby_version[] = "9.9.1", rb_yjit_enabled_p = 1;
/* An option of YJIT's: none is known. */
bool rb_yjit_parse_option(const char *text);
bool rb_yjit_parse_option(const char *text)
{
	return !text;
}
#elif defined(LUAJIT)
MUST_NOT_BE_CALLED(luaJIT_setmode)
MUST_NOT_BE_CALLED(luaL_openlibs)
#elif defined(PHP)
#define STARTS() getenv("PHP_INI_SCAN_DIR")
MUST_NOT_BE_CALLED(php_module_startup)
/* The command's, but for its settings as one text. */
extern const char *sapi_module[64];
const char *sapi_module[64] = { "cli", "Command Line Interface" };
#elif defined(ERLANG)
#define STARTS() register_code()
extern int erts_frame_layout, erts_jit_perf_support;
int erts_frame_layout = 1, erts_jit_perf_support;
/* The GDB JIT interface, with an entry that is neither ELF nor BEAM's. */
static const char form[] = "a form that nobody knows yet";
static struct entry {
	struct entry *next, *prev;
	const char *symbols;
	uint64_t bytes;
} entry = { NULL, NULL, form, sizeof(form) };
struct descriptor {
	uint32_t version, action;
	struct entry *relevant, *first;
};
extern struct descriptor __jit_debug_descriptor;
struct descriptor __jit_debug_descriptor = { 1, 0, NULL, NULL };
void __jit_debug_register_code(void);
__attribute__((noinline, aligned(16))) void __jit_debug_register_code(void)
{
	__asm__ volatile("" ::: "memory");
}
__attribute__((noinline, aligned(16))) static void register_code(void)
{
	__jit_debug_descriptor.relevant = __jit_debug_descriptor.first = &entry;
	__jit_debug_descriptor.action = 1;
	__jit_debug_register_code();
}
#elif defined(OPENJDK)
MUST_NOT_BE_CALLED(JNI_CreateJavaVM)
#endif

#ifndef LIBRARY
#ifndef STARTS
#define STARTS() 0
#endif
/* mov rax, rdi; mov ecx, 1000000; loop: imul rax, rdi; inc rax; dec ecx; jnz loop; ret */
static const unsigned char code[] = { 0x48, 0x89, 0xf8, 0xb9, 0x40, 0x42, 0x0f, 0x00, 0x48, 0x0f, 0xaf, 0xc7,
				      0x48, 0xff, 0xc0, 0xff, 0xc9, 0x75, 0xf5, 0xc3 };

static volatile sig_atomic_t enough;

static void on_term(int signal)
{
	(void)signal;
	enough = 1;
}

/* What an interpreter asks the system for, and a JIT that writes a perf map. */
static bool begin(void)
{
	int fd = open("/dev/null", O_WRONLY);

	(void)STARTS();
	return fileno(stdin) == 0 && fd >= 0 && write(fd, "", 1) == 1 && close(fd) == 0 && unlink("/nonexistent/file");
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1;
	void *memory = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t (*function)(uint64_t) = (uint64_t (*)(uint64_t))(uintptr_t)memory, x = 3;

	if (memory == MAP_FAILED || signal(SIGTERM, on_term) == SIG_ERR || !begin() || mprotect(memory, 4096, PROT_READ | PROT_WRITE))
		return 2;
	memcpy(memory, code, sizeof(code));
	if (mprotect(memory, 4096, PROT_READ | PROT_EXEC))
		return 2;
	for (long i = 0; rounds ? i < rounds : !enough; i++)
		x = function(x);
	if (rounds)
		printf("%016llx\n", (unsigned long long)x);
	else
		puts("enough");
	return 7;
}
#endif
