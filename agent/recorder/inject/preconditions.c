/* SPDX-License-Identifier: MIT */
/* Finds the agent's library, and checks a process before it is touched, for reasons not to inject. */
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

#define START_MS 2000 /* longest wait for a program that was just started and loads its libraries */
#define NAP_MS 10
#define ROOM_BYTES (16ull << 20)

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

/* Is the library the same file for the process as for the recorder?  A recorder of root has few rights, and may be unable to look into a
 * user's folder.  Then one path leads to one file if both have the same root directory and mount namespace. */
static bool has_library(pid_t pid, const char *library)
{
	char path[PATH_MAX + 64], namespace[64];
	struct stat there;

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, library);
	if (is_same_file(library, path))
		return true;
	if (stat(path, &there) == 0 || errno != EACCES)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	snprintf(namespace, sizeof(namespace), "/proc/%d/ns/mnt", (int)pid);
	return is_same_file("/proc/self/root", path) && is_same_file("/proc/self/ns/mnt", namespace);
}

/* Waits up to START_MS for parts that are not found yet, because the process may have started just now. */
static int learn_process_when_ready(struct inject_process *p, pid_t pid)
{
	int ret = inject_process_learn(p, pid);

	for (int ms = 0; !ret && !p->agent && !inject_process_is_known(p) && ms < START_MS; ms += NAP_MS) {
		usleep(NAP_MS * 1000);
		ret = inject_process_learn(p, pid);
	}
	return ret;
}

/* Are less than ROOM_BYTES left below a limit?  The agent, its log and dlopen need about half of that, and the rest is for the process.
 * used: key in /proc/PID/status of the memory in use. */
static bool is_nearly_used_up(pid_t pid, const char *limit, const char *used)
{
	uint64_t most = proc_limit(pid, limit), bytes;
	char path[64], text[64];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	proc_read_value(path, used, text, sizeof(text));
	bytes = strtoull(text, NULL, 10) * 1024;
	return most && most < bytes + ROOM_BYTES;
}

static int check_preconditions(const struct attach_target *t, const char *library, struct diag *d)
{
	struct inject_process p;
	char text[256], status[32], path[64];
	int pid = (int)t->pid, late = 0;

	if (t->is_32_bit)
		return diag_fail(d, ENOTSUP, "cannot inject into process %d: it is a 32-bit program; attach without --inject", pid);
	if (t->is_static)
		return diag_fail(d, ENOTSUP, "cannot inject into process %d: it is statically linked; attach without --inject", pid);
	if (t->tracer)
		return diag_fail(d, EBUSY, "cannot inject into process %d: it is traced by process %d; end that tracer first, or "
				 "attach without --inject", pid, (int)t->tracer);
	if (t->state == 'T' || t->state == 't')
		return diag_fail(d, EBUSY, "cannot inject into process %d: it is stopped; continue it first (kill -CONT %d)", pid, pid);
	snprintf(status, sizeof(status), "/proc/%d/status", (int)t->living);
	proc_read_value(status, "Seccomp:", text, sizeof(text));
	if (*text && *text != '0')
		return diag_fail(d, EPERM, "cannot inject into process %d: its seccomp filter may kill it at system calls of the agent; "
				 "attach without --inject", pid);
	proc_read_value(status, "x86_Thread_features:", text, sizeof(text));
	if (strstr(text, "shstk"))
		return diag_fail(d, ENOTSUP, "cannot inject into process %d: it uses a shadow stack; attach without --inject", pid);
	if (is_nearly_used_up(t->living, "Max address space", "VmSize") || is_nearly_used_up(t->living, "Max data size", "VmData"))
		return diag_fail(d, ENOMEM, "cannot inject into process %d: less than 16 MiB are left to it (ulimit -v, -d), which it may "
				 "need itself; attach without --inject", pid);
	if (!has_library(t->living, library))
		return diag_fail(d, ENOENT, "cannot inject into process %d: it cannot access %s (another root directory or container); "
				 "attach without --inject, or install and run tailor inside", pid, library);
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)t->living);
	if (!is_same_file("/proc/self/ns/net", path))
		return diag_fail(d, ENOTCONN, "cannot inject into process %d: it is in another network namespace, where the agent cannot "
				 "reach the recorder; run tailor inside (nsenter -n -t %d), or attach without --inject", pid, pid);
	if (learn_process_when_ready(&p, t->living))
		return diag_fail(d, ENOTSUP, "cannot inject into process %d: it has too many libraries; attach without --inject", pid);
	if (p.agent && proc_mem_read(t->living, proc_mem_find_symbol(t->living, p.agent, "tailor_is_late"), &late, sizeof(late)))
		return diag_fail(d, ENOTSUP, "cannot inject into process %d: it has an agent of another version; attach without --inject",
				 pid);
	if (p.agent && !late)
		return diag_fail(d, EALREADY, "cannot inject into process %d: it was started with the agent; attach without --inject", pid);
	if (!inject_process_is_known(&p))
		return diag_fail(d, ENOTSUP, "cannot inject into process %d: it has no glibc dlopen; attach without --inject", pid);
	return 0;
}

int inject_check_preconditions(const struct attach_target *t, const char *library, struct diag *d)
{
	int ret = check_preconditions(t, library, d);

	return ret ? attach_target_explain_failure(t, ret, d) : 0;
}
