/* SPDX-License-Identifier: MIT */
#include "agent/recorder/recording/internal.h"

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

void recording_put_text(struct recording *r, const char *text)
{
	trace_record_text(r->writer, text, strlen(text));
}

void recording_write_header(struct recording *r, const struct recording_header *h)
{
	struct trace_writer *w = r->writer;
	struct timespec real;
	struct utsname u = { 0 };
	char cwd[4096] = "";
	size_t nr = 0;

	uname(&u);
	clock_gettime(CLOCK_REALTIME, &real);
	if (!getcwd(cwd, sizeof(cwd)))
		cwd[0] = 0;
	while (h->command && h->command[nr])
		nr++;
	trace_record_begin(w, TRACE_CHUNK_RECORDS, TRACE_HEADER, recording_now_ns(r), 0, 0, F_COUNT(header));
	trace_record_u64(w, TRACE_FORMAT_VERSION);
	recording_put_text(r, "tailor " TAILOR_VERSION);
	trace_record_u64(w, (uint64_t)real.tv_sec * 1000000000u + (uint64_t)real.tv_nsec);
	recording_put_text(r, u.nodename);
	recording_put_text(r, u.machine);
	recording_put_text(r, u.release);
	trace_record_u64(w, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	recording_put_text(r, cwd);
	trace_record_array(w, nr);
	for (size_t i = 0; i < nr; i++) {
		trace_record_array(w, 1);
		recording_put_text(r, h->command[i]);
	}
	recording_put_text(r, jit_way_text(h->way));
	trace_record_u64(w, h->no_adapt);
	trace_record_end(w);
}

void recording_write_event(struct recording *r, uint32_t number, const struct event *e, const char *scope, uint64_t spread)
{
	const struct perf_event_attr *a = &e->attr;
	struct trace_writer *w = r->writer;

	trace_record_begin(w, TRACE_CHUNK_RECORDS, TRACE_EVENT, recording_now_ns(r), 0, 0, F_COUNT(event));
	trace_record_u64(w, number);
	recording_put_text(r, e->name);
	recording_put_text(r, e->unit);
	trace_record_u64(w, a->type);
	trace_record_u64(w, a->config);
	trace_record_u64(w, a->freq ? 0 : a->sample_period);
	trace_record_u64(w, e->rate);
	trace_record_u64(w, a->precise_ip);
	trace_record_u64(w, a->exclude_kernel);
	trace_record_u64(w, a->sample_regs_user);
	trace_record_u64(w, a->sample_stack_user);
	recording_put_text(r, scope);
	trace_record_u64(w, spread);
	trace_record_end(w);
}

void recording_notice(struct recording *r, const char *kind, const char *format, ...)
{
	char text[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	recording_note(r, kind, text, strlen(text));
	if (r->options.notice)
		r->options.notice(r->options.context, text);
}

void recording_note(struct recording *r, const char *kind, const char *text, size_t bytes)
{
	trace_record_begin(r->writer, TRACE_CHUNK_RECORDS, TRACE_NOTICE, recording_now_ns(r), 0, 0, F_COUNT(notice));
	recording_put_text(r, kind);
	trace_record_text(r->writer, text, bytes);
	trace_record_end(r->writer);
}

void recording_write_mapping(struct recording *r, const struct mapping *m, uint64_t time_ns)
{
	bool executable = m->prot & PROT_EXEC;

	if (executable) {
		images_map(r->images, m);
		jit_files_map(r->jit_files, m->pid, m->address, m->bytes, m->path, m->path_bytes, time_ns);
	}
	trace_record_begin(r->writer, TRACE_CHUNK_RECORDS, TRACE_MMAP, time_ns, m->pid, m->tid, F_COUNT(mmap));
	trace_record_u64(r->writer, m->address);
	trace_record_u64(r->writer, m->bytes);
	trace_record_u64(r->writer, m->offset);
	trace_record_u64(r->writer, m->prot);
	trace_record_text(r->writer, m->path, m->path_bytes);
	trace_record_bytes(r->writer, m->build_id ? (const void *)m->build_id : "", executable ? m->build_id_bytes : 0);
	trace_record_u64(r->writer, m->file.device);
	trace_record_u64(r->writer, m->file.inode);
	trace_record_u64(r->writer, m->file.generation);
	trace_record_end(r->writer);
}

void recording_begin_program(struct recording *r, uint32_t pid)
{
	images_forget(r->images, pid);
	jit_files_end(r->jit_files, pid);
}

void recording_write_comm(struct recording *r, const struct kernel_comm *c, uint64_t time_ns)
{
	if (c->exec)
		recording_begin_program(r, c->pid);
	trace_record_begin(r->writer, TRACE_CHUNK_RECORDS, TRACE_COMM, time_ns, c->pid, c->tid, F_COUNT(comm));
	trace_record_u64(r->writer, c->exec);
	trace_record_text(r->writer, c->name, c->bytes);
	trace_record_end(r->writer);
}

void recording_write_end(struct recording *r, int wait_status)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	trace_record_begin(r->writer, TRACE_CHUNK_END, TRACE_END, recording_now_ns(r), 0, 0, F_COUNT(end));
	trace_record_u64(r->writer, (uint32_t)wait_status);
	trace_record_u64(r->writer, r->nr_samples);
	trace_record_u64(r->writer, trace_writer_records(r->writer));
	trace_record_u64(r->writer, ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
				    ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000u);
	trace_record_end(r->writer);
}

