/* SPDX-License-Identifier: MIT */
#include "channels.h"

#include "remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define OBJECTS_MAX 1024
#define PATH_BYTES 4096

/* What an object has when it offers something: a symbol, and for programs that are not running the library that has it. */
static const struct offer {
	const char *name, *symbol, *library, *says;
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
	  "names: JSC_useJITDump=1 JSC_jitDumpDirectory=/tmp in the environment" },
	{ "YJIT, MJIT", "ruby_init", "libruby", "libraries that MJIT writes; YJIT's code only as a region" },
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
	uint64_t address = remote_find_symbol(pid, base, "__jit_debug_descriptor");

	return address && remote_read(pid, address, &d, sizeof(d)) == 0 && (d.action || d.relevant || d.first);
}

static bool is_dump(const char *name)
{
	size_t bytes = strlen(name);

	return strncmp(name, "jit-", 4) == 0 && bytes > 9 && strcmp(name + bytes - 5, ".dump") == 0;
}

static int on_mapping(void *context, const struct remote_mapping *m)
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
		if (remote_find_symbol(l->pid, m->start, offers[i].symbol))
			tell(l, offers[i].name, base_name(m->path), i == 0 && is_registered(l->pid, m->start), offers[i].says);
	return 0;
}

int channels_of_process(pid_t pid, void (*each)(void *context, const struct channel *c), void *context)
{
	struct look l = { .pid = remote_living_thread(pid), .each = each, .context = context };
	char path[128], text[64];
	struct stat st;
	int ret;

	if (!l.pid)
		return -ESRCH;
	ret = remote_each_mapping(l.pid, on_mapping, &l);
	if (ret < 0)
		return ret;
	snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", (int)l.pid, (int)pid);
	if (stat(path, &st) == 0)
		tell(&l, "perf map", path, true, "names");
	if (l.executable_bytes) {
		snprintf(text, sizeof(text), "%llu KiB", (unsigned long long)l.executable_bytes >> 10);
		tell(&l, "executable memory", text, true, "what no other channel names is named by who mapped it");
	}
	return l.nr;
}

/* A program names what it defines and what it needs in its string tables: no more is looked at. */
int channels_of_program(const char *path, void (*each)(void *context, const struct channel *c), void *context)
{
	struct look l = { .each = each, .context = context };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), error = 0;
	struct stat st;
	char *p;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		error = errno;
	else if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		error = ENOEXEC;
	if (error) {
		close(fd);
		return -error;
	}
	p = malloc((size_t)st.st_size); /* a mapping of a file that is cut would kill us */
	if (p)
		st.st_size = read(fd, p, (size_t)st.st_size);
	close(fd);
	if (!p || st.st_size < 0) {
		free(p);
		return -ENOMEM;
	}
	for (size_t i = 0; i < NR_OFFERS; i++) {
		bool own = memmem(p, (size_t)st.st_size, offers[i].symbol, strlen(offers[i].symbol) + 1);

		if (own || memmem(p, (size_t)st.st_size, offers[i].library, strlen(offers[i].library)))
			tell(&l, offers[i].name, own ? base_name(path) : offers[i].library, false, offers[i].says);
	}
	free(p);
	return l.nr;
}
