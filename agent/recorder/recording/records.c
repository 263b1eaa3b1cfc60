/* SPDX-License-Identifier: MIT */
#include "agent/recorder/recording/internal.h"

#include "agent/recorder/hotspot/jvms.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/deleted_path.h"
#include "jitreg/base/mapping_kind.h"

#include "jitreg/hosts/jit_hosts.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

void recording_write_header(struct recording *r, const struct recording_header *h)
{
	struct trace_text *command;
	struct utsname u = { 0 };
	char cwd[4096] = "";
	size_t nr = 0;

	uname(&u);
	if (!getcwd(cwd, sizeof(cwd)))
		cwd[0] = 0;
	while (h->command && h->command[nr])
		nr++;
	command = calloc(nr + 1, sizeof(*command));
	for (size_t i = 0; command && i < nr; i++)
		command[i].text = trace_string(h->command[i]);
	TRACE_PUT(r->writer, header, recording_now_ns(r), 0, 0, .version = TRACE_FORMAT_VERSION,
		  .tool = trace_string("tailor " TAILOR_VERSION),
		  .real_ns = (uint64_t)clock_real_ns(), .host_name = trace_string(u.nodename),
		  .machine = trace_string(u.machine), .kernel = trace_string(u.release),
		  .nr_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN), .cwd = trace_string(cwd), .command = { command, command ? nr : 0 },
		  .way = trace_string(jit_way_text(h->way)), .no_adapt = h->no_adapt,
		  .epoch = h->epoch, .cut_recording = h->cut_recording);
	free(command);
}

void recording_write_event(struct recording *r, uint32_t number, const struct event *e, const struct recording_event *how)
{
	const struct perf_event_attr *a = &e->attr;

	TRACE_PUT(r->writer, event, recording_now_ns(r), 0, 0, .event = number, .name = trace_string(e->name),
		  .unit = trace_string(weight_units[e->unit]), .type = a->type, .config = a->config,
		  .period = a->freq ? 0 : a->sample_period, .rate = e->rate, .precise = a->precise_ip,
		  .exclude_kernel = a->exclude_kernel, .registers = a->sample_regs_user, .stack_bytes = a->sample_stack_user,
		  .scope = trace_string(how->scope), .period_spread = how->period_spread);
}

void recording_notice(struct recording *r, enum notice_kind kind, const char *format, ...)
{
	char text[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	recording_write_notice(r, kind, text, strlen(text));
	if (r->options.notice)
		r->options.notice(r->options.context, text);
}

void recording_write_notice(struct recording *r, enum notice_kind kind, const char *text, size_t bytes)
{
	trace_writer_flush(r->writer, TRACE_CHUNK_RECORDS); /* if the disk is full, a small chunk may still fit, and a large one not */
	TRACE_PUT(r->writer, notice, recording_now_ns(r), 0, 0, .kind = trace_string(trace_notices[kind]), .sentence = { text, bytes });
	trace_writer_flush_sentence(r->writer);
}

void recording_note_lack(struct recording *r, pid_t pid, const struct host_lack *l)
{
	const struct host_versions *v = &host_versions[l->host];
	char reason[HOST_REASON_BYTES], sentence[HOST_SENTENCE_BYTES];

	if (!host_lacks_add(&r->lacks, l))
		return;
	host_lack_reason(l, reason);
	host_lack_sentence(l, sentence);
	TRACE_PUT(r->writer, host_lack, recording_now_ns(r), (uint32_t)pid, 0, .host = trace_string(v->host),
		  .host_version = trace_string(l->version), .missing = trace_string(v->missing), .reason = trace_string(reason),
		  .lacks = trace_string(l->why), .helps = trace_string(host_lack_helps(l)), .jit_hosts = trace_string(v->jit_hosts));
	recording_write_notice(r, NOTICE_VERSION, sentence, strlen(sentence));
	if (r->options.notice && (!r->options.told || host_lacks_add(r->options.told, l)))
		r->options.notice(r->options.context, sentence);
}

#define MEMFD "/memfd:"

/* Is a mapping of a file in memory (memfd_create(2)) one of a program or library, as loaders execute them from there, and not of a JIT's
 * code?  The beginning of the file is read where the process has mapped it. */
static bool is_elf_in_memory(const struct mapping *m)
{
	char magic[SELFMAG];

	return m->prot & PROT_EXEC && !m->shared && m->path_bytes > sizeof(MEMFD) - 1 && memcmp(m->path, MEMFD, sizeof(MEMFD) - 1) == 0 &&
	       m->address >= m->offset &&
	       proc_mem_read((pid_t)proc_mem_number_in_proc(m->pid), m->address - m->offset, magic, sizeof(magic)) == 0 &&
	       memcmp(magic, ELFMAG, SELFMAG) == 0;
}

bool recording_name_file_in_memory(const char *path, size_t bytes, char *name, size_t room)
{
	const size_t head = sizeof(MEMFD) - 1;

	bytes = strnlen(path, bytes);
	if (bytes < head || memcmp(path, MEMFD, head) != 0)
		return false;
	bytes = head + deleted_path_bytes(path + head, bytes - head);
	snprintf(name, room, MEMORY_FILE_FOLDER "%.*s", (int)(bytes - head), path + head);
	return true;
}

static void write_elf_in_memory(struct recording *r, const struct mapping *m, uint64_t time_ns, uint64_t since_ns)
{
	struct mapping named = *m;
	char path[512];

	recording_name_file_in_memory(m->path, m->path_bytes, path, sizeof(path));
	named.path = path;
	named.path_bytes = strlen(path);
	recording_write_mapping(r, &named, time_ns, since_ns);
}

void recording_write_mapping(struct recording *r, const struct mapping *m, uint64_t time_ns, uint64_t since_ns)
{
	bool executable = m->prot & PROT_EXEC;

	if (!r->options.sources.past_end_ns && is_elf_in_memory(m)) {
		write_elf_in_memory(r, m, time_ns, since_ns);
		return;
	}
	if (executable)
		TELL_SOURCES(r, note_mapping, m, time_ns);
	TRACE_PUT(r->writer, mmap, since_ns, m->pid, m->tid, .address = m->address, .bytes = m->bytes, .file_offset = m->offset,
		  .prot = m->prot, .path = { m->path, m->path_bytes }, .build_id = { m->build_id, executable ? m->build_id_bytes : 0 },
		  .device = m->file.device, .inode = m->file.inode, .generation = m->file.generation);
}

void recording_note_exec(struct recording *r, const struct kernel_comm *c, uint64_t time_ns)
{
	TELL_SOURCES(r, note_exec, c, time_ns);
}

void recording_write_comm(struct recording *r, const struct kernel_comm *c, uint64_t time_ns)
{
	if (c->exec)
		recording_note_exec(r, c, time_ns);
	else
		jvms_note_comm(recording_source(r, &jvms_source), c->pid, c->tid, time_ns);
	TRACE_PUT(r->writer, comm, time_ns, c->pid, c->tid, .exec = c->exec, .comm = { c->name, c->bytes });
	if (c->exec && !r->options.sources.past_end_ns) { /* not in an import, as its processes have ended */
		proc_mem_wait_for_program((pid_t)c->pid);
		recording_write_command_line(r, c->pid, time_ns);
		recording_write_resources(r, c->pid, "start", recording_now_ns(r)); /* not time_ns, since the values are those of now */
		if (!recording_write_service(r, c->pid, time_ns))
			recording_count_loss(r, LOSS_SERVICE_OF_PARENT, 0, 0, 1);
	}
}

static uint64_t cpu_ns_of_usage(const struct rusage *u)
{
	return ((uint64_t)u->ru_utime.tv_sec + (uint64_t)u->ru_stime.tv_sec) * 1000000000u +
	       ((uint64_t)u->ru_utime.tv_usec + (uint64_t)u->ru_stime.tv_usec) * 1000u;
}

void recording_note_command_usage(struct recording *r, const struct rusage *usage)
{
	r->command_cpu_ns = cpu_ns_of_usage(usage);
}

void recording_note_recorder_usage(struct recording *r, int64_t cpu_ns)
{
	r->recorder_cpu_ns = cpu_ns;
}

void recording_write_end(struct recording *r, int wait_status)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	TRACE_PUT(r->writer, end, recording_now_ns(r), 0, 0, .exit_status = (uint32_t)wait_status, .samples = r->nr_samples,
		  .records = trace_writer_records(r->writer),
		  .recorder_cpu_ns = (uint64_t)r->recorder_cpu_ns + cpu_ns_of_usage(&usage), .command_cpu_ns = r->command_cpu_ns);
}

