/* SPDX-License-Identifier: MIT */
/*
 * Tries one thread after another until one is at a safe point, and loads the agent in that thread. After two seconds no further round
 * begins. Threads that run come first, because nothing that they do is interrupted. Then come threads that sleep in calls for which the
 * kernel knows the time that is left, and then those whose timeout would start again.
 */
#include "agent/recorder/inject/internal.h"

#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRY_MS 2000	/* time after which no further round over the threads begins */
#define SLEEPERS_MS 200 /* only threads that run are tried for this time, and then also those that sleep */
#define TIMEOUTS_MS 400 /* threads that would sleep longer because of the stop are tried after this time only */
#define CALM_MS 1500	/* only threads that may ask V8 (the first one) or Python are tried for this time, if the process has either */
#define NAP_US 1000

/* May the thread be tried?  It must be running, or sleep in a call where that is safe, after some time.  The kernel reports this without
 * the thread being touched. */
static bool thread_may_be_tried(pid_t pid, pid_t tid, int64_t after_ms)
{
	unsigned long long call, argument[4];
	char path[96], text[256];
	struct proc_stat s;
	FILE *f;
	bool may;

	may = proc_stat(pid, tid, &s) && (s.state == 'R' || (after_ms >= SLEEPERS_MS && s.state == 'S'));
	if (may && s.state == 'S') {
		snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
		f = fopen(path, "re");
		may = f && fgets(text, sizeof(text), f) &&
		      sscanf(text, "%llu %llx %llx %llx %llx", &call, &argument[0], &argument[1], &argument[2], &argument[3]) == 5 &&
		      inject_sleeps_safely(pid, call, argument[0], argument[1]) &&
		      (after_ms >= TIMEOUTS_MS || inject_restart_keeps_timeout(pid, call, argument[0], argument[3]));
		if (f)
			fclose(f);
	}
	return may;
}

static int explain_injection_failure(const struct inject_process *p, int ret, int result, struct diag *d)
{
	int pid = (int)p->pid;

	if (ret == -ETIMEDOUT)
		return diag_fail(d, ETIMEDOUT, "cannot inject into process %d: loading the agent takes more than 10 s; attach without "
				 "--inject", pid);
	if (ret == -ENOEXEC)
		return diag_fail(d, ENOEXEC, "cannot inject into process %d: its loader refused the agent (libtailor.so not readable, on "
				 "a noexec mount, or glibc older than 2.28); attach without --inject", pid);
	if (ret)
		return diag_fail(d, -ret, "cannot inject into process %d: %s; attach without --inject", pid,
				 ret == -ESRCH ? "it exited" : "the call of dlopen failed");
	if (result)
		return diag_fail(d, ECONNREFUSED, "the agent in process %d cannot reach the recorder: %s; attach without --inject", pid,
				 strerror(-result));
	return 0;
}

/* Loads the agent in a thread that is stopped at a safe point, and resumes the thread unless it did not return in time. Returns what
 * inject() returns, or -EAGAIN if another thread is to be tried. */
static int load_agent_in_thread(struct inject_process *p, struct inject_thread *t, const char *library, const char *socket, struct diag *d)
{
	unsigned may_call = inject_may_call(t);
	uint64_t entry, where;
	int ret, stopped, result = 0;

	if (inject_frame_write(t, library, socket)) {
		t->frame = 0;
		inject_thread_resume(t);
		return -EAGAIN;
	}
	ret = inject_call_function(t, p->dlopen, t->library, p->mode);
	if (ret == 0) {
		entry = inject_process_find_agent(p) ? proc_mem_find_symbol(p->pid, p->agent, "tailor_injected") : 0;
		where = entry ? proc_mem_find_symbol(p->pid, p->agent, "tailor_injected_result") : 0;
		ret = where ? inject_call_agent(t, entry, may_call, where, &result) : -ENOEXEC;
	}
	if (ret == -EBUSY || ret == -ENOEXEC) {
		stopped = inject_call_stop_at_sigreturn(t);
		ret = stopped ? stopped : ret;
	}
	if (ret == -ETIMEDOUT)
		inject_thread_give_up(t);
	else if (ret != -ESRCH)
		inject_thread_resume(t);
	if (ret == 0 && result == 0 && p->has_v8 && !(may_call & INJECTED_MAY_CALL_V8)) {
		diag_fail(d, EAGAIN, "names of JavaScript functions unavailable in process %d: its first thread was neither in generated "
			  "code nor in its event loop within %d ms; attach again", (int)p->pid, CALM_MS);
		return INJECT_V8_UNASKED;
	}
	if (ret == 0 && result == 0 && p->python.start && !(may_call & INJECTED_MAY_CALL_PYTHON)) {
		diag_fail(d, EAGAIN, "names of Python functions unavailable in process %d: no thread slept or was in the interpreter's own "
			  "function within %d ms; attach again", (int)p->pid, CALM_MS);
		return INJECT_PYTHON_UNASKED;
	}
	return ret == -EBUSY ? -EAGAIN : explain_injection_failure(p, ret, result, d);
}

/* Returns what load_agent_in_thread() returns, or -EAGAIN if this thread cannot be used now.  only_calm: the thread is used only if it may
 * call V8 or Python. */
static int try_injection_in_thread(struct inject_process *p, struct inject_thread *t, bool only_calm, const char *library,
				   const char *socket, struct diag *d)
{
	int ret = inject_thread_stop(t);

	if (ret == -EPERM)
		return diag_fail(d, EPERM, "cannot inject into process %d: not permitted to trace it (kernel.yama.ptrace_scope); run "
				 "tailor as root",
				 (int)p->pid);
	if (ret && ret != -EAGAIN)
		return diag_fail(d, -ret, "cannot inject into process %d: a thread did not stop: %s", (int)p->pid, strerror(-ret));
	if (ret)
		return ret;
	if (inject_is_at_safe_point(t) && (!only_calm || inject_may_call(t)))
		return load_agent_in_thread(p, t, library, socket, d);
	inject_thread_resume(t);
	return -EAGAIN;
}

int inject(const struct attach_target *target, bool adapt, const char *library, const char *socket, void (*meanwhile)(void *context),
	   void *context, struct diag *d)
{
	struct inject_process *p = malloc(sizeof(*p));
	struct inject_thread *t = calloc(1, sizeof(*t));
	int64_t begin_ms = inject_now_ms();
	pid_t pid = target->pid;
	char path[64];
	int ret = p && t ? inject_process_learn(p, target->living) : -ENOMEM;

	if (ret == 0 && !adapt) {
		p->has_v8 = false;
		p->python.start = 0;
	}
	ret = ret ? diag_fail(d, -ret, "cannot read process %d: %s", (int)pid, strerror(-ret)) : -EAGAIN;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	while (p && t && ret == -EAGAIN && inject_now_ms() - begin_ms < TRY_MS && proc_mem_living_thread(pid)) {
		int64_t after_ms = inject_now_ms() - begin_ms;
		DIR *dir = opendir(path);
		struct dirent *e;

		if (!dir) {
			ret = diag_fail(d, errno, "cannot read process %d: %s", (int)pid, strerror(errno));
			break;
		}
		while (ret == -EAGAIN && (e = readdir(dir))) {
			pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);

			bool only_calm = (p->has_v8 || p->python.start) && after_ms < CALM_MS;

			if (tid <= 0 || (only_calm && p->has_v8 && tid != pid) || !thread_may_be_tried(pid, tid, after_ms))
				continue;
			t->process = p;
			t->tid = tid;
			t->meanwhile = meanwhile;
			t->context = context;
			ret = try_injection_in_thread(p, t, only_calm, library, socket, d);
		}
		closedir(dir);
		meanwhile(context);
		usleep(NAP_US);
	}
	free(p);
	free(t);
	if (ret == -EAGAIN)
		diag_fail(d, EAGAIN, "cannot inject into process %d: no thread at a safe point within %d s (all are in the loader, libc "
			  "or signal handlers, or wait for locks); try again, or attach without --inject", (int)pid, TRY_MS / 1000);
	return ret < 0 ? attach_target_explain_failure(target, ret, d) : ret;
}
