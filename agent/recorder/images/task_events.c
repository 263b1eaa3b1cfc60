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
	trace_record_begin(f.writer, TRACE_CHUNK_RECORDS, TRACE_MMAP, time_ns, m->pid, m->tid, F_COUNT(mmap));
	trace_record_u64(f.writer, m->address);
	trace_record_u64(f.writer, m->bytes);
	trace_record_u64(f.writer, m->offset);
	trace_record_u64(f.writer, m->prot);
	trace_record_text(f.writer, m->path, m->path_bytes);
	trace_record_bytes(f.writer, m->build_id ? (const void *)m->build_id : "", executable ? m->build_id_bytes : 0);
	trace_record_u64(f.writer, m->file.device);
	trace_record_u64(f.writer, m->file.inode);
	trace_record_u64(f.writer, m->file.generation);
	trace_record_end(f.writer);
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
	trace_record_begin(f.writer, TRACE_CHUNK_RECORDS, fork ? TRACE_FORK : TRACE_EXIT, t->time_ns, t->pid, t->tid,
			   fork ? F_COUNT(fork) : F_COUNT(exit));
	trace_record_u64(f.writer, t->ppid);
	trace_record_u64(f.writer, t->ptid);
	trace_record_end(f.writer);
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
	trace_record_begin(f.writer, TRACE_CHUNK_RECORDS, TRACE_COMM, time_ns, c->pid, c->tid, F_COUNT(comm));
	trace_record_u64(f.writer, c->exec);
	trace_record_text(f.writer, c->name, c->bytes);
	trace_record_end(f.writer);
}

struct switch_sample task_events_switch(const struct perf_event_header *h, const struct record_id *id)
{
	struct switch_sample sample = { { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, sizeof(sample) },
					(uint64_t)id->tid << 32 | id->pid, id->time_ns, id->cpu, TRACE_SWITCH_IN };

	if (h->misc & PERF_RECORD_MISC_SWITCH_OUT)
		sample.kind = h->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? TRACE_SWITCH_PREEMPTED : TRACE_SWITCH_WAITS;
	return sample;
}
