/* SPDX-License-Identifier: MIT */
#include "agent/recorder/session/internal.h"

#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/hosts/jit_hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

void session_write_header(struct session *s)
{
	struct trace_text *command;
	struct timespec real;
	struct utsname u = { 0 };
	char cwd[4096] = "";
	size_t nr = 0;

	uname(&u);
	clock_gettime(CLOCK_REALTIME, &real);
	if (!getcwd(cwd, sizeof(cwd)))
		cwd[0] = 0;
	while (s->options.command && s->options.command[nr])
		nr++;
	command = calloc(nr + 1, sizeof(*command));
	for (size_t i = 0; command && i < nr; i++)
		command[i].text = trace_string(s->options.command[i]);
	TRACE_PUT(s->writer, header, session_now_ns(), 0, 0, .version = TRACE_FORMAT_VERSION,
		  .tool = trace_string("tailor " TAILOR_VERSION),
		  .real_ns = (uint64_t)real.tv_sec * 1000000000u + (uint64_t)real.tv_nsec, .host_name = trace_string(u.nodename),
		  .machine = trace_string(u.machine), .kernel = trace_string(u.release),
		  .nr_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN), .cwd = trace_string(cwd), .command = { command, command ? nr : 0 },
		  .way = trace_string(jit_way_text(s->options.way)), .no_adapt = s->options.no_adapt);
	free(command);
}

void session_write_event(struct session *s, int event)
{
	const struct event *e = &s->events.event[event];
	const struct perf_event_attr *a = &e->attr;

	TRACE_PUT(s->writer, event, session_now_ns(), 0, 0, .event = (uint32_t)event, .name = trace_string(e->name),
		  .unit = trace_string(e->unit), .type = a->type, .config = a->config, .period = a->freq ? 0 : a->sample_period,
		  .rate = e->rate, .precise = a->precise_ip, .exclude_kernel = a->exclude_kernel, .registers = a->sample_regs_user,
		  .stack_bytes = a->sample_stack_user, .scope = trace_string(s->sampler != WIRE_SAMPLER_NONE ? "thread" : "cpu"),
		  .period_spread = s->sampler < WIRE_SAMPLER_SIGNAL ? random_period_spread(a) : 0);
}

void session_notice(struct session *s, const char *kind, const char *format, ...)
{
	char text[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	if (s->writer)
		session_note(s, kind, text, strlen(text));
	if (s->asking.notices)
		fprintf(s->asking.notices, "%s\n", text);
	session_progress_clear(s);
	if (!s->options.quiet)
		fprintf(stderr, "%s: %s\n", program_invocation_name, text);
}

void session_note(struct session *s, const char *kind, const char *text, size_t bytes)
{
	TRACE_PUT(s->writer, notice, session_now_ns(), 0, 0, .kind = trace_string(kind), .sentence = { text, bytes });
}

static void read_comm(pid_t pid, char comm[64])
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, comm, 63);
	comm[n > 0 ? n - 1 : 0] = 0; /* without the newline */
	if (fd >= 0)
		close(fd);
}

void session_write_process(struct session *s, pid_t pid, bool before_exec)
{
	char path[64], text[4096], comm[64];
	ssize_t n;

	read_comm(pid, comm);
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = before_exec ? 0 : readlink(path, text, sizeof(text)); /* until its exec it is ourselves */
	TRACE_PUT(s->writer, process, session_now_ns(), (uint32_t)pid, (uint32_t)pid, .executable = { text, n > 0 ? (size_t)n : 0 },
		  .comm = trace_string(comm));
}

struct of_process {
	struct session *session;
	pid_t pid;
	uint64_t time_ns;
};

static int write_thread(void *context, pid_t tid)
{
	const struct of_process *t = context;
	char comm[64];

	if (tid == t->pid)
		return 0;
	read_comm(tid, comm);
	task_events_comm(session_task_events(t->session),
			 &(struct kernel_comm){ (uint32_t)t->pid, (uint32_t)tid, false, comm, strlen(comm) }, t->time_ns);
	return 0;
}

/* What the kernel would have told of threads that were there before the counters. */
void session_write_threads(struct session *s, pid_t pid, uint64_t time_ns)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	proc_each_number(path, write_thread, &(struct of_process){ s, pid, time_ns });
}

void session_write_exec(struct session *s, pid_t pid)
{
	char comm[64];

	read_comm(pid, comm);
	task_events_comm(session_task_events(s), &(struct kernel_comm){ (uint32_t)pid, (uint32_t)pid, true, comm, strlen(comm) },
			 session_now_ns());
}

static int write_mapping(void *context, const struct proc_mapping *p)
{
	const struct of_process *t = context;

	if (p->prot & PROT_EXEC || t->session->events.event[0].attr.mmap_data)
		task_events_mapping(session_task_events(t->session),
				    &(struct mapping){ (uint32_t)t->pid, (uint32_t)t->pid, p->prot, p->start, p->end - p->start, p->offset,
						       p->path, strlen(p->path), NULL, 0, { p->inode ? p->device : 0, p->inode, 0 } },
				    t->time_ns);
	return 0;
}

void session_write_maps(struct session *s, pid_t pid, uint64_t time_ns)
{
	proc_each_mapping(proc_mem_living_thread(pid), write_mapping, &(struct of_process){ s, pid, time_ns });
}

void session_write_end(struct session *s, int wait_status)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	TRACE_PUT(s->writer, end, session_now_ns(), 0, 0, .exit_status = (uint32_t)wait_status, .samples = s->nr_samples,
		  .records = trace_writer_records(s->writer),
		  .recorder_cpu_ns = ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
				     ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000u);
}

void session_put_result(struct session *s, uint64_t bytes)
{
	size_t room = sizeof(s->result), at;

	at = (size_t)snprintf(s->result, room, "%llu samples of %llu process%s in %s (%.1f MiB)", (unsigned long long)s->nr_samples,
			      (unsigned long long)s->nr_processes, s->nr_processes == 1 ? "" : "es", s->options.output,
			      (double)bytes / (1 << 20));
	for (int i = 0; i < NR_LOSSES && at < room; i++)
		if (s->losses.total[i])
			at += (size_t)snprintf(s->result + at, room - at, "; %s: %llu", trace_losses[i].text,
					       (unsigned long long)s->losses.total[i]);
}
