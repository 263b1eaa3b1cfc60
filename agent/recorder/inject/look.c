/* SPDX-License-Identifier: MIT */
/* What is known of a process before it is touched: the reasons not to. */
#include "agent/recorder/inject/internal.h"

#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool inject_find_library(char *path, size_t bytes)
{
	static const char *const places[] = { "", "../lib/tailor/", "../lib/" };
	char self[PATH_MAX], at[PATH_MAX + 32], real[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return false;
	self[n] = 0;
	*(strrchr(self, '/') + 1) = 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(at, sizeof(at), "%s%s" INJECT_LIBRARY, self, places[i]);
		if (realpath(at, real) && (size_t)snprintf(path, bytes, "%s", real) < bytes)
			return true;
	}
	return false;
}

static bool is_same_file(const char *here_path, const char *there_path)
{
	struct stat here, there;

	return stat(here_path, &here) == 0 && stat(there_path, &there) == 0 && here.st_dev == there.st_dev &&
	       here.st_ino == there.st_ino;
}

static int look(const struct attach_target *t, const char *library, struct diag *d)
{
	struct inject_process p;
	char text[256], status[32], path[PATH_MAX + 64];
	int pid = (int)t->pid, late = 0;

	if (t->is_32_bit)
		return diag_fail(d, ENOTSUP, "process %d is a 32-bit program, and the agent is not; attach without --inject", pid);
	if (t->is_static)
		return diag_fail(d, ENOTSUP, "process %d is linked statically and can load nothing; attach without --inject", pid);
	if (t->tracer)
		return diag_fail(d, EBUSY, "process %d is traced by process %d, and only one can; end that one first, or attach "
				 "without --inject", pid, (int)t->tracer);
	if (t->state == 'T' || t->state == 't')
		return diag_fail(d, EBUSY, "process %d is stopped; let it go on first (kill -CONT %d)", pid, pid);
	snprintf(status, sizeof(status), "/proc/%d/status", (int)t->living);
	proc_value(status, "Seccomp:", text, sizeof(text));
	if (*text && *text != '0')
		return diag_fail(d, EPERM, "process %d forbids itself system calls (seccomp), and dies of those that the agent needs; "
				 "attach without --inject", pid);
	proc_value(status, "x86_Thread_features:", text, sizeof(text));
	if (strstr(text, "shstk"))
		return diag_fail(d, ENOTSUP, "process %d has a shadow stack, on which no call can be put; attach without --inject", pid);
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)t->living, library);
	if (!is_same_file(library, path))
		return diag_fail(d, ENOENT, "process %d does not see %s (another root or container); attach without --inject, or put "
				 "tailor inside and run it there", pid, library);
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)t->living);
	if (!is_same_file("/proc/self/ns/net", path))
		return diag_fail(d, ENOTCONN, "process %d is in another network namespace, where the agent cannot reach its recorder; run "
				 "tailor inside (nsenter -n -t %d), or attach without --inject", pid, pid);
	if (inject_process_learn(&p, t->living))
		return diag_fail(d, ENOTSUP, "process %d has too many libraries; attach without --inject", pid);
	if (p.agent && proc_mem_read(t->living, proc_mem_find_symbol(t->living, p.agent, "tailor_is_late"), &late, sizeof(late)))
		return diag_fail(d, ENOTSUP, "process %d has an agent of another version; attach without --inject", pid);
	if (p.agent && !late)
		return diag_fail(d, EALREADY, "process %d has the agent already, since its start; attach without --inject", pid);
	if (!inject_process_is_known(&p))
		return diag_fail(d, ENOTSUP, "process %d has no dlopen of glibc's to load the agent with; attach without --inject", pid);
	return 0;
}

int inject_look(const struct attach_target *t, const char *library, struct diag *d)
{
	int ret = look(t, library, d);

	return ret ? attach_target_failed(t, ret, d) : 0;
}
