/* SPDX-License-Identifier: MIT */
/* Writes records of what the kernel has not reported of a process, because it existed before its counters, or because
 * its counters are not inherited. */
#include "agent/recorder/recording/internal.h"

#include "agent/recorder/jit_files/host_options.h"
#include "agent/recorder/jit_files/jit_files.h"
#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/mapping_kind.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define OUTSIDE_BEGIN 0x1000u
#define OUTSIDE_BYTES ((1ull << 47) - 0x2000) /* the addresses of all programs */

void recording_read_comm(pid_t pid, char comm[64])
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

/* known: name that the process has if its own cannot be read, as it has ended. */
static void write_process_record(struct recording *r, pid_t pid, const char *known, const char *executable, size_t bytes)
{
	char comm[64];

	recording_read_comm(pid, comm);
	if (!comm[0])
		snprintf(comm, sizeof(comm), "%s", known);
	TRACE_PUT(r->writer, process, recording_now_ns(r), (uint32_t)pid, (uint32_t)pid, .executable = { executable, bytes },
		  .comm = trace_string(comm));
}

static void write_process(struct recording *r, pid_t pid, const char *known)
{
	char path[64], text[4096], name[512];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/exe", proc_mem_number_in_proc((uint32_t)pid));
	n = readlink(path, text, sizeof(text));
	if (n > 0 && recording_name_file_in_memory(text, (size_t)n, name, sizeof(name)))
		n = snprintf(text, sizeof(text), "%s", name);
	write_process_record(r, pid, known, text, n > 0 ? (size_t)n : 0);
	recording_write_command_line(r, (uint32_t)pid, recording_now_ns(r));
	recording_write_resources(r, (uint32_t)pid, "start", recording_now_ns(r));
	recording_write_service(r, (uint32_t)pid, recording_now_ns(r));
}

void recording_write_process(struct recording *r, pid_t pid)
{
	write_process(r, pid, "");
}

void recording_write_outside(struct recording *r)
{
	r->knows_outside = true;
	TRACE_PUT(r->writer, process, JITREG_TIME_BEFORE, 0, 0, .executable = trace_string(TRACE_OUTSIDE),
		  .comm = trace_string(TRACE_OUTSIDE));
	TRACE_PUT(r->writer, mmap, JITREG_TIME_BEFORE, 0, 0, .address = OUTSIDE_BEGIN, .bytes = OUTSIDE_BYTES,
		  .prot = PROT_READ | PROT_EXEC, .path = trace_string(TRACE_OUTSIDE));
	recording_notice(r, NOTICE_HOST, "processes outside of this PID namespace have no names: they are one, " TRACE_OUTSIDE
			 "; record outside of the container for theirs");
}

void recording_add_process(struct recording *r, pid_t pid, const char *known)
{
	write_process(r, pid, known);
	r->nr_processes++; /* further processes are counted when the kernel reports their fork */
}

void recording_add_child(struct recording *r, pid_t pid, char **command)
{
	write_process_record(r, pid, "", "", 0); /* without an executable, since until its exec the child runs tailor itself */
	r->nr_processes++;
	host_options_write_of_command(r->writer, (uint32_t)pid, recording_now_ns(r), command);
}

void recording_add_fork(struct recording *r, pid_t pid, pid_t parent, uint64_t time_ns)
{
	/* other sources read the mappings, lists and memory that the child has by now */
	jit_files_source.note_fork(recording_source(r, &jit_files_source), (uint32_t)parent, (uint32_t)pid, time_ns);
	TRACE_PUT(r->writer, fork, time_ns, (uint32_t)pid, (uint32_t)pid, .ppid = (uint32_t)parent, .ptid = (uint32_t)parent,
		  .existed = 1);
	r->nr_processes++;
}

struct of_process {
	struct recording *recording;
	pid_t pid;
	uint64_t time_ns, since_ns; /* since_ns: time of the records of mappings */
};

static int write_thread_comm(void *context, pid_t tid)
{
	const struct of_process *t = context;
	char comm[64];

	if (tid == t->pid)
		return 0;
	recording_read_comm(tid, comm);
	recording_write_comm(t->recording,
			 &(struct kernel_comm){ (uint32_t)t->pid, (uint32_t)tid, false, comm, strlen(comm) }, t->time_ns);
	return 0;
}

/* Writes the names of all threads but the first, whose name is in the process's record. */
void recording_write_threads(struct recording *r, pid_t pid, uint64_t time_ns)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	proc_each_numbered_entry(path, write_thread_comm, &(struct of_process){ r, pid, time_ns, time_ns });
}

void recording_write_exec(struct recording *r, pid_t pid)
{
	char comm[64];

	recording_read_comm(pid, comm);
	recording_write_comm(r, &(struct kernel_comm){ (uint32_t)pid, (uint32_t)pid, true, comm, strlen(comm) },
			 recording_now_ns(r));
}

/* Anonymous mappings between two mappings of a file, at the places where the file's bytes would be.  They are text that the program has
 * copied into large pages, so they are written as mappings of the file. */
#define HOLES_MAX 8u
struct hole {
	struct of_process *process;
	char path[PATH_MAX]; /* path of the file that is mapped before the hole; "": none */
	/* base: address at which the file's first byte would be; end: end of the file's mapping and of the hole so far */
	uint64_t inode, device, base, end;
	uint32_t nr;
	struct proc_mapping filling[HOLES_MAX]; /* adjacent anonymous mappings that fill the hole so far */
};

static void write_one(const struct of_process *t, const struct proc_mapping *p)
{
	if (p->prot & PROT_EXEC || t->recording->attr[0].mmap_data)
		recording_write_mapping(t->recording,
				    &(struct mapping){ (uint32_t)t->pid, (uint32_t)t->pid, p->prot, p->start, p->end - p->start, p->offset,
						       p->path, strlen(p->path), NULL, 0, { p->inode ? p->device : 0, p->inode, 0 },
						       p->shared, .existed = true },
				    t->time_ns, t->since_ns);
}

static void write_hole(struct hole *h, bool of_file)
{
	for (uint32_t i = 0; i < h->nr; i++) {
		struct proc_mapping *p = &h->filling[i];

		p->path = of_file ? h->path : "";
		if (of_file) {
			p->offset = p->start - h->base;
			p->inode = h->inode;
			p->device = h->device;
		}
		write_one(h->process, p);
	}
	h->nr = 0;
}

static int write_existing_mapping(void *context, const struct proc_mapping *p)
{
	struct hole *h = context;

	if (!*p->path && *h->path && p->start == h->end && h->nr < HOLES_MAX) {
		h->filling[h->nr++] = *p;
		h->end = p->end;
		return 0;
	}
	write_hole(h, *p->path && strcmp(p->path, h->path) == 0 && p->inode == h->inode && p->start == h->end &&
			      p->start - p->offset == h->base);
	write_one(h->process, p);
	snprintf(h->path, sizeof(h->path), "%s", mapping_kind(p->path, strlen(p->path)) == MAPPING_FILE ? p->path : "");
	h->inode = p->inode;
	h->device = p->device;
	h->base = p->start - p->offset;
	h->end = p->end;
	return 0;
}

void recording_write_maps(struct recording *r, pid_t pid, uint64_t time_ns, uint64_t since_ns)
{
	struct of_process process = { r, pid, time_ns, since_ns };
	struct hole hole = { .process = &process };

	proc_each_mapping(proc_mem_living_thread(pid), write_existing_mapping, &hole);
	write_hole(&hole, false);
}
