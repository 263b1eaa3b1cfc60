/* SPDX-License-Identifier: MIT */
/*
 * This file has the functions of a recording's sink (recording_sink()). They collect samples, write mappings, forks, exits, names of
 * threads, execs and values of counters into the trace, and pass to the sources of names what these need.
 */
#include "agent/recorder/recording/internal.h"

#include "agent/recorder/engines/engines.h"
#include "agent/recorder/images/kernel_names.h"
#include "agent/recorder/process/proc_mem.h"

/* This struct is a context switch or a wake-up as a sample of an event of its own. It has the parts that recording_add_switches() declares.
 * kind: TRACE_SWITCH_..., or the thread that has woken this one. */
struct switch_sample {
	struct perf_event_header header;
	uint64_t who, time_ns, cpu, kind;
};

void recording_flush_samples(struct recording *r)
{
	uint32_t nr;

	for (uint32_t i = 0; i < r->nr_columns; i++)
		if (samples_flush(r->samples[i], r->writer, &nr))
			r->losses.total[LOSS_WRITE] += nr;
		else
			r->nr_samples += nr;
}

static uint64_t add_sample_to_recording(void *recording, uint32_t event, const struct perf_event_header *h, struct random_period *v)
{
	struct recording *r = recording;
	struct sample_seen seen;
	bool own;

	if (samples_full(r->samples[event]))
		recording_flush_samples(r);
	if (samples_add(r->samples[event], h, &seen)) {
		r->losses.total[LOSS_RING_BAD]++;
		return 0;
	}
	/* After a clock's period was changed, its samples still have the first one. Samples of an event whose period is drawn only once
	 * (page faults) have none. */
	own = v && random_period_count_sample(v, seen.counter);
	if (v && v->period && ((own && event_is_clock(&r->attr[event])) || random_period_is_once(&r->attr[event]))) {
		seen.weight = v->period;
		samples_set_last_weight(r->samples[event], seen.weight);
	}
	if (r->has_outside && !r->knows_outside && seen.pid == 0)
		recording_write_outside(r);
	seen.leaves = event < r->switches && event_is_switches(&r->attr[event]);
	TELL_SOURCES(r, note_sample, &seen);
	if (r->options.seen)
		r->options.seen(r->options.context, &seen);
	if (r->options.sampled)
		r->options.sampled(r->options.context, seen.pid, seen.time_ns);
	return seen.weight;
}

/* Is it a process of another PID namespace?  All of these have the number 0, so nothing that the kernel reports of one can be told from
 * what it reports of another. */
static bool is_outside(const struct recording *r, uint32_t pid)
{
	return r->has_outside && pid == 0;
}

static void record_mapping(void *recording, const struct mapping *m, uint64_t time_ns)
{
	if (!is_outside(recording, m->pid))
		recording_write_mapping(recording, m, time_ns, time_ns);
}

enum { LIVES = 1, ENDED };

/* Has the process ended with this exit of a thread?  If its first thread ends before the others, it is noted (headless), and the exits of
 * the others are looked at as well.  In an import, the exit of the first thread counts. */
static bool is_last_exit(struct recording *r, const struct kernel_task *t)
{
	bool first = t->pid == t->tid;

	if (r->options.sources.past_end_ns || (!first && hash_map_find(&r->headless, t->pid, 0) != LIVES))
		return first;
	return proc_mem_living_thread((pid_t)t->pid) == 0 ? first || hash_map_set(&r->headless, t->pid, 0, ENDED) :
							   !hash_map_set(&r->headless, t->pid, 0, LIVES);
}

static void record_fork_or_exit(void *recording, const struct kernel_task *t)
{
	bool fork = t->header.type == PERF_RECORD_FORK;
	struct recording *r = recording;

	if (is_outside(r, t->pid))
		return;
	if (fork && t->pid != t->ppid) {
		TELL_SOURCES(r, note_fork, t->ppid, t->pid, t->time_ns);
		r->nr_processes++;
		if (r->options.forked)
			r->options.forked(r->options.context, t->pid);
	}
	if (!fork && t->pid == t->tid && r->options.exited)
		r->options.exited(r->options.context, t->pid, t->time_ns);
	if (!fork && is_last_exit(r, t))
		TELL_SOURCES(r, note_exit, t->pid, t->time_ns);
	if (fork)
		TRACE_PUT(r->writer, fork, t->time_ns, t->pid, t->tid, .ppid = t->ppid, .ptid = t->ptid);
	else
		TRACE_PUT(r->writer, exit, t->time_ns, t->pid, t->tid, .ppid = t->ppid, .ptid = t->ptid);
}

static void record_comm(void *recording, const struct kernel_comm *c, uint64_t time_ns)
{
	struct recording *r = recording;

	if (is_outside(r, c->pid))
		return;
	if (c->exec && r->options.executed)
		r->options.executed(r->options.context, c, time_ns);
	recording_write_comm(r, c, time_ns);
}

static void record_symbol(void *recording, const struct kernel_symbol *s)
{
	kernel_names_note_symbol(recording_source(recording, &kernel_names_source), s);
}

/* Tells engines of a context switch, and, if switches are recorded, adds it as a sample of the thread in id. (The record of a CPU-wide
 * event also names the thread before or after it.) */
static void record_context_switch(void *recording, const struct perf_event_header *h, const struct record_id *id)
{
	struct switch_sample sample = { { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, sizeof(sample) },
					(uint64_t)id->tid << 32 | id->pid, id->time_ns, id->cpu, TRACE_SWITCH_IN };
	struct recording *r = recording;

	if (h->misc & PERF_RECORD_MISC_SWITCH_OUT)
		sample.kind = h->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? TRACE_SWITCH_PREEMPTED : TRACE_SWITCH_WAITS;
	engines_note_switch(recording_source(r, &engines_source), (pid_t)id->pid, (pid_t)id->tid, id->time_ns,
			    sample.kind == TRACE_SWITCH_IN);
	if (r->switches < r->nr_columns)
		add_sample_to_recording(r, r->switches, &sample.header, NULL);
}

static void record_wakeup(void *recording, const struct record_id *id, uint32_t waker)
{
	struct switch_sample sample = { { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, sizeof(sample) },
					(uint64_t)id->tid << 32 | id->pid, id->time_ns, id->cpu, waker };
	struct recording *r = recording;

	if (r->switches + 1 < r->nr_columns)
		add_sample_to_recording(r, r->switches + 1, &sample.header, NULL);
}

static void record_lost_samples(void *recording, enum loss_reason reason, uint32_t pid, uint32_t tid, uint64_t count)
{
	recording_count_loss(recording, reason, pid, tid, count);
}

static void record_counter_end(void *recording, const struct counter_end *c)
{
	struct recording *r = recording;

	TRACE_PUT(r->writer, count, recording_now_ns(r), c->pid, c->tid, .event = c->event, .cpu = (uint32_t)c->cpu, .value = c->value,
		  .enabled_ns = c->enabled_ns, .running_ns = c->running_ns, .samples = c->samples, .lost = c->lost,
		  .on_cpu_ns = c->on_cpu_ns, .weight = c->weight, .idle_ns = c->idle_ns);
}

static void record_thread_end(void *recording, const struct thread_end *t)
{
	struct recording *r = recording;

	TRACE_PUT(r->writer, thread_count, t->time_ns, t->pid, t->tid, .event = t->event, .cpu = t->cpu, .value = t->value,
		  .samples = t->samples, .weight = t->weight);
}

struct sink recording_sink(struct recording *r)
{
	return (struct sink){ r, add_sample_to_recording, record_mapping, record_fork_or_exit, record_comm, record_symbol,
			      record_context_switch, record_wakeup, record_lost_samples, record_counter_end, record_thread_end };
}
