/* SPDX-License-Identifier: MIT */
/* This file reads the layout of a JVM's data from its own tables. */
#include "agent/recorder/hotspot/internal.h"

#include "agent/recorder/process/proc_mem.h"

#include <errno.h>
#include <string.h>

#define BLOB_BYTES_MAX 512u

#define COUNT_(...) +1
enum { NR_FIELDS = 0 HOTSPOT_FIELDS(COUNT_), NR_OTHERS = 0 HOTSPOT_OTHER_FIELDS(COUNT_), NR_SIZES = 0 HOTSPOT_SIZES(COUNT_) };

/* Returns the end of the last field of a blob that is read. */
static uint64_t end_of_blob_fields(const struct hotspot_layout *l)
{
	const uint64_t at[] = { l->blob_name, l->blob_size, l->blob_frame_complete, l->blob_frame_size, l->blob_data, l->compile_id,
				l->code_begin, l->code_offset, l->blob_method };
	uint64_t end = 0;

	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		end = at[i] > end ? at[i] : end;
	return end + 8;
}

int hotspot_layout_read(struct hotspot_layout *l, pid_t pid, uint64_t library)
{
#define FIELD_(member, type_, name_) { .type = (type_), .name = (name_) },
	struct hotspot_field field[NR_FIELDS + NR_OTHERS + 1] = { HOTSPOT_FIELDS(FIELD_) HOTSPOT_OTHER_FIELDS(FIELD_)
								  FIELD_(major, "Abstract_VM_Version", "_vm_major_version") };
#define SIZE_(member, name_) { .name = (name_) },
	struct hotspot_size size[NR_SIZES] = { HOTSPOT_SIZES(SIZE_) };
	int i = 0, n = 0;

	memset(l, 0, sizeof(*l));
	l->pid = pid;
	if (hotspot_find_fields(pid, library, field, NR_FIELDS + NR_OTHERS + 1) || hotspot_find_sizes(pid, library, size, NR_SIZES))
		return -ENOENT;
	for (int k = 0; k < NR_FIELDS; k++)
		if (!field[k].found)
			return -ENOTSUP;
#define TAKE_(member, ...) l->member = field[i++].value;
	HOTSPOT_FIELDS(TAKE_)
	HOTSPOT_OTHER_FIELDS(TAKE_)
#define TAKE_SIZE_(member, ...) l->member = size[n++].bytes;
	HOTSPOT_SIZES(TAKE_SIZE_)
	l->has_code_begin = l->code_begin != 0;
	l->blob_method = l->compiled_method ? l->compiled_method : l->nmethod_method;
	l->const_flags = l->const_flags ? l->const_flags : l->const_flags_field;
	l->blob_bytes = end_of_blob_fields(l);
	if ((!l->code_begin && !l->code_offset) || !l->blob_method || !l->block_bytes || l->block_bytes > 64 || !l->const_bytes ||
	    !l->pool_bytes || l->blob_bytes > BLOB_BYTES_MAX)
		return -ENOTSUP;
	if (field[i].found && proc_mem_read(pid, field[i].value, &l->major, sizeof(l->major)))
		return -EFAULT;
	return 0;
}
