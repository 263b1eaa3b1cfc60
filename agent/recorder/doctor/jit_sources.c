/* SPDX-License-Identifier: MIT */
#include "agent/recorder/doctor/jit_sources.h"

#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OBJECTS_MAX 1024
#define PATH_BYTES 4096

/*
 * What an object has when it offers something: a symbol; and a word that programs have which are not running, in their file or in
 * the names of the libraries that they load.
 */
static const struct offer {
	const char *name, *symbol, *word, *says;
} offers[] = {
	{ "GDB JIT interface", "__jit_debug_register_code", "libLLVM", "names, lines and frames of what is registered for debuggers" },
	{ "V8's code events", "_ZN2v87Isolate22SetJitCodeEventHandlerENS_19JitCodeEventOptionsEPFvPKNS_12JitCodeEventEE", "libnode.so",
	  "names and lines, by the agent's adapter (tailor run); else --perf-prof or --perf-basic-prof" },
	{ "JVMTI", "JNI_CreateJavaVM", "libjli.so",
	  "names and lines, by the agent's adapter (tailor run java ...); else -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit" },
	{ "jit.attach", "luaJIT_setmode", "libluajit", "traces by the line where they start, by the agent's adapter (tailor run)" },
	{ "Mono's profiler events", "mono_profiler_set_jit_done_callback", "libmonosgen",
	  "names, and lines with --debug, by the agent's adapter (tailor run); else --jitmap" },
	{ "opcache.jit_debug", "php_module_startup", "libphp",
	  "names, by the agent's adapter (tailor run); else -d opcache.jit_debug=0x100" },
	{ "jit_debugging_support", "_PG_jit_provider_init", "llvmjit.so",
	  "names, by the agent's adapter (tailor run); else the setting of that name" },
	{ "JSC_useJITDump", "JSGlobalContextCreate", "libjavascriptcoregtk",
	  "names, by the agent's adapter (tailor run); else JSC_useJITDump=1 JSC_jitDumpDirectory=/tmp in the environment" },
	{ "BUN_JSC_useJITDump", NULL, "BUN_JSC_", "names: BUN_JSC_useJITDump=1 BUN_JSC_jitDumpDirectory=/tmp in the environment" },
	{ "deno's --v8-flags", NULL, "deno_core", "names and lines: --v8-flags=--perf-prof,--perf-prof-delete-file" },
	{ "YJIT, MJIT", "ruby_init", "libruby",
	  "names and lines of 3.1's YJIT, by the agent's adapter (tailor run); libraries that MJIT writes" },
	{ "Erlang's GDB JIT", NULL, "erlexec", "names and lines of what beam.smp registers for debuggers" },
	{ "GUILE_JIT_LOG", "scm_boot_guile", "libguile", "names: GUILE_JIT_LOG=1 in the environment" },
	{ "NUMBA_DEBUGINFO", "LLVMPY_CreateMCJITCompiler", "libllvmlite", "source lines as well: NUMBA_DEBUGINFO=1 in the environment" },
	{ "pocl's libraries", "POclGetPlatformInfo", "libOpenCL", "kernels by the name that they have in libraries which pocl writes" },
	{ "SpiderMonkey", "_Z13JS_NewContextjP9JSRuntime", "libmozjs", "tells nobody: its code only as a region" },
	{ "PyPy's loops", "pypy_main_startup", "libpypy", "names by the line where they start, by the agent's adapter (tailor run)" },
};
#define NR_OFFERS (sizeof(offers) / sizeof(offers[0]))

struct look {
	pid_t pid;
	void (*each)(void *context, const struct channel *c);
	void *context;
	int nr;
	uint64_t executable_bytes; /* without a file */
	uint64_t bases[OBJECTS_MAX]; /* that were looked at */
	int nr_bases;
};

static void tell(struct look *l, const char *name, const char *object, bool in_use, const char *says)
{
	struct channel c = { name, object, in_use, says };

	l->each(l->context, &c);
	l->nr++;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Has the list of the GDB JIT interface ever had an entry? */
static bool is_registered(pid_t pid, uint64_t base)
{
	struct {
		uint32_t version, action;
		uint64_t relevant, first;
	} d;
	uint64_t address = proc_mem_find_symbol(pid, base, "__jit_debug_descriptor");

	return address && proc_mem_read(pid, address, &d, sizeof(d)) == 0 && (d.action || d.relevant || d.first);
}

static bool is_dump(const char *name)
{
	size_t bytes = strlen(name);

	return strncmp(name, "jit-", 4) == 0 && bytes > 9 && strcmp(name + bytes - 5, ".dump") == 0;
}

/* What the loader says that a program loads, one library with its path a line, without running it.  "": nothing. */
static void list_libraries(const char *path, char *text, size_t bytes)
{
	char *const words[] = { "ld-linux-x86-64.so.2", "--list", (char *)path, NULL };
	posix_spawn_file_actions_t files;
	size_t at = 0;
	ssize_t n = 1;
	int ends[2], error;
	pid_t pid;

	text[0] = 0;
	if (pipe2(ends, O_CLOEXEC))
		return;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	error = posix_spawn(&pid, "/lib64/ld-linux-x86-64.so.2", &files, NULL, words, environ);
	posix_spawn_file_actions_destroy(&files);
	close(ends[1]);
	while (!error && n > 0 && at < bytes - 1) {
		n = read(ends[0], text + at, bytes - 1 - at);
		at += n > 0 ? (size_t)n : 0;
	}
	text[at] = 0;
	close(ends[0]);
	if (!error)
		waitpid(pid, NULL, 0);
}

/* A program names what it defines and what it needs in its string tables: no more is looked at. */
static int look_at_file(struct look *l, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), error = 0;
	char libraries[16384], *p;
	struct stat st;
	size_t bytes;
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		error = errno;
	else if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		error = ENOEXEC;
	p = error ? NULL : malloc((size_t)st.st_size); /* a mapping of a file that is cut would kill us */
	n = p ? read(fd, p, (size_t)st.st_size) : -1;
	if (!error && n < 0)
		error = p ? errno : ENOMEM;
	close(fd);
	if (error) {
		free(p);
		return -error;
	}
	bytes = (size_t)n;
	list_libraries(path, libraries, sizeof(libraries));
	for (size_t i = 0; i < NR_OFFERS; i++) {
		const struct offer *o = &offers[i];
		bool own = o->symbol && memmem(p, bytes, o->symbol, strlen(o->symbol) + 1);

		if (!own && strstr(libraries, o->word))
			tell(l, o->name, o->word, false, o->says);
		else if (own || memmem(p, bytes, o->word, strlen(o->word)))
			tell(l, o->name, base_name(path), false, o->says);
	}
	free(p);
	return 0;
}

static int on_mapping(void *context, const struct proc_mapping *m)
{
	struct look *l = context;

	if ((m->prot & PROT_EXEC) && (!*m->path || strncmp(m->path, "/memfd:", 7) == 0 || strncmp(m->path, "/dev/zero", 9) == 0))
		l->executable_bytes += m->end - m->start;
	if (m->path[0] != '/')
		return 0;
	if ((m->prot & PROT_EXEC) && is_dump(base_name(m->path)))
		tell(l, "jitdump", m->path, true, "names, and lines where the host writes them");
	if (m->offset != 0 || l->nr_bases == OBJECTS_MAX)
		return 0;
	l->bases[l->nr_bases++] = m->start;
	for (size_t i = 0; i < NR_OFFERS; i++)
		if (offers[i].symbol && proc_mem_find_symbol(l->pid, m->start, offers[i].symbol))
			tell(l, offers[i].name, base_name(m->path), i == 0 && is_registered(l->pid, m->start), offers[i].says);
	return 0;
}

int jit_sources_of_process(pid_t pid, void (*each)(void *context, const struct channel *c), void *context)
{
	struct look l = { .pid = proc_mem_living_thread(pid), .each = each, .context = context };
	struct proc_mem_identity identity;
	char path[128], text[64];
	struct stat st;
	int ret;

	if (!l.pid)
		return -ESRCH;
	ret = proc_each_mapping(l.pid, on_mapping, &l);
	if (ret < 0)
		return ret;
	identity = proc_mem_identify(pid);
	snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", (int)l.pid, (int)identity.own_pid);
	if (lstat(path, &st) == 0 && proc_mem_may_have_written(&identity, &st))
		tell(&l, "perf map", path, true, "names");
	if (l.executable_bytes && !l.nr) { /* a program without symbols may still have words */
		snprintf(path, sizeof(path), "/proc/%d/exe", (int)l.pid);
		look_at_file(&l, path);
	}
	if (l.executable_bytes) {
		snprintf(text, sizeof(text), "%llu KiB", (unsigned long long)l.executable_bytes >> 10);
		tell(&l, "executable memory", text, true, "what no other channel names is named by who mapped it");
	}
	return l.nr;
}

int jit_sources_of_program(const char *path, void (*each)(void *context, const struct channel *c), void *context)
{
	struct look l = { .each = each, .context = context };
	int ret = look_at_file(&l, path);

	return ret ? ret : l.nr;
}
