/* SPDX-License-Identifier: MIT */
/* What the kernel writes into the rings: samples, and the life of tasks and mappings. */
#include "session_internal.h"

#include <string.h>
#include <sys/mman.h>

/* Behind the body of all records but SAMPLE: pid, tid, time, cpu (attr.sample_id_all). */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint32_t cpu, reserved;
};

struct ring_context {
	struct session *session;
	struct ring *ring;
};

void session_flush_samples(struct session *s)
{
	uint32_t nr;

	if (samples_flush(s->samples, s->writer, &nr))
		s->loss[LOSS_WRITE] += nr;
	else
		s->nr_samples += nr;
}

void session_take_sample(struct session *s, const struct perf_event_header *h)
{
	struct sample_seen seen;

	if (samples_full(s->samples))
		session_flush_samples(s);
	if (samples_add(s->samples, h, &seen))
		s->loss[LOSS_RING_BAD]++;
	else
		images_sample(s->images, &seen);
}

static void on_mmap2(struct session *s, const struct perf_event_header *h, const struct sample_id *id)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t address, bytes, offset;
		unsigned char who[24]; /* device and inode, or size and build id */
		uint32_t prot, flags;
	} m;
	const char *path = (const char *)h + sizeof(m);
	size_t path_bytes, build_id_bytes = 0;

	memcpy(&m, h, sizeof(m));
	if (!(m.prot & PROT_EXEC))
		return;
	path_bytes = strnlen(path, h->size - sizeof(m) - sizeof(*id));
	if (h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		build_id_bytes = m.who[0] <= 20 ? m.who[0] : 0;
	if (s->outside && path_bytes > 1 && path[0] == '/' && path[1] != '/')
		outside_mapped(s->outside, (pid_t)m.pid);
	images_map(s->images, m.pid, m.address, m.bytes, path, path_bytes, m.who + 4, build_id_bytes);
	code_files_map(s->code_files, m.pid, m.address, m.bytes, path, path_bytes, id->time_ns);
	trace_record_begin(s->writer, TRACE_CHUNK_RECORDS, TRACE_MMAP, id->time_ns, m.pid, m.tid, F_COUNT(mmap));
	trace_record_u64(s->writer, m.address);
	trace_record_u64(s->writer, m.bytes);
	trace_record_u64(s->writer, m.offset);
	trace_record_u64(s->writer, m.prot);
	trace_record_text(s->writer, path, path_bytes);
	trace_record_bytes(s->writer, m.who + 4, build_id_bytes);
	trace_record_end(s->writer);
}

static void on_task(struct session *s, const struct perf_event_header *h)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, ppid, tid, ptid;
		uint64_t time_ns;
	} m;
	bool fork = h->type == PERF_RECORD_FORK;

	memcpy(&m, h, sizeof(m));
	if (fork)
		session_attach_saw_fork(s, m.ptid, m.tid);
	if (fork && m.pid != m.ppid) {
		if (s->outside)
			outside_fork(s->outside, (pid_t)m.ppid, (pid_t)m.pid);
		images_fork(s->images, m.ppid, m.pid);
		s->nr_processes++;
	}
	if (!fork && m.pid == m.tid) {
		images_exit(s->images, m.pid);
		code_files_end(s->code_files, m.pid);
	}
	trace_record_begin(s->writer, TRACE_CHUNK_RECORDS, fork ? TRACE_FORK : TRACE_EXIT, m.time_ns, m.pid, m.tid,
			   fork ? F_COUNT(fork) : F_COUNT(exit));
	trace_record_u64(s->writer, m.ppid);
	trace_record_u64(s->writer, m.ptid);
	trace_record_end(s->writer);
}

static void on_comm(struct session *s, const struct perf_event_header *h, const struct sample_id *id)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
	} m;
	const char *comm = (const char *)h + sizeof(m);
	bool exec = h->misc & PERF_RECORD_MISC_COMM_EXEC;

	memcpy(&m, h, sizeof(m));
	if (exec) {
		images_forget(s->images, m.pid);
		code_files_end(s->code_files, m.pid);
		if (s->outside)
			outside_exec(s->outside, (pid_t)m.pid);
	}
	trace_record_begin(s->writer, TRACE_CHUNK_RECORDS, TRACE_COMM, id->time_ns, m.pid, m.tid, F_COUNT(comm));
	trace_record_u64(s->writer, exec);
	trace_record_text(s->writer, comm, strnlen(comm, h->size - sizeof(m) - sizeof(*id)));
	trace_record_end(s->writer);
}

static void on_lost(struct ring_context *c, const struct perf_event_header *h, size_t at)
{
	uint64_t lost;

	memcpy(&lost, (const char *)h + at, sizeof(lost));
	c->ring->lost += lost;
	c->session->loss[LOSS_RING_FULL] += lost;
}

static void on_record(void *context, const struct perf_event_header *h)
{
	/* smallest size of what is read below, sample_id apart */
	static const uint16_t least[] = {
		[PERF_RECORD_MMAP2] = 72, [PERF_RECORD_COMM] = 16,	   [PERF_RECORD_FORK] = 32,	[PERF_RECORD_EXIT] = 32,
		[PERF_RECORD_LOST] = 24,  [PERF_RECORD_LOST_SAMPLES] = 16, [PERF_RECORD_THROTTLE] = 32,
	};
	struct ring_context *c = context;
	struct session *s = c->session;
	struct sample_id id;

	if (h->type == PERF_RECORD_SAMPLE) {
		session_take_sample(s, h);
		return;
	}
	if (h->type >= sizeof(least) / sizeof(least[0]) || !least[h->type])
		return;
	if (h->size < least[h->type] + sizeof(id)) {
		s->loss[LOSS_RING_BAD]++;
		return;
	}
	memcpy(&id, (const char *)h + h->size - sizeof(id), sizeof(id));
	switch (h->type) {
	case PERF_RECORD_MMAP2:
		on_mmap2(s, h, &id);
		break;
	case PERF_RECORD_COMM:
		on_comm(s, h, &id);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		on_task(s, h);
		break;
	case PERF_RECORD_LOST: /* id, lost */
		on_lost(c, h, 16);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		on_lost(c, h, 8);
		break;
	case PERF_RECORD_THROTTLE:
		s->loss[LOSS_THROTTLED]++;
		break;
	}
}

void session_drain_ring(struct session *s, struct ring *r)
{
	struct ring_context c = { s, r };

	s->loss[LOSS_RING_BAD] += (uint64_t)ring_drain(r, on_record, &c);
}
