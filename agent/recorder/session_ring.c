/* SPDX-License-Identifier: MIT */
/* What the kernel writes into the rings: samples, and the life of tasks and mappings. */
#include "session_internal.h"

#include <string.h>
#include <sys/mman.h>

struct ring_context {
	struct session *session;
	struct ring *ring;
};

void session_flush_samples(struct session *s)
{
	uint32_t nr;

	for (int i = 0; i < s->nr_columns; i++)
		if (samples_flush(s->samples[i], s->writer, &nr))
			s->loss[LOSS_WRITE] += nr;
		else
			s->nr_samples += nr;
}

void session_take_sample(struct session *s, uint32_t event, const struct perf_event_header *h)
{
	struct sample_seen seen;

	if (samples_full(s->samples[event]))
		session_flush_samples(s);
	if (samples_add(s->samples[event], h, &seen)) {
		s->loss[LOSS_RING_BAD]++;
		return;
	}
	images_sample(s->images, &seen);
	code_files_sample(s->code_files, seen.pid, seen.user_ip);
}

/* The id stands first in a sample (PERF_SAMPLE_IDENTIFIER), whatever its event's layout is. */
static void on_sample(struct ring_context *c, const struct perf_event_header *h)
{
	struct session *s = c->session;
	uint32_t event = 0;
	uint64_t id = 0;

	if (s->events.nr > 1) {
		if (h->size >= sizeof(*h) + sizeof(id))
			memcpy(&id, h + 1, sizeof(id));
		if (!event_ids_find(&s->ids, id, &event)) {
			s->loss[LOSS_RING_BAD]++;
			return;
		}
	}
	c->ring->nr_samples[event]++;
	session_take_sample(s, event, h);
}

static void on_mmap2(struct session *s, const struct perf_event_header *h, const struct record_id *id)
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
	path_bytes = strnlen(path, h->size - sizeof(m) - s->layout.id_bytes);
	if (h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID)
		build_id_bytes = m.who[0] <= 20 ? m.who[0] : 0;
	if (m.prot & PROT_EXEC) {
		if (s->outside && path_bytes > 1 && path[0] == '/' && path[1] != '/')
			outside_mapped(s->outside, (pid_t)m.pid);
		images_map(s->images, m.pid, m.address, m.bytes, m.offset, path, path_bytes, m.who + 4, build_id_bytes);
		code_files_map(s->code_files, m.pid, m.address, m.bytes, path, path_bytes, id->time_ns);
	}
	trace_record_begin(s->writer, TRACE_CHUNK_RECORDS, TRACE_MMAP, id->time_ns, m.pid, m.tid, F_COUNT(mmap));
	trace_record_u64(s->writer, m.address);
	trace_record_u64(s->writer, m.bytes);
	trace_record_u64(s->writer, m.offset);
	trace_record_u64(s->writer, m.prot);
	trace_record_text(s->writer, path, path_bytes);
	trace_record_bytes(s->writer, m.who + 4, m.prot & PROT_EXEC ? build_id_bytes : 0);
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

static void on_comm(struct session *s, const struct perf_event_header *h, const struct record_id *id)
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
	trace_record_text(s->writer, comm, strnlen(comm, h->size - sizeof(m) - s->layout.id_bytes));
	trace_record_end(s->writer);
}

/* Who ran when the kernel said so: on a processor's ring the best guess at whose samples they were. */
static void on_lost(struct ring_context *c, const struct perf_event_header *h, size_t at, const struct record_id *id)
{
	uint64_t lost;

	memcpy(&lost, (const char *)h + at, sizeof(lost));
	c->ring->lost += lost;
	session_lose(c->session, LOSS_RING_FULL, id->pid, id->tid, lost);
}

/* Each time that a thread comes or goes, as a sample of an event of its own: as many as context switches, and as compact. */
static void on_switch(struct session *s, const struct perf_event_header *h, const struct record_id *id)
{
	struct {
		struct perf_event_header header;
		uint64_t who, time_ns, cpu, kind;
	} sample = { { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, sizeof(sample) }, (uint64_t)id->tid << 32 | id->pid, id->time_ns,
		     id->cpu, TRACE_SWITCH_IN };

	if (h->misc & PERF_RECORD_MISC_SWITCH_OUT)
		sample.kind = h->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? TRACE_SWITCH_PREEMPTED : TRACE_SWITCH_WAITS;
	if (s->nr_columns > s->events.nr)
		session_take_sample(s, (uint32_t)s->events.nr, &sample.header);
}

static void on_record(void *context, const struct perf_event_header *h)
{
	/* smallest size of what is read below, without the header and the record_id */
	static const uint16_t least[] = {
		[PERF_RECORD_MMAP2] = 64, [PERF_RECORD_COMM] = 8,	  [PERF_RECORD_FORK] = 24,     [PERF_RECORD_EXIT] = 24,
		[PERF_RECORD_LOST] = 16,  [PERF_RECORD_LOST_SAMPLES] = 8, [PERF_RECORD_THROTTLE] = 24,
	};
	struct ring_context *c = context;
	struct session *s = c->session;
	struct record_id id;

	if (h->type == PERF_RECORD_SAMPLE) {
		on_sample(c, h);
		return;
	}
	if (h->type != PERF_RECORD_SWITCH && (h->type >= sizeof(least) / sizeof(least[0]) || !least[h->type]))
		return;
	if (record_id(&s->layout, h, h->type == PERF_RECORD_SWITCH ? 0 : least[h->type], &id)) {
		s->loss[LOSS_RING_BAD]++;
		return;
	}
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
		on_lost(c, h, 16, &id);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		on_lost(c, h, 8, &id);
		break;
	case PERF_RECORD_SWITCH:
		on_switch(s, h, &id);
		break;
	case PERF_RECORD_THROTTLE:
		session_lose(s, LOSS_THROTTLED, id.pid, id.tid, 1);
		break;
	}
}

void session_drain_ring(struct session *s, struct ring *r)
{
	struct ring_context c = { s, r };

	s->loss[LOSS_RING_BAD] += (uint64_t)ring_drain(r, on_record, &c);
}
