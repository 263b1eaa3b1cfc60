/* SPDX-License-Identifier: MIT */
/* This file begins, drains and ends a session's recordings. There is one, or one for each epoch. A dormant session has none until one is
 * requested, and then any number, one after another. */
#include "agent/recorder/session/internal.h"

#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/clock.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define FLUSH_NS 200000000ull /* interval at which records are written to the file, so a killed recorder loses about that much */

static void note_executed_program(void *session, const struct kernel_comm *c, uint64_t time_ns)
{
	session_unheard_note_exec(session, c, time_ns);
}

static void note_sample(void *session, uint32_t pid, uint64_t time_ns)
{
	session_unheard_note_sample(session, pid, time_ns);
}

static void note_exited_process(void *session, uint32_t pid, uint64_t time_ns)
{
	session_unheard_note_exit(session, pid, time_ns);
	if (proc_mem_living_thread((pid_t)pid) == 0) /* the first thread has ended, but others may live on and are still counted */
		session_epochs_note_exit(session, pid);
}

static void note_forked_process(void *session, uint32_t pid)
{
	session_epochs_note_process(session, pid);
}

/* ------------------------------------------------------------------------------------------------- their beginning and their end */

static int fail_for_memory(int error, struct diag *d)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_AS, &most) || most.rlim_cur == RLIM_INFINITY)
		return diag_fail(d, error, "out of memory for samples");
	return diag_fail(d, error, "out of memory for samples: ulimit -v is %llu KiB; raise it", (unsigned long long)most.rlim_cur >> 10);
}

static const char batches[] = "PEBS in batches: the processor collects many samples before each interrupt, because all are of user code, "
			      "with a fixed period and without stacks or call chains";

/* Adds the counted events to the trace, after its header. Each has one record, and so have context switches and wake-ups if they are
 * recorded. */
static int add_counted_events(struct session *s)
{
	const struct events *events = counting_events(s->counting);
	enum wire_sampler sampler = counting_sampler(s->counting);
	const char *scope = sampler == WIRE_SAMPLER_NONE ? "cpu" : "thread";
	int ret = 0;

	for (int i = 0; i < events->nr && ret == 0; i++) {
		const struct event *e = &events->event[i];

		ret = recording_add_event(s->recording, e, &(struct recording_event){
			.scope = scope, .pairs = counting_clock_pairs(s->counting),
			.period_spread = sampler < WIRE_SAMPLER_TIMER ? random_period_spread(&e->attr) : 0 });
	}
	if (ret == 0 && counting_has_switches(s->counting))
		ret = recording_add_switches(s->recording, scope, counting_has_wakeups(s->counting));
	return ret;
}

/* Is the output's file name the default one?  Then an older trace of that name is kept, as the user may not have chosen to replace it. */
static bool has_default_name(const char *output)
{
	const char *slash = strrchr(output, '/');

	return strcmp(slash ? slash + 1 : output, SESSION_OUTPUT) == 0;
}

static int create_recording(struct session *s, struct diag *d)
{
	const struct session_options *o = &s->options;
	const struct recording_header header = { o->command, o->way, o->no_adapt, s->epochs.number, s->epochs.recording };
	enum wire_sampler sampler = counting_sampler(s->counting);
	int ret = recording_create(
		&(struct recording_options){
			.output = session_output(s),
			.overwrite = o->overwrite,
			.keep_old = has_default_name(session_output(s)),
			.uncompressed = o->uncompressed,
			.registers = o->counting.event.registers,
			.has_tag_words = sampler == WIRE_SAMPLER_SIGNAL || sampler == WIRE_SAMPLER_TIMER,
			.notice = session_print_notice,
			.told = &s->notices.lacks,
			.sampled = note_sample,
			.forked = note_forked_process,
			.executed = note_executed_program,
			.exited = note_exited_process,
			.context = s,
			.sources = {
				.stack_bytes = counting_events(s->counting)->event[0].attr.sample_stack_user,
				.image_code_bytes = o->image_code_bytes,
				.debuginfod = o->debuginfod,
				.finds_jit_lists = o->all,
			},
		},
		&s->recording, d);
	if (ret)
		return ret;
	recording_write_header(s->recording, &header);
	ret = add_counted_events(s);
	if (ret == 0)
		return 0;
	recording_drop(s->recording);
	s->recording = NULL;
	return fail_for_memory(-ret, d);
}

int session_create_recording(struct session *s, struct diag *d)
{
	const char *note;
	struct sink sink;
	int ret = create_recording(s, d);

	if (ret)
		return ret;
	s->flushed_ns = clock_now_ns();
	sink = recording_sink(s->recording);
	counting_set_sink(s->counting, &sink);
	for (int i = 0; i < s->notices.nr_fallbacks; i++)
		session_note_fallback(s, s->notices.fallback[i].kind, s->notices.fallback[i].sentence);
	if (counting_clock_pairs(s->counting))
		recording_write_notice(s->recording, NOTICE_LADDER, batches, strlen(batches));
	note = counting_stack_note(s->counting);
	if (*note) /* it is written and not printed, since only users of stacks need it */
		recording_write_notice(s->recording, NOTICE_LADDER, note, strlen(note));
	trace_writer_flush_all(recording_writer(s->recording)); /* readers of the growing file find these records first */
	return 0;
}

/* Opens rings in advance, if newcomers are to be recorded.  Their events write into these, since creating rings for each newcomer takes
 * longer than many of them live. */
static int keep_rings_for_newcomers(struct session *s, struct diag *d)
{
	int ret = session_takes_newcomers(&s->options) && counting_sampler(s->counting) == WIRE_SAMPLER_NONE ?
			  counting_keep_rings(s->counting) : 0;

	return ret ? diag_fail(d, -ret, "no ring buffers: %s", session_counting_error(-ret)) : 0;
}

int session_begin_recording(struct session *s, struct diag *d)
{
	int ret;

	memset(&s->notices, 0, sizeof(s->notices));
	ret = session_epochs_begin(s);
	if (ret)
		return diag_fail(d, -ret, "out of memory for a recording");
	ret = session_joining_begin(s);
	if (ret)
		return diag_fail(d, -ret, "cannot look for processes that start later: %s", strerror(-ret));
	ret = counting_create(&s->options.counting, session_add_fallback, s, &s->counting, d);
	if (ret == 0)
		ret = session_create_recording(s, d);
	if (ret == 0)
		ret = keep_rings_for_newcomers(s, d);
	if (ret) {
		session_drop_recording(s);
		return ret;
	}
	for (int i = 0; i < NR_LOSSES; i++)
		session_count_loss(s, (enum loss_reason)i, 0, 0, s->lost[i]);
	memset(s->lost, 0, sizeof(s->lost));
	return 0;
}

void session_drain(struct session *s, bool last)
{
	uint64_t now = clock_now_ns();

	session_heartbeat(s);
	if (s->recording)
		recording_begin_drain(s->recording);
	/* the last drain of other sessions refuses writers, but guests of a dormant session go on writing for the next recording */
	session_drain_guests(s, !last ? DRAIN_SOME : s->options.dormant ? DRAIN_ALL : DRAIN_LAST);
	if (!s->recording)
		return;
	recording_poll_jit_lists(s->recording);
	counting_drain_rings(s->counting);
	session_heartbeat(s);
	session_unheard_find_reasons(s);
	if (last)
		return; /* recording_end() does the following work itself */
	recording_settle(s->recording);
	counting_do_periodic_work(s->counting, now);
	if (now - s->flushed_ns >= FLUSH_NS) {
		s->flushed_ns = now;
		recording_flush(s->recording);
		s->waiting.signalled = true; /* the loop reads signals now and then, also if poll(2) did not report one */
	}
}

void session_format_result(struct session *s, const struct recording_state *r)
{
	size_t room = sizeof(s->result);
	size_t at = (size_t)snprintf(s->result, room, "%llu samples of %llu process%s in %s (%.1f MiB)", (unsigned long long)r->samples,
				     (unsigned long long)r->processes, r->processes == 1 ? "" : "es", session_output(s),
				     (double)r->bytes / (1 << 20));

	if (s->epochs.number > 1)
		at += (size_t)snprintf(s->result + at, room - at, ", after %llu in %u epochs before it",
				       (unsigned long long)s->epochs.samples, s->epochs.number - 1);

	for (int i = 0; i < NR_LOSSES && at < room; i++)
		if (r->lost[i])
			at += (size_t)snprintf(s->result + at, room - at, "; %s: %llu", trace_losses[i].text,
					       (unsigned long long)r->lost[i]);
}

/* Is a signal pending that asks for the end?  One that ended the recording has been read already, so this is a further one, after which the
 * rest of the files is not read. */
static bool is_asked_again(void *session)
{
	(void)session;
	return session_end_signal_waits();
}

int session_end_recording(struct session *s, int wait_status, struct diag *d)
{
	struct recording *r = s->recording;
	struct recording_state state;
	int ret;

	counting_end(s->counting);
	session_drain(s, true);
	counting_end_handlers(s->counting);
	if (s->options.dormant) /* the last drain of other sessions has written the counts (DRAIN_LAST) */
		session_write_counters(s, 0);
	session_unheard_write_notices(s);
	s->recording = NULL;
	session_lower_priority();
	recording_note_recorder_usage(r, -s->epochs.told_cpu_ns);
	if (s->epochs.length_ns) {
		ret = session_last_epoch_end(s, r, wait_status, &state, d);
	} else {
		recording_limit_end(r, is_asked_again, s);
		ret = recording_end(r, wait_status, &state, d);
	}
	if (s->options.dormant)
		session_raise_priority();
	session_format_result(s, &state);
	counting_destroy(s->counting);
	s->counting = NULL;
	return ret;
}

void session_drop_recording(struct session *s)
{
	struct recording *r = s->recording;

	s->recording = NULL;
	recording_drop(r);
	counting_destroy(s->counting);
	s->counting = NULL;
}
