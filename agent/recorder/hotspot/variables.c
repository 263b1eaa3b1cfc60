/* SPDX-License-Identifier: MIT */
/*
 * HotSpot exports tables of its types and variables for debuggers (vmStructs.hpp: gHotSpotVMStructs, gHotSpotVMTypes), of which its own
 * serviceability agent reads a JVM's flags from outside.  The memory is another process's: every number is checked.
 */
#include "agent/recorder/hotspot/internal.h"

#include "agent/recorder/process/proc_mem.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define ENTRIES_MAX 20000
#define ENTRY_BYTES_MAX 128u
#define FLAGS_MAX 5000u
#define FLAG_BYTES_MAX 256u
#define NAME_BYTES 32

/* A table: its entries, up to the first without a name. */
struct table {
	pid_t pid;
	uint64_t first, stride, nr;
};

/* Where something lies in an entry. */
static int read_u64_variable(pid_t pid, uint64_t library, const char *symbol, uint64_t *value)
{
	uint64_t at = proc_mem_find_symbol(pid, library, symbol);

	return at ? proc_mem_read(pid, at, value, sizeof(*value)) : -ENOENT;
}

static int open_vm_table(struct table *t, pid_t pid, uint64_t library, const char *first, const char *stride)
{
	t->pid = pid;
	t->nr = 0;
	if (read_u64_variable(pid, library, first, &t->first) || read_u64_variable(pid, library, stride, &t->stride))
		return -ENOENT;
	return t->first && t->stride >= 8 && t->stride <= ENTRY_BYTES_MAX ? 0 : -EBADMSG;
}

/* Does the text at address begin and end as name does? */
static bool memory_holds_text(pid_t pid, uint64_t address, const char *name)
{
	char text[NAME_BYTES];
	size_t bytes = strlen(name) + 1;

	return address && bytes <= sizeof(text) && proc_mem_read(pid, address, text, bytes) == 0 && memcmp(text, name, bytes) == 0;
}

static bool read_next_vm_entry(struct table *t, unsigned char entry[ENTRY_BYTES_MAX])
{
	return t->nr < ENTRIES_MAX && proc_mem_read(t->pid, t->first + t->nr++ * t->stride, entry, t->stride) == 0;
}

static bool load_entry_word(const unsigned char *entry, const struct table *t, uint64_t offset, uint64_t *value)
{
	if (offset > t->stride - 8)
		return false;
	memcpy(value, entry + offset, 8);
	return true;
}

/* Offsets in an entry of gHotSpotVMStructs. */
struct fields {
	uint64_t type, name, offset, address;
};

struct wanted {
	const char *type, *name;
	bool found;
	uint64_t value; /* a static variable's address, or a field's offset */
};

static int find_vm_variables(pid_t pid, uint64_t library, struct wanted *w, int nr)
{
	unsigned char entry[ENTRY_BYTES_MAX];
	struct fields f;
	struct table t;
	uint64_t type, name;
	int ret = open_vm_table(&t, pid, library, "gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride");

	if (ret || read_u64_variable(pid, library, "gHotSpotVMStructEntryTypeNameOffset", &f.type) ||
	    read_u64_variable(pid, library, "gHotSpotVMStructEntryFieldNameOffset", &f.name) ||
	    read_u64_variable(pid, library, "gHotSpotVMStructEntryOffsetOffset", &f.offset) ||
	    read_u64_variable(pid, library, "gHotSpotVMStructEntryAddressOffset", &f.address))
		return ret ? ret : -ENOENT;
	while (read_next_vm_entry(&t, entry)) {
		if (!load_entry_word(entry, &t, f.type, &type) || !load_entry_word(entry, &t, f.name, &name) || !type)
			break;
		for (int i = 0; i < nr; i++) {
			uint64_t offset, address;

			if (w[i].found || !memory_holds_text(pid, name, w[i].name) || !memory_holds_text(pid, type, w[i].type) ||
			    !load_entry_word(entry, &t, f.offset, &offset) || !load_entry_word(entry, &t, f.address, &address))
				continue;
			w[i].value = address ? address : offset;
			w[i].found = true;
		}
	}
	return 0;
}

static uint64_t size_of_vm_type(pid_t pid, uint64_t library, const char *name)
{
	unsigned char entry[ENTRY_BYTES_MAX];
	uint64_t name_at, size_at, at, size;
	struct table t;

	if (open_vm_table(&t, pid, library, "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride") ||
	    read_u64_variable(pid, library, "gHotSpotVMTypeEntryTypeNameOffset", &name_at) ||
	    read_u64_variable(pid, library, "gHotSpotVMTypeEntrySizeOffset", &size_at))
		return 0;
	while (read_next_vm_entry(&t, entry) && load_entry_word(entry, &t, name_at, &at) && at)
		if (memory_holds_text(pid, at, name) && load_entry_word(entry, &t, size_at, &size))
			return size;
	return 0;
}

/* A flag of one byte. */
struct flag {
	const char *name;
	bool *to;
	bool found;
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
			if (!flags[k].found && memory_holds_text(pid, name, flags[k].name)) {
				if (proc_mem_read(pid, address, &value, 1) || value > 1)
					return -EBADMSG;
				*flags[k].to = value;
				flags[k].found = true;
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
	struct wanted w[NR] = {
		[MAJOR] = { .type = "Abstract_VM_Version", .name = "_vm_major_version" },
		[FLAGS] = { .type = "JVMFlag", .name = "flags" },
		[NR_FLAGS] = { .type = "JVMFlag", .name = "numFlags" },
		[NAME] = { .type = "JVMFlag", .name = "_name" },
		[VALUE] = { .type = "JVMFlag", .name = "_addr" },
	};
	struct flag flags[] = { { "DisableAttachMechanism", &v->attach_disabled, false },
				{ "PreserveFramePointer", &v->frame_pointers, false },
				{ "ReduceSignalUsage", &v->signals_reduced, false } };
	uint64_t first, nr;
	int ret = find_vm_variables(pid, library, w, NR);

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
	return read_vm_flags(pid, first, nr, size_of_vm_type(pid, library, "JVMFlag"), w[NAME].value, w[VALUE].value, flags,
			     (int)(sizeof(flags) / sizeof(flags[0])));
}
