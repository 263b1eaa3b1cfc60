/* SPDX-License-Identifier: MIT */
#include "agent/recorder/process/attach_target.h"

#include "agent/recorder/process/listeners.h"
#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/regular_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM_HEADERS_MAX 64
#define KERNEL_THREADS_PARENT 2

static void __attribute__((format(printf, 2, 3))) add_target_notice(struct attach_target *t, const char *format, ...)
{
	va_list list;

	if (t->nr_notices == TARGET_NOTICES_MAX)
		return;
	va_start(list, format);
	vsnprintf(t->notice[t->nr_notices++], sizeof(t->notice[0]), format, list);
	va_end(list);
}

static const char *user_name(long uid, char text[32])
{
	struct passwd *p = getpwuid((uid_t)uid);

	snprintf(text, 32, "%s", p ? p->pw_name : "");
	if (!p)
		snprintf(text, 32, "%ld", uid);
	return text;
}

static void inspect_target_program(struct attach_target *t)
{
	char path[64];
	Elf64_Ehdr h;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)t->living);
	fd = regular_file_open(path);
	if (fd < 0)
		return;
	if (pread(fd, &h, sizeof(h), 0) == sizeof(h) && memcmp(h.e_ident, ELFMAG, SELFMAG) == 0) {
		t->is_32_bit = h.e_ident[EI_CLASS] == ELFCLASS32;
		t->is_static = !t->is_32_bit;
		for (int i = 0; i < h.e_phnum && i < PROGRAM_HEADERS_MAX && h.e_phentsize == sizeof(Elf64_Phdr); i++) {
			Elf64_Phdr ph;

			if (pread(fd, &ph, sizeof(ph), (off_t)(h.e_phoff + (uint64_t)i * sizeof(ph))) == sizeof(ph) &&
			    ph.p_type == PT_INTERP)
				t->is_static = false;
		}
	}
	close(fd);
}

static int is_agent_mapping(void *context, const struct proc_mapping *m)
{
	const char *name = strrchr(m->path, '/');

	(void)context;
	return name && strncmp(name + 1, "libtailor.so", 12) == 0;
}

bool attach_target_has_agent(pid_t pid)
{
	return proc_each_mapping(pid, is_agent_mapping, NULL) > 0;
}

static int refuse_unreadable_process(pid_t pid, const struct proc_status *s, struct diag *d)
{
	char user[32];

	if (!proc_is_first_namespace(PROC_NAMESPACE_USER))
		return diag_fail(d, EACCES, "cannot attach to process %d: it is outside of this user namespace, where this root has "
				 "no rights; run tailor outside of it (sudo tailor attach %d)", (int)pid, (int)pid);
	if (s->user >= 0 && (uid_t)s->user != geteuid())
		return diag_fail(d, EACCES, "cannot attach to process %d: it belongs to %s; run tailor as that user, or as root (sudo "
				 "tailor attach %d)",
				 (int)pid, user_name(s->user, user), (int)pid);
	return diag_fail(d, EACCES, "cannot attach to process %d: it is setuid, in another user namespace, or not dumpable "
			 "(prctl PR_SET_DUMPABLE); run tailor %sinside its container", (int)pid, geteuid() ? "as root, or " : "");
}

int attach_target_explain_failure(const struct attach_target *t, int ret, struct diag *d)
{
	struct proc_status s;
	int error = proc_status(t->living, 0, &s);

	/* a process that exits loses its memory first, and what is read of it after that is not about its program.  If its status cannot be
	 * read for another reason (descriptors), it may still run. */
	if (d->text[0] && (error ? error != -ESRCH : s.has_memory))
		return ret;
	return diag_fail(d, ESRCH, "process %d exited while tailor attached to it; start it again with `tailor run`", (int)t->pid);
}

int attach_target_inspect(pid_t pid, struct attach_target *t, struct diag *d)
{
	struct proc_status s, of_thread;
	pid_t living;
	int ret;

	*t = (struct attach_target){ .pid = pid };
	ret = pid > 0 ? proc_status(pid, 0, &s) : -ESRCH;
	if (ret == -ESRCH)
		return diag_fail(d, ESRCH, "no such process: %d (`ps` lists processes; in a container, use the PID that `ps` shows "
				 "inside)", (int)pid);
	if (ret)
		return diag_fail(d, -ret, "cannot read process %d: %s%s", (int)pid, strerror(-ret),
				 ret == -EMFILE ? " (ulimit -n)" : geteuid() ? "; run tailor as root" : "");
	if (s.process != pid)
		return diag_fail(d, EINVAL, "%d is a thread of process %ld; use `tailor attach %ld`", (int)pid, s.process,
				 s.process);
	if (pid == getpid())
		return diag_fail(d, EINVAL, "process %d is this command itself; give another PID", (int)pid);
	living = proc_mem_living_thread(pid);
	if (!living)
		return diag_fail(d, ESRCH, "process %d has exited (it is a zombie); start it again with `tailor run`", (int)pid);
	if (living != pid) /* the first thread has exited, and others run */
		s.has_memory = proc_status(living, 0, &of_thread) == 0 && of_thread.has_memory;
	if (!s.has_memory && pid != KERNEL_THREADS_PARENT && s.parent != KERNEL_THREADS_PARENT)
		return diag_fail(d, ESRCH, "process %d has exited; start it again with `tailor run`", (int)pid);
	if (!s.has_memory)
		return diag_fail(d, EINVAL, "process %d is a kernel thread; give the PID of a program", (int)pid);
	t->own_pid = s.own_pid;
	t->state = s.state;
	t->tracer = (pid_t)s.tracer;
	/* reading the maps needs the same permission (ptrace access) that perf_event_open(2) requires */
	t->living = living;
	ret = proc_each_mapping(living, is_agent_mapping, NULL);
	t->has_agent = ret > 0;
	if (ret == -EACCES || ret == -EPERM)
		return refuse_unreadable_process(pid, &s, d);
	if (ret < 0)
		return attach_target_explain_failure(t, diag_fail(d, -ret, "cannot read process %d: %s", (int)pid, strerror(-ret)), d);
	inspect_target_program(t);
	if (t->is_32_bit)
		add_target_notice(t,
				  "GDB JIT interface of process %d unavailable (32-bit program); sampling with its perf maps and jitdump "
				  "files",
				  (int)pid);
	if (t->tracer)
		add_target_notice(t, "process %d is traced by process %d (a debugger, strace): no samples while the tracer stops it",
				  (int)pid, (int)t->tracer);
	if (t->state == 'T')
		add_target_notice(t, "process %d is stopped: no samples until it continues (kill -CONT %d)", (int)pid, (int)pid);
	return 0;
}

/* ------------------------------------------------------------------------------------------------- its recorder */

/* Returns the PID of the listener, if that is a process of root, of this user or of the owner, or else 0. */
static pid_t pid_of_trusted_listener(const char *name, uid_t owner)
{
	pid_t pid = 0;
	int fd = listener_connect(name, owner, &pid);

	if (fd >= 0)
		close(fd);
	return pid;
}

/* This struct is a variable that is looked for in the environment with which a process was started. */
struct variable {
	const char *key; /* with its '=' */
	char *value;
	size_t bytes;
};

static int copy_value_of_key(void *variable, const char *text)
{
	struct variable *v = variable;

	return strncmp(text, v->key, strlen(v->key)) == 0 &&
	       (size_t)snprintf(v->value, v->bytes, "%s", text + strlen(v->key)) < v->bytes;
}

static bool read_process_variable(pid_t pid, const char *key, char *value, size_t bytes)
{
	struct variable v = { key, value, bytes };

	return proc_each_terminated_text(pid, "environ", copy_value_of_key, &v) > 0;
}

struct listener {
	uid_t owner;
	char *socket;
	size_t bytes;
	pid_t pid;
};

static int take_trusted_listener(void *listener, const char *name)
{
	struct listener *l = listener;

	/* names with a dot are skipped, since those are the sockets for requests, beside the guests' sockets (control.h) */
	if (!strchr(name, '.') && (size_t)snprintf(l->socket, l->bytes, "%s", name) < l->bytes)
		l->pid = pid_of_trusted_listener(name, l->owner);
	return l->pid != 0;
}

/* Finds the first listener whose name begins with prefix and that is trusted, since other users can take such names.  Returns its PID, or 0
 * if there is none. */
static pid_t find_listener_by_prefix(const char *prefix, uid_t owner, char *socket, size_t bytes)
{
	struct listener l = { owner, socket, bytes, 0 };

	listeners_each(prefix, "", take_trusted_listener, &l);
	return l.pid;
}

int attach_target_find_recorder(pid_t pid, char *socket, size_t bytes, pid_t *recorder)
{
	struct proc_status s;
	char prefix[40];
	uid_t owner;

	if (proc_status(pid, 0, &s))
		return -ENOENT;
	owner = (uid_t)s.user;
	if (read_process_variable(pid, "TAILOR_SOCKET=", socket, bytes) && (*recorder = pid_of_trusted_listener(socket, owner)))
		return 0;
	/* this is the name that `tailor attach` takes */
	snprintf(prefix, sizeof(prefix), "tailor-attach-%d", (int)pid);
	if ((size_t)snprintf(socket, bytes, "%s", prefix) < bytes && (*recorder = pid_of_trusted_listener(socket, owner)))
		return 0;
	strcat(prefix, "-"); /* `tailor attach` takes a longer name if another user has taken that one */
	if ((*recorder = find_listener_by_prefix(prefix, owner, socket, bytes)))
		return 0;
	/* the agent of a process that was preloaded without `tailor run` starts a recorder, and names it by the PID in its namespace */
	snprintf(prefix, sizeof(prefix), "tailor-%d-", (int)s.own_pid);
	return (*recorder = find_listener_by_prefix(prefix, owner, socket, bytes)) ? 0 : -ENOENT;
}

bool attach_target_was_recorded(const struct attach_target *t)
{
	char value[4096];

	return t->has_agent && !read_process_variable(t->pid, "TAILOR_OFF=", value, sizeof(value)) &&
	       (read_process_variable(t->pid, "TAILOR_SOCKET=", value, sizeof(value)) ||
		(read_process_variable(t->pid, "LD_PRELOAD=", value, sizeof(value)) && strstr(value, "libtailor.so")));
}

char **attach_target_read_command(pid_t pid)
{
	static char text[65536];
	static char *words[256];
	char path[32];
	size_t n, nr = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", proc_mem_number_in_proc((uint32_t)pid));
	f = fopen(path, "re");
	n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	text[n] = 0;
	if (f)
		fclose(f);
	for (char *at = text; at < text + n && nr < sizeof(words) / sizeof(words[0]) - 1; at += strlen(at) + 1)
		words[nr++] = at;
	words[nr] = NULL;
	return words;
}
