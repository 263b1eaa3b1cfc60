/* SPDX-License-Identifier: MIT */
#include "agent/recorder/doctor/jit_sources.h"

#include "agent/recorder/doctor/word_search.h"
#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/mapping_kind.h"
#include "jitreg/base/regular_file.h"
#include "jitreg/engines/postgres_layout.h"
#include "jitreg/hosts/jit_hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OBJECTS_MAX 1024
#define PATH_BYTES 4096
#define HOSTS_MAX 64
#define LIST_MS 10000 /* ms after which no further wait for the loader begins; each wait takes at most a tenth of it */

/*
 * In place of an interface's description, `says` is reported if the object's name or the content of the program's file contains `word`.
 * With if_absent, it is reported if the object's name lacks `word`.
 */
static const struct exception {
	const char *interface, *word;
	bool if_absent;
	const char *says;
} exceptions[] = {
	{ "GDB JIT interface", "LLVM", false, "names, lines and frames, if the program registers its code for debuggers: LLVM's MCJIT "
	  "does, ORC only on request (clang-repl makes none)" },
	{ "jit.attach", "luajit", true, "none: LuaJIT is linked statically, where its states cannot be found; traces of a program that is "
	  "linked with libluajit have names under `tailor run`" },
};

/*
 * This host is reported only if no JIT interface was found in a program's file. V8 exports no interface in Chromium, Electron's renderers
 * and embedders.
 */
static const struct jit_host hidden_v8 = { .interface = "V8, hidden", .word = "perf_basic_prof",
	.says = "V8 does not export its interface here; names with its option --perf-basic-prof (Chromium: --js-flags=--perf-basic-prof "
		"--no-sandbox)" };

struct look {
	pid_t pid;
	void (*each)(void *context, const struct jit_source *c);
	void *context;
	int nr, nr_engines;
	uint64_t executable_bytes; /* bytes of executable memory without a file */
	uint64_t bases[OBJECTS_MAX]; /* addresses of objects that were searched */
	int nr_bases;
	uint64_t symbol[HOSTS_MAX]; /* address of each host's symbol in the current object */
	uint64_t options; /* bit i: the process was started with an option of jit_hosts[i] that names its code */
};
_Static_assert(HOSTS_MAX <= 64, "struct look's options");

static void report_jit_source(struct look *l, struct jit_source c)
{
	l->each(l->context, &c);
	l->nr++;
}

static void report_jit_host(struct look *l, const struct jit_host *h, const char *object, bool in_use, const char *says)
{
	report_jit_source(l, (struct jit_source){ JIT_SOURCE_INTERFACE, h, h->interface, object, in_use, says });
}

static void note_option(void *look, const char *option)
{
	struct look *l = look;

	for (size_t i = 0; i < nr_jit_hosts && i < HOSTS_MAX; i++)
		for (const char *word = jit_hosts[i].in_force; word && *word; word += strcspn(word, " "), word += *word == ' ')
			if (strncmp(word, option, strlen(option)) == 0 && strcspn(word, " ") == strlen(option))
				l->options |= 1ull << i;
}

static int note_options_in_text(void *look, const char *text)
{
	jit_host_each_option_in(text, note_option, look);
	return 0;
}

static bool has_option(const struct look *l, size_t host)
{
	return host < HOSTS_MAX && l->options >> host & 1;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Returns the description of an interface.  object: the name of the object that offers it.  text: the object's content, or NULL if that is
 * not known. */
static const char *description_of_jit_host(const struct jit_host *h, const char *object, const char *text, size_t bytes)
{
	for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++) {
		const struct exception *e = &exceptions[i];
		bool has;

		if (strcmp(e->interface, h->interface) != 0)
			continue;
		has = strstr(object, e->word) || (!e->if_absent && text && memmem(text, bytes, e->word, strlen(e->word)));
		if (has != e->if_absent)
			return e->says;
	}
	return h->says;
}

/* Has the list of the GDB JIT interface ever had an entry? */
static bool has_gdb_jit_entry(pid_t pid, uint64_t base)
{
	struct {
		uint32_t version, action;
		uint64_t relevant, first;
	} d;
	uint64_t address = proc_mem_find_symbol(pid, base, "__jit_debug_descriptor");

	return address && proc_mem_read(pid, address, &d, sizeof(d)) == 0 && (d.action || d.relevant || d.first);
}

static bool is_jitdump_name(const char *name)
{
	size_t bytes = strlen(name);

	return strncmp(name, "jit-", 4) == 0 && bytes > 9 && strcmp(name + bytes - 5, ".dump") == 0;
}

void jit_sources_list_libraries(const char *path, char *text, size_t bytes)
{
	char *const words[] = { "ld-linux-x86-64.so.2", "--list", (char *)path, NULL };
	posix_spawn_file_actions_t files;
	size_t at = 0;
	uint64_t until_ns = clock_now_ns() + LIST_MS * 1000000ull;
	int ends[2], error;
	ssize_t n;
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
	while (!error && at < bytes - 1 && clock_now_ns() < until_ns) {
		struct pollfd wait = { ends[0], POLLIN, 0 };

		if (poll(&wait, 1, LIST_MS / 10) <= 0)
			continue;
		n = read(ends[0], text + at, bytes - 1 - at);
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	text[at] = 0;
	close(ends[0]);
	if (!error) {
		kill(pid, SIGKILL); /* the loader has finished, has filled the text, or takes too long */
		waitpid(pid, NULL, 0);
	}
}

struct words {
	struct word symbol[HOSTS_MAX], word[HOSTS_MAX], hidden_v8;
};

/* Searches the whole file, because its string tables have the names of what it defines and needs. */
static void search_jit_host_words(const char *text, size_t bytes, struct words *w)
{
	struct word all[2 * HOSTS_MAX + 1];
	struct word *place[2 * HOSTS_MAX + 1];
	size_t nr = 0;

	*w = (struct words){ 0 };
	for (size_t i = 0; i < nr_jit_hosts && i < HOSTS_MAX; i++) {
		if (!jit_hosts[i].interface)
			continue;
		if (jit_hosts[i].symbol) {
			place[nr] = &w->symbol[i];
			all[nr++] = (struct word){ jit_hosts[i].symbol, strlen(jit_hosts[i].symbol) + 1, false };
		}
		place[nr] = &w->word[i];
		all[nr++] = (struct word){ jit_hosts[i].word, strlen(jit_hosts[i].word), false };
	}
	place[nr] = &w->hidden_v8;
	all[nr++] = (struct word){ hidden_v8.word, strlen(hidden_v8.word), false };
	word_search(text, bytes, all, nr);
	while (nr--)
		*place[nr] = all[nr];
}

/* Reports the plan nodes of a PostgreSQL server whose version is known.  (lacks.h reports the other versions.) */
static void report_plan_node_support(struct look *l, const char *object, const char *text, size_t bytes)
{
	const char *found = memmem(text, bytes, POSTGRES_VERSION_TEXT, sizeof(POSTGRES_VERSION_TEXT) - 1);
	unsigned major = 0;

	if (!found || !memmem(text, bytes, "standard_ExecutorRun", sizeof("standard_ExecutorRun")))
		return;
	for (found += sizeof(POSTGRES_VERSION_TEXT) - 1; found < text + bytes && *found >= '0' && *found <= '9' && major < 1000; found++)
		major = major * 10 + (unsigned)(*found - '0');
	if (postgres_layout_of(major))
		report_jit_source(l, (struct jit_source){ JIT_SOURCE_ENGINE, NULL, "plan nodes", object, false,
							  "of each query, under `tailor run` and by `tailor attach`" });
}

/*
 * Reports a database engine that is a library, by the beginning of the library's file name. Such an engine is no JIT, so l->nr does not
 * count it.
 */
static void report_engine_library(struct look *l, const char *name)
{
	static const struct {
		const char *library, *interface, *says;
	} engines[] = {
		{ "libsqlite3.so", "statements", "of SQLite, with the instructions of each, under `tailor run`" },
		{ "libduckdb.so", "plan operators", "of DuckDB, of each query, under `tailor run`" },
	};

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if (strncmp(name, engines[i].library, strlen(engines[i].library)) == 0) {
			l->each(l->context,
				&(struct jit_source){ JIT_SOURCE_ENGINE, NULL, engines[i].interface, engines[i].library, false,
						      engines[i].says });
			l->nr_engines++;
			return;
		}
}

static void report_engine_libraries(struct look *l, char *libraries)
{
	for (char *line = libraries, *rest; *line; line = rest) {
		rest = line + strcspn(line, "\n");
		if (*rest)
			*rest++ = 0;
		report_engine_library(l, line + strspn(line, " \t"));
	}
}

/* Reads the file of a program whole. The caller frees *text. Returns 0 or -errno; -ENOEXEC if it is no file with content. */
static int read_program(const char *path, char **text, size_t *bytes)
{
	int fd = regular_file_open(path), error = 0;
	struct stat st;
	char *p;
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT && access(path, F_OK) == 0 ? -ENOEXEC : -errno;
	if (fstat(fd, &st))
		error = errno;
	else if (st.st_size <= 0)
		error = ENOEXEC;
	p = error ? NULL : malloc((size_t)st.st_size); /* a mapping would kill this process if the file is truncated */
	n = p ? read(fd, p, (size_t)st.st_size) : -1;
	if (!error && n < 0)
		error = p ? errno : ENOMEM;
	close(fd);
	if (error) {
		free(p);
		return -error;
	}
	*text = p;
	*bytes = (size_t)n;
	return 0;
}

/*
 * Reports the interfaces and engines in a program's file, and those in the libraries that it loads, which are known by their names. Returns
 * 0 or -errno.
 */
static int report_jit_sources_of_file(struct look *l, const char *path)
{
	char libraries[16384], *p;
	struct words words;
	size_t bytes;
	int ret = read_program(path, &p, &bytes);

	if (ret)
		return ret;
	jit_sources_list_libraries(path, libraries, sizeof(libraries));
	search_jit_host_words(p, bytes, &words);
	for (size_t i = 0; i < nr_jit_hosts; i++) {
		const struct jit_host *h = &jit_hosts[i];
		bool own = i < HOSTS_MAX && words.symbol[i].found;

		if (!h->interface)
			continue;
		/* the program's file, too, has the names that it takes from a library */
		if (strstr(libraries, h->word))
			report_jit_host(l, h, h->word, has_option(l, i), description_of_jit_host(h, h->word, NULL, 0));
		else if (own || (i < HOSTS_MAX && words.word[i].found))
			report_jit_host(l, h, base_name(path), has_option(l, i),
					description_of_jit_host(h, own ? base_name(path) : h->word, p, bytes));
	}
	report_plan_node_support(l, base_name(path), p, bytes);
	if (!l->nr && words.hidden_v8.found)
		report_jit_source(l, (struct jit_source){ JIT_SOURCE_INTERFACE, NULL, hidden_v8.interface, base_name(path), false,
							  hidden_v8.says });
	report_engine_libraries(l, libraries);
	free(p);
	return 0;
}

static int report_jit_sources_of_mapping(void *context, const struct proc_mapping *m)
{
	struct look *l = context;
	const char *names[HOSTS_MAX];
	size_t nr = 0;

	if ((m->prot & PROT_EXEC) && mapping_may_hold_generated_code(m->path, strlen(m->path), m->prot, m->shared))
		l->executable_bytes += m->end - m->start;
	if (m->path[0] != '/')
		return 0;
	if ((m->prot & PROT_EXEC) && is_jitdump_name(base_name(m->path)))
		report_jit_source(l, (struct jit_source){ JIT_SOURCE_FILE, NULL, "jitdump", m->path, true,
							  "names, and lines where the host writes them" });
	if (m->offset != 0 || l->nr_bases == OBJECTS_MAX)
		return 0;
	l->bases[l->nr_bases++] = m->start;
	report_engine_library(l, base_name(m->path));
	for (size_t i = 0; i < nr_jit_hosts && i < HOSTS_MAX; i++)
		names[nr++] = jit_hosts[i].symbol;
	proc_mem_find_symbols(l->pid, m->start, names, nr, l->symbol);
	for (size_t i = 0; i < nr; i++)
		if (l->symbol[i]) {
			bool in_use = i == 0 ? has_gdb_jit_entry(l->pid, m->start) : has_option(l, i);

			report_jit_host(l, &jit_hosts[i], base_name(m->path), in_use,
					in_use ? jit_hosts[i].says : description_of_jit_host(&jit_hosts[i], base_name(m->path), NULL, 0));
		}
	return 0;
}

int jit_sources_of_process(pid_t pid, void (*each)(void *context, const struct jit_source *c), void *context)
{
	struct look l = { .pid = proc_mem_living_thread(pid), .each = each, .context = context };
	struct proc_mem_identity identity;
	char path[128], text[64];
	struct stat st;
	int ret;

	if (!l.pid)
		return -ESRCH;
	proc_each_terminated_text(l.pid, "cmdline", note_options_in_text, &l);
	proc_each_terminated_text(l.pid, "environ", note_options_in_text, &l);
	ret = proc_each_mapping(l.pid, report_jit_sources_of_mapping, &l);
	if (ret < 0)
		return ret;
	identity = proc_mem_identify(pid);
	snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", (int)l.pid, (int)identity.own_pid);
	if (lstat(path, &st) == 0 && proc_mem_may_have_written(&identity, &st))
		report_jit_source(&l, (struct jit_source){ JIT_SOURCE_FILE, NULL, "perf map", path, true, "names" });
	if (l.executable_bytes && !l.nr) { /* a program without symbols may still contain the words */
		snprintf(path, sizeof(path), "/proc/%d/exe", (int)l.pid);
		report_jit_sources_of_file(&l, path);
	}
	if (l.executable_bytes) {
		snprintf(text, sizeof(text), "%llu KiB", (unsigned long long)l.executable_bytes >> 10);
		report_jit_source(&l, (struct jit_source){ JIT_SOURCE_MEMORY, NULL, "executable memory", text, true,
							   "unregistered code is named after the caller that mapped the region" });
	}
	return l.nr + l.nr_engines;
}

void jit_sources_of_server(pid_t pid, void (*each)(void *context, const struct jit_source *c), void *context)
{
	struct look l = { .pid = proc_mem_living_thread(pid), .each = each, .context = context };
	char path[64], program[PATH_MAX], *text;
	size_t bytes;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)l.pid);
	n = readlink(path, program, sizeof(program) - 1);
	program[n > 0 ? n : 0] = 0;
	if (strncmp(base_name(program), "postgres", 8) != 0 || read_program(path, &text, &bytes))
		return;
	report_plan_node_support(&l, base_name(program), text, bytes);
	free(text);
}

int jit_sources_of_program(const char *path, void (*each)(void *context, const struct jit_source *c), void *context)
{
	struct look l = { .each = each, .context = context };
	int ret = report_jit_sources_of_file(&l, path);

	return ret ? ret : l.nr + l.nr_engines;
}
