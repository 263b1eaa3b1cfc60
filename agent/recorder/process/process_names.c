/* SPDX-License-Identifier: MIT */
#include "agent/recorder/process/process_names.h"

#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/deleted_path.h"
#include "jitreg/base/regular_file.h"

#include <errno.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KERNEL_THREADS_PARENT 2
#define COMM_BYTES 64
#define WORD_BYTES 4096
#define RESOLVE_NS 1000000000ull /* time after which links in the program's path are followed again, as a deployment may change them */

struct process_names {
	regex_t expression;
	bool has_expression, has_program;
	struct stat own; /* this program's own file, whose processes are never wanted */
	char program[PATH_MAX], resolved[PATH_MAX]; /* absolute path as given; the same without links, or "" if there is no such file */
	uint64_t resolved_ns;
};

static void resolve_program(struct process_names *n)
{
	uint64_t now_ns = clock_now_ns();

	if (n->resolved_ns && now_ns - n->resolved_ns < RESOLVE_NS)
		return;
	n->resolved_ns = now_ns;
	if (!realpath(n->program, n->resolved))
		n->resolved[0] = 0;
}

static int take_program(struct process_names *n, const char *program)
{
	char folder[PATH_MAX] = "";

	if (program[0] != '/' && !getcwd(folder, sizeof(folder)))
		return -errno;
	if ((size_t)snprintf(n->program, sizeof(n->program), "%s%s%s", folder, *folder ? "/" : "", program) >= sizeof(n->program))
		return -ENAMETOOLONG;
	n->has_program = true;
	return 0;
}

int process_names_open(const struct names_wanted *w, struct process_names **out)
{
	struct process_names *n = calloc(1, sizeof(*n));
	int ret = 0;

	if (!n)
		return -ENOMEM;
	stat("/proc/self/exe", &n->own);
	if (w->expression) {
		n->has_expression = regcomp(&n->expression, w->expression, REG_EXTENDED | REG_NOSUB) == 0;
		ret = n->has_expression ? 0 : -EINVAL;
	}
	if (ret == 0 && w->program)
		ret = take_program(n, w->program);
	if (ret)
		process_names_close(n);
	else
		*out = n;
	return ret;
}

void process_names_close(struct process_names *n)
{
	if (n && n->has_expression)
		regfree(&n->expression);
	free(n);
}

/* ------------------------------------------------------------------------------------------------------ of one process */

/* Reads the first word of a command line.  Returns 1; 0 if the kernel has not set it up yet, or there is none (kernel threads, zombies); or
 * -1 if it cannot be read, mostly because the process has ended. */
static int read_first_word(pid_t pid, char word[WORD_BYTES])
{
	char path[64];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	fd = regular_file_open(path);
	if (fd >= 0) {
		n = read(fd, word, WORD_BYTES - 1);
		close(fd);
	}
	word[n > 0 ? n : 0] = 0;
	return n < 0 ? -1 : n > 0;
}

static bool read_comm(pid_t pid, char comm[COMM_BYTES])
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	comm[0] = 0;
	proc_read_value(path, "", comm, COMM_BYTES);
	return comm[0];
}

static enum names_verdict judge_name(const struct process_names *n, pid_t pid, const char *comm)
{
	char own[COMM_BYTES], word[WORD_BYTES];
	int ret;

	if (!comm && read_comm(pid, own))
		comm = own;
	if (comm && regexec(&n->expression, comm, 0, NULL, 0) == 0)
		return NAMES_WANTED;
	ret = read_first_word(pid, word);
	if (ret == 0)
		return NAMES_LATER;
	return ret > 0 && regexec(&n->expression, word, 0, NULL, 0) == 0 ? NAMES_WANTED : NAMES_UNWANTED;
}

static bool is_program(struct process_names *n, const char *path, size_t bytes)
{
	bytes = deleted_path_bytes(path, bytes);
	if (strlen(n->program) == bytes && memcmp(n->program, path, bytes) == 0)
		return true;
	resolve_program(n);
	return strlen(n->resolved) == bytes && memcmp(n->resolved, path, bytes) == 0;
}

static bool executes_program(struct process_names *n, pid_t pid)
{
	char link[64], path[PATH_MAX];
	ssize_t bytes;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	bytes = readlink(link, path, sizeof(path));
	return bytes > 0 && is_program(n, path, (size_t)bytes);
}

/* Returns NAMES_UNWANTED for processes of this program's file and kernel threads, NAMES_ENDED for ended ones, and NAMES_WANTED for others.
 * is_new: the process has just executed a program, so a zombie is not looked for. */
static enum names_verdict judge_kind(const struct process_names *n, pid_t pid, bool is_new)
{
	struct stat program;
	struct proc_stat s;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (stat(path, &program) == 0 && program.st_dev == n->own.st_dev && program.st_ino == n->own.st_ino)
		return NAMES_UNWANTED;
	if (!proc_stat(pid, 0, &s) || (!is_new && !proc_mem_living_thread(pid)))
		return NAMES_ENDED;
	return pid == KERNEL_THREADS_PARENT || s.parent == KERNEL_THREADS_PARENT ? NAMES_UNWANTED : NAMES_WANTED;
}

enum names_verdict process_names_judge(struct process_names *n, pid_t pid, const char *comm)
{
	enum names_verdict verdict = NAMES_UNWANTED;

	if (n->has_program && executes_program(n, pid))
		verdict = NAMES_WANTED;
	else if (n->has_expression)
		verdict = judge_name(n, pid, comm);
	return verdict == NAMES_WANTED ? judge_kind(n, pid, comm != NULL) : verdict;
}

struct search {
	struct process_names *names;
	int (*each)(void *context, pid_t pid);
	void *context;
};

static int visit_process(void *search, pid_t pid)
{
	const struct search *s = search;

	return process_names_judge(s->names, pid, NULL) == NAMES_WANTED ? s->each(s->context, pid) : 0;
}

int process_names_each(struct process_names *n, int (*each)(void *context, pid_t pid), void *context)
{
	return proc_each_numbered_entry("/proc", visit_process, &(struct search){ n, each, context });
}
