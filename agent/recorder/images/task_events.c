/* SPDX-License-Identifier: MIT */
#include "agent/recorder/images/task_events.h"

#include <sys/mman.h>

void task_events_mapping(struct task_events f, const struct mapping *m, uint64_t time_ns)
{
	bool executable = m->prot & PROT_EXEC;

	if (executable) {
		images_map(f.images, m);
		jit_files_map(f.jit_files, m->pid, m->address, m->bytes, m->path, m->path_bytes, time_ns);
	}
	TRACE_PUT(f.writer, mmap, time_ns, m->pid, m->tid, .address = m->address, .bytes = m->bytes, .file_offset = m->offset,
		  .prot = m->prot, .path = { m->path, m->path_bytes }, .build_id = { m->build_id, executable ? m->build_id_bytes : 0 },
		  .device = m->file.device, .inode = m->file.inode, .generation = m->file.generation);
}

void task_events_task(struct task_events f, const struct kernel_task *t)
{
	bool fork = t->header.type == PERF_RECORD_FORK;

	if (fork && t->pid != t->ppid)
		images_fork(f.images, t->ppid, t->pid);
	if (!fork && t->pid == t->tid) {
		images_exit(f.images, t->pid);
		jit_files_end(f.jit_files, t->pid);
	}
	if (fork)
		TRACE_PUT(f.writer, fork, t->time_ns, t->pid, t->tid, .ppid = t->ppid, .ptid = t->ptid);
	else
		TRACE_PUT(f.writer, exit, t->time_ns, t->pid, t->tid, .ppid = t->ppid, .ptid = t->ptid);
}

void task_events_exec(struct task_events f, uint32_t pid)
{
	images_forget(f.images, pid);
	jit_files_end(f.jit_files, pid);
}

void task_events_comm(struct task_events f, const struct kernel_comm *c, uint64_t time_ns)
{
	if (c->exec)
		task_events_exec(f, c->pid);
	TRACE_PUT(f.writer, comm, time_ns, c->pid, c->tid, .exec = c->exec, .comm = { c->name, c->bytes });
}

struct switch_sample task_events_switch(const struct perf_event_header *h, const struct record_id *id)
{
	struct switch_sample sample = { { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, sizeof(sample) },
					(uint64_t)id->tid << 32 | id->pid, id->time_ns, id->cpu, TRACE_SWITCH_IN };

	if (h->misc & PERF_RECORD_MISC_SWITCH_OUT)
		sample.kind = h->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? TRACE_SWITCH_PREEMPTED : TRACE_SWITCH_WAITS;
	return sample;
}
