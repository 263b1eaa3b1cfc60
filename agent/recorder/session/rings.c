/* SPDX-License-Identifier: MIT */
/* What the kernel writes into the rings: samples, and the life of tasks and mappings. */
#include "agent/recorder/session/internal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

struct ring_context {
	struct session *session;
	struct ring *ring;
	bool has_pair; /* of both clocks, later than all that is there */
};

void session_flush_samples(struct session *s)
{
	uint32_t nr;

	for (int i = 0; i < s->nr_columns; i++)
		if (samples_flush(s->samples[i], s->writer, &nr))
			s->losses.total[LOSS_WRITE] += nr;
		else
			s->nr_samples += nr;
}

uint64_t session_take_sample(struct session *s, uint32_t event, const struct perf_event_header *h, struct random_period *v)
{
	struct sample_seen seen;

	if (samples_full(s->samples[event]))
		session_flush_samples(s);
	if (samples_add(s->samples[event], h, &seen)) {
		s->losses.total[LOSS_RING_BAD]++;
		return 0;
	}
	/* of a clock whose period was changed the kernel goes on telling the first one */
	if (v && random_period_take(v, seen.counter) && v->period && event_is_clock(&s->events.event[event].attr)) {
		seen.weight = v->period;
		samples_weigh(s->samples[event], seen.weight);
	}
	engines_sample(s->engines, &seen, event < (uint32_t)s->events.nr && session_is_switches(&s->events.event[event].attr));
	images_sample(s->images, &seen);
	kernel_names_sample(s->kernel_names, &seen);
	jit_files_sample(s->jit_files, seen.pid, seen.user_ip);
	return seen.weight;
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
			s->losses.total[LOSS_RING_BAD]++;
			return;
		}
	}
	c->ring->nr_samples[event]++;
	c->ring->weight[event] += session_take_sample(s, event, h, &c->ring->random_period[event]);
}

static bool begins_with(const struct mapping *m, const char *text)
{
	return m->path_bytes >= strlen(text) && memcmp(m->path, text, strlen(text)) == 0;
}

static void on_mapping(struct session *s, const struct mapping *m, uint64_t time_ns)
{
	if (s->gdb_jit && m->prot & PROT_EXEC && m->path_bytes > 1 && m->path[0] == '/') {
		if (m->path[1] != '/')
			gdb_jit_poll_mapped(s->gdb_jit, (pid_t)m->pid);
		if (m->path[1] == '/' || begins_with(m, "/memfd:") || begins_with(m, "/dev/zero"))
			gdb_jit_poll_code_mapped(s->gdb_jit, (pid_t)m->pid);
	}
	engines_mapped(s->engines, m);
	task_events_mapping(session_task_events(s), m, time_ns);
}

static void on_task(struct session *s, const struct kernel_task *t)
{
	if (t->header.type == PERF_RECORD_FORK) {
		session_attach_saw_fork(s, t->ptid, t->tid);
		if (t->pid != t->ppid) {
			if (s->gdb_jit)
				gdb_jit_poll_fork(s->gdb_jit, (pid_t)t->ppid, (pid_t)t->pid);
			engines_fork(s->engines, (pid_t)t->ppid, (pid_t)t->pid, t->time_ns);
			s->nr_processes++;
		}
	} else if (t->pid == t->tid) {
		session_unheard_end(s, t->pid);
		engines_exit(s->engines, (pid_t)t->pid, t->time_ns);
	}
	task_events_task(session_task_events(s), t);
}

static void on_comm(struct session *s, const struct kernel_comm *c, uint64_t time_ns)
{
	if (c->exec && s->gdb_jit)
		gdb_jit_poll_exec(s->gdb_jit, (pid_t)c->pid);
	if (c->exec) {
		session_unheard_exec(s, c, time_ns);
		engines_exec(s->engines, (pid_t)c->pid, c->name, c->bytes, time_ns);
	}
	task_events_comm(session_task_events(s), c, time_ns);
}

/* Who ran when the kernel said so: on a processor's ring the best guess at whose samples they were. */
static void on_lost(struct ring_context *c, const struct kernel_record *r)
{
	c->ring->lost += r->lost;
	session_lose(c->session, LOSS_RING_FULL, r->id.pid, r->id.tid, r->lost);
}

static void on_switch(struct session *s, const struct perf_event_header *h, const struct record_id *id)
{
	struct switch_sample sample = task_events_switch(h, id);

	engines_switch(s->engines, (pid_t)id->pid, (pid_t)id->tid, id->time_ns, sample.kind == TRACE_SWITCH_IN);

	if (s->nr_columns > s->events.nr)
		session_take_sample(s, (uint32_t)s->events.nr, &sample.header, NULL);
}

void session_begin_clock(struct session *s)
{
	struct ring_clock *c = &s->clock;

	*c = (struct ring_clock){ .used = s->sampler < WIRE_SAMPLER_SIGNAL && events_are_batched(&s->events) };
	if (c->used && !perf_clock_read(&c->perf)) { /* it could be, a moment ago */
		c->used = false;
		for (int i = 0; i < s->events.nr; i++) {
			s->events.event[i].attr.use_clockid = 1;
			s->events.event[i].attr.clockid = CLOCK_MONOTONIC;
		}
	}
	if (!c->used)
		return;
	perf_clock_pair(&c->perf, &c->pairs);
	s->layout.clock = &c->pairs;
	for (int i = 0; i < s->events.nr; i++)
		samples_convert_times(s->samples[i], &c->pairs);
}

static void on_record(void *context, const struct perf_event_header *h)
{
	struct ring_context *c = context;
	struct session *s = c->session;
	struct kernel_record r;
	int ret;

	if (s->clock.used && !c->has_pair) {
		perf_clock_pair(&s->clock.perf, &s->clock.pairs);
		c->has_pair = true;
	}
	if (h->type == PERF_RECORD_SAMPLE) {
		on_sample(c, h);
		return;
	}
	ret = kernel_record(&s->layout, h, &r);
	if (ret) {
		s->losses.total[LOSS_RING_BAD] += ret != -ENOENT;
		return;
	}
	switch (h->type) {
	case PERF_RECORD_MMAP2:
		on_mapping(s, &r.mapping, r.id.time_ns);
		break;
	case PERF_RECORD_COMM:
		on_comm(s, &r.comm, r.id.time_ns);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		on_task(s, &r.task);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		on_lost(c, &r);
		break;
	case PERF_RECORD_SWITCH:
		on_switch(s, h, &r.id);
		break;
	case PERF_RECORD_THROTTLE:
		session_lose(s, LOSS_THROTTLED, r.id.pid, r.id.tid, 1);
		break;
	}
}

void session_drain_ring(struct session *s, struct ring *r)
{
	struct ring_context c = { s, r, false };

	s->losses.total[LOSS_RING_BAD] += (uint64_t)ring_drain(r, on_record, &c);
}
