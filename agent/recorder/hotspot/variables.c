/* SPDX-License-Identifier: MIT */
/* This file reads a JVM's version and flags from its memory, by its own tables (vm_structs.c). */
#include "agent/recorder/hotspot/internal.h"

#include "agent/recorder/process/proc_mem.h"

#include <errno.h>
#include <string.h>

#define FLAGS_MAX 5000u
#define FLAG_BYTES_MAX 256u

/* This struct is a flag whose value is one byte. */
struct flag {
	const char *name;
	bool *to;
	bool found; /* true from the beginning for a flag that not all versions have, and which is false there */
};

static int read_vm_flags(pid_t pid, uint64_t first, uint64_t nr, uint64_t bytes, uint64_t name_at, uint64_t value_at, struct flag *flags,
			 int nr_flags)
{
	unsigned char entry[FLAG_BYTES_MAX];
	uint64_t name, address;
	uint8_t value;

	if (nr > FLAGS_MAX || bytes < 8 || bytes > sizeof(entry) || name_at > bytes - 8 || value_at > bytes - 8)
		return -EBADMSG;
	for (uint64_t i = 0; i < nr; i++) {
		if (proc_mem_read(pid, first + i * bytes, entry, bytes))
			return -EFAULT;
		memcpy(&name, entry + name_at, 8);
		memcpy(&address, entry + value_at, 8);
		for (int k = 0; k < nr_flags; k++)
			if (flags[k].to && hotspot_holds_text(pid, name, flags[k].name)) {
				if (proc_mem_read(pid, address, &value, 1) || value > 1)
					return -EBADMSG;
				*flags[k].to = value;
				flags[k].found = true;
				flags[k].to = NULL;
			}
	}
	for (int k = 0; k < nr_flags; k++)
		if (!flags[k].found)
			return -ENOENT;
	return 0;
}

int hotspot_read_variables(pid_t pid, uint64_t library, struct hotspot_variables *v)
{
	enum { MAJOR, FLAGS, NR_FLAGS, NAME, VALUE, NR };
	struct hotspot_field w[NR] = {
		[MAJOR] = { .type = "Abstract_VM_Version", .name = "_vm_major_version" },
		[FLAGS] = { .type = "JVMFlag", .name = "flags" },
		[NR_FLAGS] = { .type = "JVMFlag", .name = "numFlags" },
		[NAME] = { .type = "JVMFlag", .name = "_name" },
		[VALUE] = { .type = "JVMFlag", .name = "_addr" },
	};
	struct flag flags[] = { { "DisableAttachMechanism", &v->attach_disabled, false },
				{ "EnableJVMCI", &v->has_jvmci, true },
				{ "ReduceSignalUsage", &v->signals_reduced, false },
				{ "UseCompressedOops", &v->has_narrow_pointers, true },
				{ "UseCompressedClassPointers", &v->has_narrow_classes, true },
				{ "UseCompactObjectHeaders", &v->has_compact_headers, true },
				{ "UseZGC", &v->has_coloured_pointers, true } };
	struct hotspot_size flag = { "JVMFlag", 0 };
	uint64_t first, nr;
	int ret = hotspot_find_fields(pid, library, w, NR);

	memset(v, 0, sizeof(*v));
	if (ret)
		return ret;
	if (!w[MAJOR].found)
		return 0;
	for (int i = 0; i < NR; i++)
		if (!w[i].found)
			return -ENOENT;
	if (proc_mem_read(pid, w[MAJOR].value, &v->major, sizeof(v->major)) || proc_mem_read(pid, w[FLAGS].value, &first, sizeof(first)) ||
	    proc_mem_read(pid, w[NR_FLAGS].value, &nr, sizeof(nr)))
		return -EFAULT;
	hotspot_find_sizes(pid, library, &flag, 1);
	return read_vm_flags(pid, first, nr, flag.bytes, w[NAME].value, w[VALUE].value, flags, (int)(sizeof(flags) / sizeof(flags[0])));
}
