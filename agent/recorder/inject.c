/* SPDX-License-Identifier: MIT */
/*
 * A thread may be borrowed when it holds no lock that dlopen needs: it runs code of the program (not the loader's, libc's or
 * an allocator's), or sleeps in a system call that these never make; it is in no signal handler; and the loader's list is
 * complete.  A few threads are looked at over and over until one is there, for two seconds at most.
 *
 * Its calls run on a stack of their own and return to address 0.  The fault is ours: the host never sees it.  A system call
 * that was interrupted is restarted by the kernel when the registers are back.
 */
#include "inject.h"

#include "remote.h"

#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIBRARY "libtailor.so"
#define TRY_MS 2000   /* until some thread is where it may be borrowed */
#define SLEEPERS_MS 500 /* threads that run are tried for so long before those that sleep are */
#define CALL_MS 10000
#define NAP_US 200
#define STACK_BYTES (1u << 20)
#define RED_ZONE 512u
#define UNSAFE_MAX 64
#define XSTATE_BYTES 32768
#define SCAN_BYTES 65536u
#define DIRECTION_FLAG 0x400ull
#define TRAP_FLAG 0x100ull
#define USER_64_BIT 0x33
#define ERESTARTSYS_ 512 /* the kernel's own, which never reach a program */
#define ERESTART_RESTARTBLOCK_ 516
#define DLOPEN_MODE_INTERNAL 0x80000000ull /* __libc_dlopen_mode's */

struct range {
	uint64_t start, end;
};

struct inject {
	pid_t pid, tid;
	struct range unsafe[UNSAFE_MAX];
	int nr_unsafe;
	uint64_t object; /* the first page of the object at hand */
	bool object_is_unsafe;
	char object_path[PATH_MAX];
	uint64_t dlopen, dlerror, mmap, munmap, r_debug, restorer, libtailor;
	uint64_t mode;
	struct range stack; /* the mapping that the thread's stack pointer is in */
	struct user_regs_struct saved;
	unsigned char xstate[XSTATE_BYTES];
	size_t xstate_bytes;
	uint64_t mask, signals; /* those that came meanwhile */
	void (*meanwhile)(void *context);
	void *context;
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

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
		snprintf(at, sizeof(at), "%s%s" LIBRARY, self, places[i]);
		if (realpath(at, real) && (size_t)snprintf(path, bytes, "%s", real) < bytes)
			return true;
	}
	return false;
}

/* ------------------------------------------------------------------------------------------------- the process's objects */

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static void learn_object(struct inject *j, const struct remote_mapping *m)
{
	const char *slash = strrchr(m->path, '/'), *name = slash ? slash + 1 : m->path;
	bool loader = starts(name, "ld-linux") || starts(name, "ld-2.");
	bool libc = starts(name, "libc.so") || starts(name, "libc-2.");
	bool libdl = starts(name, "libdl.so") || starts(name, "libdl-2.");

	snprintf(j->object_path, sizeof(j->object_path), "%s", m->path);
	j->object = m->start;
	j->object_is_unsafe = loader || libc || libdl || starts(name, "libpthread") ||
			      remote_find_symbol(j->pid, m->start, "malloc") != 0;
	if (loader)
		j->r_debug = remote_find_symbol(j->pid, m->start, "_r_debug");
	if (libc) {
		j->mmap = remote_find_symbol(j->pid, m->start, "mmap");
		j->munmap = remote_find_symbol(j->pid, m->start, "munmap");
	}
	if ((libc || libdl) && !j->dlopen) {
		j->dlopen = remote_find_symbol(j->pid, m->start, "dlopen");
		j->dlerror = remote_find_symbol(j->pid, m->start, "dlerror");
		j->mode = RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE;
	}
	if (libc && !j->dlopen) {
		j->dlopen = remote_find_symbol(j->pid, m->start, "__libc_dlopen_mode");
		j->mode = RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE | DLOPEN_MODE_INTERNAL;
	}
	if (starts(name, LIBRARY))
		j->libtailor = m->start;
}

/* What a signal handler returns to: libc's `mov $15, %rax; syscall`. */
static void find_restorer(struct inject *j, const struct remote_mapping *m)
{
	static const unsigned char code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	size_t bytes = m->end - m->start;
	unsigned char *text = bytes < 1u << 26 ? malloc(bytes) : NULL, *at;

	if (text && remote_read(j->pid, m->start, text, bytes) == 0 && (at = memmem(text, bytes, code, sizeof(code))))
		j->restorer = m->start + (uint64_t)(at - text);
	free(text);
}

static int learn_mapping(void *context, const struct remote_mapping *m)
{
	struct inject *j = context;

	if (m->path[0] != '/') {
		j->object_path[0] = 0;
		return 0;
	}
	if (m->offset == 0 && strcmp(m->path, j->object_path) != 0)
		learn_object(j, m);
	if (!(m->prot & PROT_EXEC) || !j->object_is_unsafe || strcmp(m->path, j->object_path) != 0)
		return 0;
	if (!j->restorer && (strstr(m->path, "/libc.so") || strstr(m->path, "/libc-2.") || strstr(m->path, "/libpthread")))
		find_restorer(j, m);
	if (j->nr_unsafe == UNSAFE_MAX)
		return -E2BIG;
	j->unsafe[j->nr_unsafe++] = (struct range){ m->start, m->end };
	return 0;
}

static int learn_process(struct inject *j, pid_t pid)
{
	memset(j, 0, sizeof(*j));
	j->pid = pid;
	return remote_each_mapping(pid, learn_mapping, j);
}

/* The rest of a line of /proc/PID/status behind key, or "". */
static void read_status_line(pid_t pid, const char *key, char *value, size_t bytes)
{
	char path[64], line[512];
	FILE *f;

	*value = 0;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (starts(line, key)) {
			char *at = line + strlen(key);

			at += strspn(at, " \t");
			at[strcspn(at, "\n")] = 0;
			snprintf(value, bytes, "%s", at);
		}
	if (f)
		fclose(f);
}

static bool is_same_file(pid_t pid, const char *library)
{
	char path[PATH_MAX + 64];
	struct stat here, there;

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, library);
	return stat(library, &here) == 0 && stat(path, &there) == 0 && here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

int inject_look(const struct target *t, const char *library, struct diag *d)
{
	struct inject *j;
	char text[256];
	int ret = 0, pid = (int)t->pid;

	if (t->is_32_bit)
		return diag_fail(d, ENOTSUP, "process %d is a 32-bit program, and the agent is not; attach without --inject", pid);
	if (t->has_agent)
		return diag_fail(d, EALREADY, "process %d has the agent already; attach without --inject", pid);
	if (t->is_static)
		return diag_fail(d, ENOTSUP, "process %d is linked statically and can load nothing; attach without --inject", pid);
	if (t->tracer)
		return diag_fail(d, EBUSY, "process %d is traced by process %d, and only one can; end that one first, or attach "
				 "without --inject", pid, (int)t->tracer);
	if (t->state == 'T' || t->state == 't')
		return diag_fail(d, EBUSY, "process %d is stopped; let it go on first (kill -CONT %d)", pid, pid);
	read_status_line(t->living, "Seccomp:", text, sizeof(text));
	if (*text && *text != '0')
		return diag_fail(d, EPERM, "process %d forbids itself system calls (seccomp), and dies of those that the "
				 "agent needs; attach without --inject", pid);
	read_status_line(t->living, "x86_Thread_features:", text, sizeof(text));
	if (strstr(text, "shstk"))
		return diag_fail(d, ENOTSUP, "process %d has a shadow stack, on which no call can be put; attach without --inject", pid);
	read_status_line(t->living, "SigIgn:", text, sizeof(text));
	if (strtoull(text, NULL, 16) >> (SIGSEGV - 1) & 1)
		return diag_fail(d, ENOTSUP, "process %d ignores SIGSEGV, by which a call's end is seen; attach without --inject", pid);
	if (!is_same_file(t->living, library))
		return diag_fail(d, ENOENT, "process %d does not see %s (another root or container); put it there, with tailor "
				 "beside it, or attach without --inject", pid, library);
	j = malloc(sizeof(*j));
	if (!j || learn_process(j, t->living))
		ret = diag_fail(d, ESRCH, "process %d ended while it was looked at, or has too many libraries", pid);
	else if (!j->dlopen || !j->mmap || !j->munmap || !j->restorer || !j->r_debug)
		ret = diag_fail(d, ENOTSUP, "process %d has no dlopen of glibc's to load the agent with; attach without --inject", pid);
	free(j);
	return ret;
}

/* -------------------------------------------------------------------------------------------------- stop, look, let go */

static int wait_for_stop(struct inject *j, int64_t until_ms, int *status)
{
	for (;;) {
		pid_t got = waitpid(j->tid, status, __WALL | WNOHANG);

		if (got == j->tid)
			return WIFSTOPPED(*status) ? 0 : -ESRCH;
		if (got < 0 && errno != EINTR)
			return -errno;
		if (now_ms() >= until_ms)
			return -ETIMEDOUT;
		j->meanwhile(j->context);
		usleep(NAP_US);
	}
}

static void let_go(struct inject *j)
{
	ptrace(PTRACE_DETACH, j->tid, NULL, NULL);
	for (int s = 1; s < 64; s++)
		if (j->signals >> (s - 1) & 1)
			syscall(SYS_tgkill, j->pid, j->tid, s);
	j->signals = 0;
}

/* Seized and at rest.  -EAGAIN: not this one, not now. */
static int stop(struct inject *j)
{
	int status, ret;

	if (ptrace(PTRACE_SEIZE, j->tid, NULL, NULL))
		return errno == ESRCH ? -EAGAIN : -errno;
	if (ptrace(PTRACE_INTERRUPT, j->tid, NULL, NULL))
		return -EAGAIN;
	for (;;) {
		ret = wait_for_stop(j, now_ms() + CALL_MS, &status);
		if (ret)
			return ret == -ESRCH || ret == -ECHILD ? -EAGAIN : ret;
		if (status >> 16 == PTRACE_EVENT_STOP)
			break;
		ptrace(PTRACE_CONT, j->tid, NULL, (void *)(uintptr_t)WSTOPSIG(status)); /* a signal of the host's comes first */
	}
	if (WSTOPSIG(status) == SIGTRAP)
		return 0;
	let_go(j); /* stopped by somebody */
	return -EAGAIN;
}

/* Sleeps in a call that neither the loader nor an allocator makes, and that the kernel restarts unseen. */
static bool sleeps_safely(uint64_t number, uint64_t second_argument)
{
	switch (number) {
	case SYS_poll:
	case SYS_select:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_wait4:
	case SYS_waitid:
	case SYS_accept:
	case SYS_accept4:
	case SYS_pause:
		return true;
	case SYS_futex: /* FUTEX_WAIT_BITSET: conditions and joins; locks use FUTEX_WAIT */
		return (second_argument & 0x7f) == 9;
	default:
		return false;
	}
}

static int find_stack(void *context, const struct remote_mapping *m)
{
	struct inject *j = context;

	if (j->saved.rsp < m->start || j->saved.rsp >= m->end)
		return 0;
	j->stack = (struct range){ m->start, m->end };
	return (m->prot & PROT_WRITE) != 0;
}

/* Is a frame of a signal handler on the stack? */
static bool in_handler(struct inject *j)
{
	uint64_t *words = malloc(SCAN_BYTES);
	bool found = !words;

	for (uint64_t at = j->saved.rsp & ~7ull; !found && at < j->stack.end;) {
		size_t bytes = j->stack.end - at < SCAN_BYTES ? (size_t)(j->stack.end - at) : SCAN_BYTES;

		found = remote_read(j->pid, at, words, bytes) != 0;
		for (size_t i = 0; i < bytes / 8 && !found; i++)
			found = words[i] == j->restorer;
		at += bytes;
	}
	free(words);
	return found;
}

static bool is_safe(struct inject *j)
{
	const struct user_regs_struct *r = &j->saved;
	uint32_t r_state; /* r_debug: version, map, brk, state */
	uint64_t self = 0;
	bool in_call = (int64_t)r->orig_rax >= 0;

	if (r->cs != USER_64_BIT || remote_read(j->pid, r->fs_base, &self, sizeof(self)) || self != r->fs_base)
		return false;
	if (in_call && ((int64_t)r->rax > -ERESTARTSYS_ || (int64_t)r->rax < -ERESTART_RESTARTBLOCK_))
		return false;
	for (int i = 0; i < j->nr_unsafe; i++)
		if (r->rip >= j->unsafe[i].start && r->rip < j->unsafe[i].end && !(in_call && sleeps_safely(r->orig_rax, r->rsi)))
			return false;
	if (remote_read(j->pid, j->r_debug + 24, &r_state, sizeof(r_state)) || r_state != 0)
		return false;
	if (j->mask >> (SIGSEGV - 1) & 1)
		return false;
	return remote_each_mapping(j->pid, find_stack, j) == 1 && !in_handler(j);
}

/* ------------------------------------------------------------------------------------------------------------ calls */

/* As after a signal that never came. */
static void put_back(struct inject *j)
{
	struct iovec x = { j->xstate, j->xstate_bytes };

	ptrace(PTRACE_SETREGS, j->tid, NULL, &j->saved);
	ptrace(PTRACE_SETREGSET, j->tid, (void *)(uintptr_t)NT_X86_XSTATE, &x);
	ptrace(PTRACE_SETSIGMASK, j->tid, (void *)sizeof(j->mask), &j->mask);
}

static int save(struct inject *j)
{
	struct iovec x = { j->xstate, sizeof(j->xstate) };

	if (ptrace(PTRACE_GETREGS, j->tid, NULL, &j->saved) ||
	    ptrace(PTRACE_GETREGSET, j->tid, (void *)(uintptr_t)NT_X86_XSTATE, &x) || x.iov_len == sizeof(j->xstate) ||
	    ptrace(PTRACE_GETSIGMASK, j->tid, (void *)sizeof(j->mask), &j->mask))
		return -errno;
	j->xstate_bytes = x.iov_len;
	return 0;
}

static int remote_write(pid_t pid, uint64_t address, const void *from, size_t bytes)
{
	struct iovec here = { (void *)(uintptr_t)from, bytes }, there = { (void *)(uintptr_t)address, bytes };

	return process_vm_writev(pid, &here, 1, &there, 1, 0) == (ssize_t)bytes ? 0 : -EFAULT;
}

/* function(arguments...) on a stack that ends at top.  0, -ESRCH, -ETIMEDOUT, -EFAULT: it did not return. */
static int call(struct inject *j, uint64_t function, const uint64_t arguments[6], uint64_t top, uint64_t *result)
{
	struct user_regs_struct r = j->saved;
	int64_t until_ms = now_ms() + CALL_MS;
	uint64_t back = 0;
	bool interrupted = false;
	int status, ret;

	r.rsp = (top & ~15ull) - 8;
	r.rip = function;
	r.rdi = arguments[0];
	r.rsi = arguments[1];
	r.rdx = arguments[2];
	r.rcx = arguments[3];
	r.r8 = arguments[4];
	r.r9 = arguments[5];
	r.rax = 0;
	r.rbp = 0;
	r.orig_rax = UINT64_MAX; /* no system call is restarted now */
	r.eflags &= ~(DIRECTION_FLAG | TRAP_FLAG);
	if (remote_write(j->pid, r.rsp, &back, sizeof(back)) || ptrace(PTRACE_SETREGS, j->tid, NULL, &r))
		return -EFAULT;
	ptrace(PTRACE_CONT, j->tid, NULL, NULL);
	for (;;) {
		struct user_regs_struct now;

		ret = wait_for_stop(j, until_ms, &status);
		if (ret == -ETIMEDOUT && !interrupted) {
			interrupted = true;
			until_ms += CALL_MS;
			ptrace(PTRACE_INTERRUPT, j->tid, NULL, NULL);
			continue;
		}
		if (ret)
			return ret;
		if (status >> 16 == PTRACE_EVENT_STOP) {
			if (interrupted)
				return -ETIMEDOUT;
		} else if (WSTOPSIG(status) == SIGSEGV) {
			if (ptrace(PTRACE_GETREGS, j->tid, NULL, &now) || now.rip != 0 || now.rsp != r.rsp + 8)
				return -EFAULT;
			*result = now.rax;
			return 0;
		} else if (WSTOPSIG(status) == SIGSTOP) {
			j->signals |= 1ull << (SIGSTOP - 1); /* cannot be blocked: afterwards */
		} else {
			return -EFAULT; /* a fault of our own: all others are blocked */
		}
		ptrace(PTRACE_CONT, j->tid, NULL, NULL);
	}
}

static int find_library(void *context, const struct remote_mapping *m)
{
	struct inject *j = context;
	const char *slash = strrchr(m->path, '/');

	if (m->offset || !slash || !starts(slash + 1, LIBRARY))
		return 0;
	j->libtailor = m->start;
	return 1;
}

static int fail_load(struct inject *j, uint64_t top, struct diag *d)
{
	static const uint64_t none[6];
	char text[200] = "";
	uint64_t at = 0;

	if (j->dlerror && call(j, j->dlerror, none, top, &at) == 0 && at)
		for (size_t i = 0; i < sizeof(text) - 1 && remote_read(j->pid, at + i, &text[i], 1) == 0 && text[i]; i++)
			;
	text[sizeof(text) - 1] = 0;
	return diag_fail(d, ENOEXEC, "process %d could not load the agent: %s; attach without --inject", (int)j->pid,
			 *text ? text : "its loader gives no reason");
}

static int load(struct inject *j, const char *library, const char *socket, uint64_t stack, struct diag *d)
{
	uint64_t top = stack + STACK_BYTES - PATH_MAX - 512, path = top + 64, name = path + PATH_MAX, handle = 0, entry, result = 0;
	int ret;

	if (remote_write(j->pid, path, library, strlen(library) + 1) || remote_write(j->pid, name, socket, strlen(socket) + 1))
		return -EFAULT;
	ret = call(j, j->dlopen, (uint64_t[6]){ path, j->mode }, top, &handle);
	if (ret)
		return ret;
	if (!handle)
		return fail_load(j, top, d);
	if (remote_each_mapping(j->pid, find_library, j) != 1 ||
	    !(entry = remote_find_symbol(j->pid, j->libtailor, "tailor_injected")))
		return diag_fail(d, ENOEXEC, "process %d has loaded an agent of another version; attach without --inject", (int)j->pid);
	ret = call(j, entry, (uint64_t[6]){ name }, top, &result);
	if (ret == 0 && (int)result)
		return diag_fail(d, -(int)result, "the agent in process %d did not reach its recorder: %s; attach without --inject",
				 (int)j->pid, strerror(-(int)result));
	return ret;
}

/* The thread is at rest where it may be borrowed. */
static int borrow(struct inject *j, const char *library, const char *socket, struct diag *d)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };
	uint64_t own = (j->saved.rsp - RED_ZONE) & ~63ull, stack = 0, all = UINT64_MAX, result;
	int ret;

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		all &= ~(1ull << (faults[i] - 1));
	ptrace(PTRACE_SETSIGMASK, j->tid, (void *)sizeof(all), &all);
	d->text[0] = 0;
	ret = call(j, j->mmap, (uint64_t[6]){ 0, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0 }, own,
		   &stack);
	if (ret == 0 && stack > UINT64_MAX - 4096)
		ret = -ENOMEM;
	if (ret == 0) {
		ret = load(j, library, socket, stack, d);
		if (ret != -ESRCH && ret != -ETIMEDOUT) /* else somebody may still stand on it */
			call(j, j->munmap, (uint64_t[6]){ stack, STACK_BYTES }, own, &result);
	}
	put_back(j);
	if (ret && !d->text[0])
		diag_fail(d, -ret, "process %d was not given the agent: a call in it %s; attach without --inject", (int)j->pid,
			  ret == -ETIMEDOUT ? "did not come back in time" : ret == -ESRCH ? "ended with the process" : "failed");
	return ret;
}

/* -EAGAIN: not this one, not now. */
static int try_thread(struct inject *j, const char *library, const char *socket, struct diag *d)
{
	int ret = stop(j);

	if (ret == -EPERM)
		return diag_fail(d, EPERM, "process %d may not be traced by this user (kernel.yama.ptrace_scope); run tailor as root",
				 (int)j->pid);
	if (ret)
		return ret == -EAGAIN ? ret : diag_fail(d, -ret, "a thread of process %d did not stop: %s", (int)j->pid, strerror(-ret));
	ret = save(j) || !is_safe(j) ? -EAGAIN : borrow(j, library, socket, d);
	let_go(j);
	return ret;
}

/* R, S, ...; what it sleeps in, and its second argument. */
static bool may_be_tried(const struct inject *j, bool sleepers)
{
	char path[96], text[256];
	unsigned long long number, first, second;
	const char *at;
	FILE *f;
	bool may;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)j->pid, (int)j->tid);
	f = fopen(path, "re");
	at = f && fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
	may = at && at[1] == ' ' && (at[2] == 'R' || (sleepers && at[2] == 'S'));
	if (may && at[2] == 'S') {
		fclose(f);
		snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)j->pid, (int)j->tid);
		f = fopen(path, "re");
		may = f && fgets(text, sizeof(text), f) && sscanf(text, "%llu %llx %llx", &number, &first, &second) == 3 &&
		      sleeps_safely(number, second);
	}
	if (f)
		fclose(f);
	return may;
}

int inject(const struct target *t, const char *library, const char *socket, void (*meanwhile)(void *context), void *context,
	   struct diag *d)
{
	struct inject *j = malloc(sizeof(*j));
	int64_t begin_ms = now_ms();
	char path[64];
	int ret = j ? learn_process(j, t->pid) : -ENOMEM;

	if (ret) {
		free(j);
		return diag_fail(d, -ret, "process %d ended while it was attached to", (int)t->pid);
	}
	j->meanwhile = meanwhile;
	j->context = context;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)t->pid);
	ret = -EAGAIN;
	while (ret == -EAGAIN && now_ms() - begin_ms < TRY_MS) {
		DIR *dir = opendir(path);
		struct dirent *e;

		if (!dir) {
			ret = diag_fail(d, ESRCH, "process %d ended while it was attached to", (int)t->pid);
			break;
		}
		while (ret == -EAGAIN && (e = readdir(dir))) {
			j->tid = (pid_t)strtol(e->d_name, NULL, 10);
			if (j->tid > 0 && may_be_tried(j, now_ms() - begin_ms >= SLEEPERS_MS))
				ret = try_thread(j, library, socket, d);
		}
		closedir(dir);
		meanwhile(context);
		usleep(NAP_US * 5);
	}
	free(j);
	if (ret == -EAGAIN)
		return diag_fail(d, EAGAIN, "process %d had no thread within %d s that could be borrowed (all wait, or are in "
				 "the loader, in libc or in signal handlers); try again, or attach without --inject",
				 (int)t->pid, TRY_MS / 1000);
	return ret;
}
