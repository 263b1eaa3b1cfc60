/* SPDX-License-Identifier: MIT */
/* This file reads the tables of its types and variables that HotSpot exports for debuggers (vmStructs.hpp: gHotSpotVMStructs,
 * gHotSpotVMTypes), by which its own serviceability agent reads a JVM from outside. The memory is another process's, so every number is
 * checked. */
#include "agent/recorder/hotspot/internal.h"

#include "agent/recorder/process/proc_mem.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define ENTRIES_MAX 20000
#define ENTRY_BYTES_MAX 128u
#define NAME_BYTES 80

/* This struct is a table, which ends at the first entry without a name. */
struct table {
	pid_t pid;
	uint64_t first, stride, nr;
};

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

bool hotspot_holds_text(pid_t pid, uint64_t address, const char *name)
{
	char text[NAME_BYTES];
	size_t bytes = strlen(name) + 1;

	return address && bytes <= sizeof(text) && proc_mem_read(pid, address, text, bytes) == 0 && memcmp(text, name, bytes) == 0;
}

/* Reads the text at an address, as far as there is room.  Sets text to "" if there is none. */
static void read_text(pid_t pid, uint64_t address, char text[NAME_BYTES])
{
	const struct iovec piece = { (void *)(uintptr_t)address, NAME_BYTES - 1 };
	ssize_t n = address ? proc_mem_read_many(pid, &piece, 1, text) : 0;

	text[n > 0 ? n : 0] = 0;
}

/* This struct has the offsets in an entry of gHotSpotVMStructs. */
struct fields {
	uint64_t type, name, offset, address;
};

static void match_entry(struct hotspot_field *w, int nr, const char *type, const char *name, uint64_t offset, uint64_t address)
{
	for (int i = 0; i < nr; i++)
		if (!w[i].found && strcmp(name, w[i].name) == 0 && strcmp(type, w[i].type) == 0) {
			w[i].value = address ? address : offset;
			w[i].found = true;
		}
}

int hotspot_find_fields(pid_t pid, uint64_t library, struct hotspot_field *w, int nr)
{
	uint64_t type, name, offset, address, last_type = 0;
	char type_text[NAME_BYTES] = "", name_text[NAME_BYTES];
	unsigned char entry[ENTRY_BYTES_MAX];
	struct fields f;
	struct table t;
	int ret = open_vm_table(&t, pid, library, "gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride");

	if (ret || read_u64_variable(pid, library, "gHotSpotVMStructEntryTypeNameOffset", &f.type) ||
	    read_u64_variable(pid, library, "gHotSpotVMStructEntryFieldNameOffset", &f.name) ||
	    read_u64_variable(pid, library, "gHotSpotVMStructEntryOffsetOffset", &f.offset) ||
	    read_u64_variable(pid, library, "gHotSpotVMStructEntryAddressOffset", &f.address))
		return ret ? ret : -ENOENT;
	while (read_next_vm_entry(&t, entry)) {
		if (!load_entry_word(entry, &t, f.type, &type) || !load_entry_word(entry, &t, f.name, &name) || !type ||
		    !load_entry_word(entry, &t, f.offset, &offset) || !load_entry_word(entry, &t, f.address, &address))
			break;
		if (type != last_type) /* entries of a type stand together */
			read_text(pid, type, type_text);
		last_type = type;
		read_text(pid, name, name_text);
		match_entry(w, nr, type_text, name_text, offset, address);
	}
	return 0;
}

int hotspot_find_sizes(pid_t pid, uint64_t library, struct hotspot_size *w, int nr)
{
	unsigned char entry[ENTRY_BYTES_MAX];
	uint64_t name_at, size_at, at, size;
	char name[NAME_BYTES];
	struct table t;

	if (open_vm_table(&t, pid, library, "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride") ||
	    read_u64_variable(pid, library, "gHotSpotVMTypeEntryTypeNameOffset", &name_at) ||
	    read_u64_variable(pid, library, "gHotSpotVMTypeEntrySizeOffset", &size_at))
		return -ENOENT;
	while (read_next_vm_entry(&t, entry) && load_entry_word(entry, &t, name_at, &at) && at) {
		read_text(pid, at, name);
		for (int i = 0; i < nr; i++)
			if (!w[i].bytes && strcmp(name, w[i].name) == 0 && load_entry_word(entry, &t, size_at, &size))
				w[i].bytes = size;
	}
	return 0;
}
