/* SPDX-License-Identifier: MIT */
/*
 * This module reads records of the kernel that are no samples, which are of mappings, names, tasks, switches, throttling, losses and the
 * kernel's symbols. They are the same in live rings and in perf's files. Texts and build ids are not copied, and their pointers lead into
 * the record. Layout: linux/perf_event.h, enum perf_event_type.
 * Context: any.
 */
#ifndef TAILOR_KERNEL_RECORD_H
#define TAILOR_KERNEL_RECORD_H

#include "agent/recorder/perf/record.h"
#include "jitreg/base/file_identity.h"

#include <stddef.h>

struct mapping {
	uint32_t pid, tid, prot;
	uint64_t address, bytes, offset;
	const char *path; /* path_bytes long, not NUL-terminated */
	size_t path_bytes;
	const unsigned char *build_id; /* NULL: unknown */
	size_t build_id_bytes;	       /* at most 20 */
	struct file_identity file;
	bool shared; /* the mapping shares its pages with other mappings of the file; false if unknown */
	bool by_guest; /* registered by an agent, with the path that its loader used, which may have symbolic links in it */
	bool existed; /* read from /proc, not reported by the kernel, so it may be older than all reports */
};

struct kernel_comm {
	uint32_t pid, tid;
	bool exec; /* the name has changed because of an exec */
	const char *name; /* as long as `bytes` says, not NUL-terminated */
	size_t bytes;
};

/* This struct has the layout of PERF_RECORD_FORK and PERF_RECORD_EXIT. */
struct kernel_task {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time_ns;
};

struct kernel_symbol {
	uint64_t address;
	uint32_t bytes;
	uint16_t kind, flags; /* kind: PERF_RECORD_KSYMBOL_TYPE_... */
	const char *name; /* name_bytes long, not NUL-terminated */
	size_t name_bytes;
};

struct kernel_record {
	struct record_id id;
	union { /* the header's type selects the member */
		struct mapping mapping;	     /* MMAP, MMAP2 */
		struct kernel_comm comm;     /* COMM */
		struct kernel_task task;     /* FORK, EXIT */
		uint64_t lost;		     /* LOST, LOST_SAMPLES: how many */
		struct kernel_symbol symbol; /* KSYMBOL */
	};
};

/* Does kernel_record() read this type?  True also of THROTTLE, SWITCH and SWITCH_CPU_WIDE, of which only the id is read. */
bool kernel_record_is_known(uint32_t type);
/* Reads a record.  Returns 0, -ENOENT if the type is not known, or -EBADMSG if the record is too short or its size is invalid.  After an
 * error *out is not to be used. */
int kernel_record(const struct record_layout *l, const struct perf_event_header *h, struct kernel_record *out);

#endif
