/* SPDX-License-Identifier: MIT */
#include "agent/recorder/perf/kernel_record.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define BUILD_ID_BYTES 20

/* This table has the least bytes of a record of each known type, without the header and the record_id. SWITCH has none, which 1 stands for,
 * since 0 means that the type is not known. */
static const uint16_t least[] = {
	[PERF_RECORD_MMAP] = 32,     [PERF_RECORD_LOST] = 16,	       [PERF_RECORD_COMM] = 8,	  [PERF_RECORD_EXIT] = 24,
	[PERF_RECORD_FORK] = 24,     [PERF_RECORD_THROTTLE] = 24,      [PERF_RECORD_MMAP2] = 64,  [PERF_RECORD_LOST_SAMPLES] = 8,
	[PERF_RECORD_SWITCH] = 1,    [PERF_RECORD_SWITCH_CPU_WIDE] = 8, [PERF_RECORD_KSYMBOL] = 16,
};

bool kernel_record_is_known(uint32_t type)
{
	return type < sizeof(least) / sizeof(least[0]) && least[type];
}

static struct mapping mapping_of_record(const struct perf_event_header *h, size_t end)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t address, bytes, offset;
	} r;
	struct {
		unsigned char who[24]; /* the file's device, inode and its generation, or the size of its build id and the id */
		uint32_t prot, flags;
	} r2 = { .prot = h->misc & PERF_RECORD_MISC_MMAP_DATA ? PROT_READ : PROT_READ | PROT_EXEC };
	bool second = h->type == PERF_RECORD_MMAP2;
	size_t at = sizeof(r) + (second ? sizeof(r2) : 0);
	struct mapping m;

	memcpy(&r, h, sizeof(r));
	if (second)
		memcpy(&r2, (const char *)h + sizeof(r), sizeof(r2));
	m = (struct mapping){ r.pid, r.tid, r2.prot, r.address, r.bytes, r.offset, (const char *)h + at, 0, NULL, 0, { 0 },
			      second && r2.flags & MAP_SHARED, false, false };
	m.path_bytes = strnlen(m.path, end - at);
	if (second && h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID && r2.who[0] <= BUILD_ID_BYTES) {
		m.build_id = (const unsigned char *)h + sizeof(r) + 4;
		m.build_id_bytes = r2.who[0];
	} else if (second) {
		uint32_t device[2];

		memcpy(device, r2.who, sizeof(device));
		memcpy(&m.file.inode, r2.who + 8, 8);
		memcpy(&m.file.generation, r2.who + 16, 8);
		m.file.device = m.file.inode ? (uint64_t)device[0] << 32 | device[1] : 0;
	}
	return m;
}

static struct kernel_comm comm_of_record(const struct perf_event_header *h, size_t end)
{
	uint32_t who[2];
	size_t at = sizeof(*h) + sizeof(who);
	const char *name = (const char *)h + at;

	memcpy(who, h + 1, sizeof(who));
	return (struct kernel_comm){ who[0], who[1], h->misc & PERF_RECORD_MISC_COMM_EXEC, name, strnlen(name, end - at) };
}

static struct kernel_symbol symbol_of_record(const struct perf_event_header *h, size_t end)
{
	struct {
		struct perf_event_header header;
		uint64_t address;
		uint32_t bytes;
		uint16_t kind, flags;
	} r;
	const char *name = (const char *)h + sizeof(r);

	memcpy(&r, h, sizeof(r));
	return (struct kernel_symbol){ r.address, r.bytes, r.kind, r.flags, name, strnlen(name, end - sizeof(r)) };
}

int kernel_record(const struct record_layout *l, const struct perf_event_header *h, struct kernel_record *out)
{
	int ret;

	if (!kernel_record_is_known(h->type))
		return -ENOENT;
	ret = record_id(l, h, least[h->type] & ~1u, &out->id);
	if (ret)
		return ret;
	switch (h->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		out->mapping = mapping_of_record(h, h->size - l->id_bytes);
		break;
	case PERF_RECORD_COMM:
		out->comm = comm_of_record(h, h->size - l->id_bytes);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		memcpy(&out->task, h, sizeof(out->task));
		out->task.time_ns = record_time(l, out->task.time_ns);
		break;
	case PERF_RECORD_LOST: /* the event's id is before the number */
		memcpy(&out->lost, (const char *)h + 16, sizeof(out->lost));
		break;
	case PERF_RECORD_LOST_SAMPLES:
		memcpy(&out->lost, h + 1, sizeof(out->lost));
		break;
	case PERF_RECORD_KSYMBOL:
		out->symbol = symbol_of_record(h, h->size - l->id_bytes);
		break;
	}
	return 0;
}
