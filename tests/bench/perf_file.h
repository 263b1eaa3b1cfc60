/* SPDX-License-Identifier: MIT */
/* Writes a perf.data file: one event, one process with one executable and generated code, and samples as the kernel makes them. */
#ifndef TAILOR_PERF_FILE_H
#define TAILOR_PERF_FILE_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PERF_FILE_ROUND 68 /* what follows is later than what stood before the last such record */
#define PERF_FILE_ROUND_SAMPLES 10000

struct perf_file {
	FILE *f;
	uint64_t nr;
	struct {
		char magic[8];
		uint64_t bytes, attr_bytes, attrs_at, attrs_bytes, data_at, data_bytes, types[2], features[4];
	} header;
};

static inline void perf_file_record(struct perf_file *p, const struct perf_event_header *h)
{
	static const struct perf_event_header round = { PERF_FILE_ROUND, 0, sizeof(round) };

	fwrite(h, 1, h->size, p->f);
	p->header.data_bytes += h->size;
	if (++p->nr % PERF_FILE_ROUND_SAMPLES == 0) {
		fwrite(&round, 1, sizeof(round), p->f);
		p->header.data_bytes += sizeof(round);
	}
}

static inline void perf_file_map(struct perf_file *p, uint32_t pid, uint64_t address, uint64_t bytes, const char *path)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t address, bytes, offset, device, inode, generation;
		uint32_t prot, flags;
		char path[256];
	} r = { { PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, sizeof(r) }, pid, pid, address, bytes, 0, 0, 0, 0, PROT_READ | PROT_EXEC,
		MAP_PRIVATE, "" };

	snprintf(r.path, sizeof(r.path), "%s", path);
	perf_file_record(p, &r.header);
}

/* attr: without sample_id_all.  0 or -1. */
static inline int perf_file_open(struct perf_file *p, const char *path, const struct perf_event_attr *attr, uint32_t pid,
				 const char *comm)
{
	static const uint64_t no_ids[2];
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[16];
	} r = { { PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, sizeof(r) }, pid, pid, "" };
	struct perf_event_attr a = *attr;

	memset(p, 0, sizeof(*p));
	p->f = fopen(path, "wb");
	if (!p->f)
		return -1;
	a.size = sizeof(a);
	memcpy(p->header.magic, "PERFILE2", 8);
	p->header.bytes = p->header.attrs_at = sizeof(p->header);
	p->header.attr_bytes = p->header.attrs_bytes = sizeof(a) + sizeof(no_ids);
	p->header.data_at = sizeof(p->header) + p->header.attrs_bytes;
	fwrite(&p->header, sizeof(p->header), 1, p->f);
	fwrite(&a, sizeof(a), 1, p->f);
	fwrite(no_ids, sizeof(no_ids), 1, p->f);
	snprintf(r.comm, sizeof(r.comm), "%s", comm);
	perf_file_record(p, &r.header);
	return 0;
}

/* 0 or -1. */
static inline int perf_file_close(struct perf_file *p)
{
	int bad = fseek(p->f, 0, SEEK_SET) || fwrite(&p->header, sizeof(p->header), 1, p->f) != 1 || ferror(p->f);

	return fclose(p->f) || bad ? -1 : 0;
}

#endif
