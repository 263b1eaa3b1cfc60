/* SPDX-License-Identifier: MIT */
/*
 * A program that opens libraries by dlopen, one after the other, which have what the agent looks for and no more: users of PCRE2, Mono's
 * library, MoarVM's, and SQLite's.  Each is built from this file, with -DPCRE2, -DUSER, -DMONO, -DMOARVM or -DSQLITE.  opened FOLDER
 * lazy|now NAME... prints what the library of each name returns.  "missing" calls a function that is nowhere, so with "now" it is unloaded
 * before it is relocated.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int use(void);

#if defined(PCRE2)

static struct code {
	void *memory[4];
	struct {
		void *code[3], *data[3];
		size_t bytes[3];
	} *jit;
} code;

void *pcre2_compile_8(const unsigned char *pattern, size_t bytes, uint32_t options, int *error, size_t *offset, void *context)
{
	return pattern && !options && error && offset && !context && bytes ? &code : NULL;
}

int pcre2_jit_compile_8(struct code *c, uint32_t options)
{
	c->jit = calloc(1, sizeof(*c->jit));
	c->jit->code[0] = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	c->jit->bytes[0] = 64;
	return options != 1;
}

int pcre2_pattern_info_8(const struct code *c, uint32_t what, size_t *where)
{
	*where = c->jit->bytes[0];
	return what != 10;
}

#elif defined(USER)

void *pcre2_compile_8(const unsigned char *pattern, size_t bytes, uint32_t options, int *error, size_t *offset, void *context);
int pcre2_jit_compile_8(void *code, uint32_t options);

#ifdef MISSING
int function_that_is_nowhere(void);
#endif

int use(void)
{
	size_t offset;
	int error;
	void *code = pcre2_compile_8((const unsigned char *)"opened late", 11, 0, &error, &offset, NULL);

#ifdef MISSING
	if (!code)
		return function_that_is_nowhere();
#endif
	return code && pcre2_jit_compile_8(code, 1) == 0;
}

#elif defined(MONO)

static void (*done)(void *profiler, void *method, void *jit);

void *mono_profiler_create(void *profiler)
{
	return profiler ? NULL : calloc(1, 64); /* a call through a slot, which has to be relocated */
}

void mono_profiler_set_jit_done_callback(void *profiler, void *callback)
{
	if (profiler)
		memcpy(&done, &callback, sizeof(callback));
}

char *mono_method_full_name(void *method, int signature)
{
	return method && signature ? strdup("Late:Main ()") : NULL;
}

void *mono_jit_info_get_code_start(void *jit)
{
	return jit;
}

int mono_jit_info_get_code_size(void *jit)
{
	return jit ? 64 : 0;
}

void mono_free(void *p)
{
	free(p);
}

int use(void)
{
	static char code[64] = { (char)0xc3 };

	if (done)
		done(NULL, code, code);
	return 2;
}

#elif defined(MOARVM)

void *MVM_vm_create_instance(void)
{
	const char *wanted = getenv("MVM_JIT_PERF_MAP");
	FILE *map = wanted ? fopen("/tmp/perf-opened.map", "w") : NULL;

	if (map) {
		fprintf(map, "%lx 40 late frame\n", (unsigned long)(uintptr_t)MVM_vm_create_instance);
		fclose(map);
	}
	return map;
}

int use(void)
{
	MVM_vm_create_instance();
	return 3;
}

#elif defined(SQLITE)

int sqlite3_step(void *statement)
{
	return statement ? 100 : 21;
}

const char *sqlite3_libversion(void)
{
	return getenv("HOME") ? "3.0.1" : "3.0.2"; /* a call through a slot */
}

int use(void)
{
	return 4;
}

#else

static int use_library(const char *folder, const char *name, int how)
{
	char path[4096];
	void *library;
	int (*call)(void);

	snprintf(path, sizeof(path), "%s/libopened-%s.so", folder, name);
	library = dlopen(path, how);
	if (!library || !(*(void **)&call = dlsym(library, "use")))
		return -1;
	return call();
}

int main(int argc, char **argv)
{
	int how = argc > 2 && strcmp(argv[2], "lazy") == 0 ? RTLD_LAZY : RTLD_NOW;

	for (int i = 3; i < argc; i++)
		printf("%s: %d\n", argv[i], use_library(argv[1], argv[i], how));
	return argc > 3 ? 0 : 2;
}

#endif
