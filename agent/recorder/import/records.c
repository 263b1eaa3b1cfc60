/* SPDX-License-Identifier: MIT */
/*
 * Converts the records of a perf.data file, and passes them to the sink of a recording, as counting does with records of the kernel's
 * rings. Then copies the registrations of another trace, if there is one.
 */
#include "agent/recorder/images/images.h"
#include "agent/recorder/images/kernel_names.h"
#include "agent/recorder/import/import.h"
#include "agent/recorder/import/old_execs.h"
#include "agent/recorder/import/sampled_kernel.h"
#include "agent/recorder/perf/event_internal.h"
#include "agent/recorder/recording/recording.h"
#include "jitreg/base/grow.h"
#include "jitreg/hosts/jit_hosts.h"
#include "jitreg/trace/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>

/* Files that were written up to so many seconds after perf's may belong to the processes, because a JIT may write its file at its end. */
#define LATE_S 60
#define PIDS_MAX (4u << 20) /* the kernel's limit of process numbers */
#define TICK_NS 1000u
#define NOT_TAKEN UINT32_MAX
#define KERNEL_PID UINT32_MAX /* the pid of mappings of the kernel and its modules */
/* These are words that each sample of the trace has, also if its event does not ask for them, and words that may stand before them in a
 * sample. */
#define ADDED_TYPES ((uint64_t)(PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD))
#define BEFORE_TIME ((uint64_t)(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID))
#define BEFORE_PERIOD (BEFORE_TIME | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU)
/* These are the words of a sample that mean the same on all architectures: not registers, stack bytes, and what comes after them. */
#define FOREIGN_TYPES ((PERF_SAMPLE_REGS_USER - 1ull) | PERF_SAMPLE_IDENTIFIER)
#define MISC_FORK_MADE_UP (1u << 13) /* set if perf synthesized the fork, for a process that existed before the recording */

_Static_assert(IMPORT_EVENTS_MAX + 1 <= RECORDING_COLUMNS_MAX, "each event and the switches have a column");

struct import {
	const struct import_options *options;
	const struct perf_data *data;
	struct recording *recording;
	struct sink sink; /* sink of the recording */
	struct sampled_kernel kernel;
	struct old_execs execs;
	struct import_times times;
	uint64_t tick_ns; /* time of the present record if the file has no times, which only shows the records' order */
	struct hash_map counters; /* (id, thread) -> 1 + its place in counted */
	ARRAY(uint64_t) counted; /* value of each counter at its last sample */
	uint32_t number[PERF_DATA_EVENTS_MAX]; /* numbers of the file's events in the trace */
	uint32_t nr_events;
	unsigned char *pids; /* a bit for each process that has samples */
	uint64_t registrations, others; /* number of the other trace's records that are taken, and of those of processes without samples */
};

static struct trace_writer *writer_of_import(const struct import *m)
{
	return recording_writer(m->recording);
}

/* Returns the time that records get which perf synthesized for what existed before the recording.  It is before all that was recorded. */
static uint64_t import_start_ns(const struct import *m)
{
	return m->data->has_times ? m->data->first_ns + m->times.shift_ns - 1 : TICK_NS - 1;
}

static uint64_t import_end_ns(const struct import *m)
{
	return m->data->has_times ? m->data->last_ns + m->times.shift_ns : TICK_NS * (m->data->nr_records + 1);
}

/* ------------------------------------------------------------------------------------------------ what was recorded */

static void write_import_header(struct import *m, int64_t written_s)
{
	const struct perf_data *p = m->data;
	struct trace_text *command;
	struct perf_data_text word;
	uint64_t real_ns;
	uint32_t nr = 0;
	size_t at = 0;
	char tool[128];

	real_ns = p->has_clock ? p->wall_ns + (p->first_ns - p->clock_ns)
			       : (uint64_t)written_s * 1000000000u - (p->last_ns - p->first_ns);
	snprintf(tool, sizeof(tool), "tailor " TAILOR_VERSION ", from perf %.*s", (int)(p->version.bytes < 64 ? p->version.bytes : 64),
		 p->version.p ? p->version.p : "");
	while (nr < p->nr_words && perf_data_next_command_word(p, &at, &word))
		nr++;
	command = calloc((size_t)nr + 1, sizeof(*command));
	at = 0;
	for (uint32_t i = 0; command && i < nr && perf_data_next_command_word(p, &at, &word); i++)
		command[i].text = (struct trace_span){ word.p, word.bytes };
	TRACE_PUT(writer_of_import(m), header, import_start_ns(m), 0, 0, .version = TRACE_FORMAT_VERSION, .tool = trace_string(tool),
		  .real_ns = real_ns, .host_name = { p->host_name.p, p->host_name.bytes }, .machine = { p->machine.p, p->machine.bytes },
		  .kernel = { p->release.p, p->release.bytes }, .nr_cpus = p->nr_cpus, .command = { command, command ? nr : 0 },
		  .way = trace_string(jit_way_text(JIT_WAY_IMPORT)));
	free(command);
}

/* Is this perf's dummy event, which counts nothing and only brings records of tasks and mappings? */
static bool is_dummy_event(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_DUMMY;
}

static void fill_event_description(const struct import *m, const struct perf_data_event *e, struct event *out)
{
	out->attr = e->attr;
	if (m->data->foreign) {
		out->attr.sample_type &= FOREIGN_TYPES;
		out->attr.sample_regs_user = out->attr.sample_regs_intr = 0;
		out->attr.sample_stack_user = 0;
	}
	out->attr.sample_type |= ADDED_TYPES;
	out->rate = e->attr.freq ? e->attr.sample_freq : 0;
	if (e->name.p && e->name.bytes)
		snprintf(out->name, sizeof(out->name), "%.*s", (int)(e->name.bytes < 128 ? e->name.bytes : 128), e->name.p);
	else
		snprintf(out->name, sizeof(out->name), "event %u:0x%llx", e->attr.type, (unsigned long long)e->attr.config);
	out->unit = event_unit(&e->attr, out->name);
}

static int import_events(struct import *m, struct diag *d)
{
	/* said: switches have records; sampled: they have samples, which show at which code they happen */
	bool said = false, sampled = false;
	static const struct recording_event how = { .scope = "cpu" };
	struct event event;
	int ret = 0;

	for (uint32_t i = 0; i < m->data->nr_events && ret == 0; i++) {
		const struct perf_data_event *e = &m->data->event[i];

		m->number[i] = NOT_TAKEN;
		said |= e->attr.context_switch;
		sampled |= event_is_switches(&e->attr);
		if (is_dummy_event(&e->attr))
			continue;
		if (m->nr_events == IMPORT_EVENTS_MAX)
			return diag_fail(d, E2BIG, "%s has more than %u events", m->options->input, IMPORT_EVENTS_MAX);
		fill_event_description(m, e, &event);
		ret = recording_add_event(m->recording, &event, &how);
		m->number[i] = m->nr_events++;
	}
	if (ret == 0 && said && sampled)
		ret = recording_add_switches(m->recording, how.scope, false);
	return ret ? diag_fail(d, -ret, "out of memory for samples") : 0;
}

/* ------------------------------------------------------------------------------------------------------- records */

static void pass_import_notice(void *import, const char *sentence)
{
	const struct import *m = import;

	if (m->options->notice)
		m->options->notice(m->options->context, sentence);
}

static void note_sampled_pid(void *import, const struct sample_seen *seen)
{
	struct import *m = import;

	if (seen->pid < PIDS_MAX)
		m->pids[seen->pid / 8] |= (unsigned char)(1u << seen->pid % 8);
}

/* Converts a time of the file to the trace's clock.  0 is the time of records that perf synthesized.  In a file without times, the present
 * record gets tick_ns. */
static void shift_time_to_our_clock(const struct import *m, void *time_ns)
{
	uint64_t t;

	memcpy(&t, time_ns, sizeof(t));
	t = !m->data->has_times ? m->tick_ns : t ? t + m->times.shift_ns : import_start_ns(m);
	memcpy(time_ns, &t, sizeof(t));
}

static void count_import_loss(const struct import *m, enum loss_reason reason, uint64_t count)
{
	m->sink.lost(m->sink.context, reason, 0, 0, count);
}

/*
 * Returns the word of a sample that belongs to the PERF_SAMPLE_ bit `of`. The word comes after those of the bits in before. type: bits of
 * the words that the sample has. If the word is not among them, it is inserted as 0. Returns NULL if the sample ends before the word, or
 * has no room for it.
 */
static uint64_t *sample_word(struct perf_event_header *h, uint64_t type, uint64_t of, uint64_t before)
{
	size_t at = sizeof(*h) + 8 * (size_t)__builtin_popcountll(type & before);

	if (type & of)
		return at + 8 <= h->size ? (uint64_t *)h + at / 8 : NULL;
	if (at > h->size || h->size > UINT16_MAX - 8)
		return NULL;
	memmove((char *)h + at + 8, (char *)h + at, h->size - at);
	memset((char *)h + at, 0, 8);
	h->size += 8;
	return (uint64_t *)h + at / 8;
}

/* Passes a sample on to the sink, with its time on the trace's clock, and with its weight as period.  If weight is NULL, the period is the
 * sample's own, or that of its event. */
static void add_sample(struct import *m, uint32_t event, struct perf_event_header *h, const uint64_t *weight)
{
	const struct perf_data_event *e = &m->data->event[event];
	uint64_t type = e->layout.sample_type, *time_ns, *period;

	if (m->data->foreign)
		record_drop_registers(&e->layout, h);
	time_ns = sample_word(h, type, PERF_SAMPLE_TIME, BEFORE_TIME);
	period = time_ns ? sample_word(h, type | PERF_SAMPLE_TIME, PERF_SAMPLE_PERIOD, BEFORE_PERIOD) : NULL;
	if (!period) {
		count_import_loss(m, LOSS_RING_BAD, 1);
		return;
	}
	shift_time_to_our_clock(m, time_ns);
	if (weight)
		*period = *weight;
	else if (!(type & PERF_SAMPLE_PERIOD))
		*period = e->attr.sample_period;
	m->sink.sample(m->sink.context, m->number[event], h, NULL);
}

/* Returns a pointer to a counter's value at its last sample, valid until the next call, or NULL if memory runs out. */
static uint64_t *counter_value(struct import *m, uint64_t id, uint32_t tid)
{
	uint32_t at = hash_map_find(&m->counters, id, tid);

	if (at)
		return &m->counted.at[at - 1];
	if (!ARRAY_GROW(m->counted) || !hash_map_set(&m->counters, id, tid, m->counted.nr + 1))
		return NULL;
	return ARRAY_ADD(m->counted);
}

/* Passes on a sample that has read counters (-e '{a,b}:S') as one sample of each counter that has counted since its previous sample.  The
 * weight is what it has counted since. */
static void on_read_sample(struct import *m, uint32_t event, const struct perf_event_header *h, const struct record_sample *s)
{
	_Alignas(8) static unsigned char room[PERF_DATA_RECORD_BYTES];
	const struct perf_data_event *e = &m->data->event[event];

	/* A group has no event twice, so what a damaged sample has beyond that is ignored. */
	for (uint64_t i = 0; i < s->nr_read && i < m->data->nr_events; i++) {
		const uint64_t *read = s->read + i * s->read_words;
		uint64_t id = read[s->read_id], weight, *last;
		uint32_t of;

		if (!event_ids_find(&m->data->ids, id, &of) || m->number[of] == NOT_TAKEN ||
		    memcmp(&e->layout, &m->data->event[of].layout, sizeof(e->layout)) != 0)
			continue;
		last = counter_value(m, id, e->attr.inherit ? s->tid : 0);
		if (!last || read[0] == *last)
			continue;
		weight = read[0] - *last;
		*last = read[0];
		memcpy(room, h, h->size);
		add_sample(m, of, (struct perf_event_header *)room, &weight);
	}
}

static void import_sample(struct import *m, uint32_t event, struct perf_event_header *h)
{
	const struct record_layout *l = &m->data->event[event].layout;
	struct record_sample s;

	if (l->sample_type & PERF_SAMPLE_READ && l->read_format & PERF_FORMAT_ID && record_sample(l, h, &s) == 0 && s.nr_read)
		on_read_sample(m, event, h, &s);
	else if (m->number[event] != NOT_TAKEN)
		add_sample(m, event, h, NULL);
}

static void import_user_mapping(struct import *m, struct mapping *g, uint64_t time_ns)
{
	const struct perf_data_build_id *known = g->build_id_bytes ? NULL : perf_data_find_build_id(m->data, g->path, g->path_bytes);

	if (known) {
		g->build_id = known->id;
		g->build_id_bytes = known->bytes;
	}
	m->sink.mapping(m->sink.context, g, time_ns);
}

static void import_mapping(struct import *m, struct mapping *g, bool made_up, uint64_t time_ns)
{
	struct kernel_comm exec;
	uint64_t exec_ns;

	if (g->pid != KERNEL_PID && g->prot & PROT_EXEC && !made_up && old_execs_note_mapping(&m->execs, g, &exec, &exec_ns))
		m->sink.comm(m->sink.context, &exec, exec_ns);
	if (g->pid == KERNEL_PID)
		sampled_kernel_note_mapping(&m->kernel, g);
	else if (g->prot & PROT_EXEC)
		import_user_mapping(m, g, time_ns);
}

static void import_fork_or_exit(struct import *m, struct kernel_task *t)
{
	if (t->header.type == PERF_RECORD_FORK && t->header.misc & MISC_FORK_MADE_UP)
		return; /* perf wrote records of the process's mappings, too, so they are not copied from its parent */
	shift_time_to_our_clock(m, &t->time_ns);
	m->sink.task(m->sink.context, t);
}

static void import_comm(struct import *m, const struct kernel_comm *c, bool made_up, uint64_t time_ns)
{
	if (!made_up || c->pid != c->tid) {
		if (!m->data->event[0].attr.comm_exec && !c->exec && c->pid == c->tid)
			old_execs_note_comm(&m->execs, c, time_ns);
		m->sink.comm(m->sink.context, c, time_ns);
		return;
	}
	if (c->exec)
		recording_note_exec(m->recording, c, time_ns);
	TRACE_PUT(writer_of_import(m), process, time_ns, c->pid, c->tid, .comm = { c->name, c->bytes });
}

static void import_record(struct import *m, struct perf_event_header *h)
{
	struct kernel_record r;
	uint32_t event;
	bool made_up;

	m->tick_ns += TICK_NS;
	if (h->type == PERF_DATA_FINISHED_ROUND)
		recording_settle(m->recording);
	if (h->type != PERF_RECORD_SAMPLE && !kernel_record_is_known(h->type))
		return; /* the record is perf's own, or is not needed */
	if (!perf_data_find_event(m->data, h, &event)) {
		count_import_loss(m, LOSS_RING_BAD, 1);
		return;
	}
	if (h->type == PERF_RECORD_SAMPLE) {
		import_sample(m, event, h);
		return;
	}
	if (kernel_record(&m->data->event[event].layout, h, &r)) {
		count_import_loss(m, LOSS_RING_BAD, 1);
		return;
	}
	made_up = m->data->has_times && !r.id.time_ns;
	shift_time_to_our_clock(m, &r.id.time_ns);
	switch (h->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		import_mapping(m, &r.mapping, made_up, r.id.time_ns);
		break;
	case PERF_RECORD_COMM:
		import_comm(m, &r.comm, made_up, r.id.time_ns);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		import_fork_or_exit(m, &r.task);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		count_import_loss(m, LOSS_RING_FULL, r.lost);
		break;
	case PERF_RECORD_THROTTLE:
		count_import_loss(m, LOSS_THROTTLED, 1);
		break;
	case PERF_RECORD_KSYMBOL:
		sampled_kernel_note_symbol(&m->kernel, &r.symbol);
		m->sink.symbol(m->sink.context, &r.symbol);
		break;
	default:
		m->sink.switches(m->sink.context, h, &r.id);
	}
}

/* ------------------------------------------------------------------------------------------------ another trace's */

/* Is this a loss of registrations?  Losses of the other trace's samples do not matter. */
static bool is_loss_of_registrations(const struct trace_record *r)
{
	enum loss_reason reason = trace_loss_reason(r);

	return reason < NR_LOSSES && trace_losses[reason].of == LOSS_OF_REGISTRATIONS;
}

/* Is this a record of an agent, or one that the recorder wrote about generated code in an agent's place? */
static bool is_registration(const struct trace_record *r)
{
	return r->id <= JITREG_ID_MAX_ || r->id == TRACE_GUEST || r->id == TRACE_INTERPRETER || r->id == TRACE_PLAN_CODE;
}

static bool is_of_sampled_process(struct import *m, const struct trace_record *r)
{
	if (!is_registration(r))
		return r->id == TRACE_LOSS && is_loss_of_registrations(r);
	if (r->pid >= PIDS_MAX || !(m->pids[r->pid / 8] >> r->pid % 8 & 1)) {
		m->others++;
		return false;
	}
	m->registrations++;
	return true;
}

static int copy_registrations(struct import *m, struct diag *d)
{
	struct trace_reader *t;
	struct trace_record r;
	char damage[1024];
	int ret;

	if (!m->options->with)
		return 0;
	if (m->times.unrelated) {
		recording_notice(m->recording, NOTICE_REFUSED, "registrations of %s left out: %s; record with `perf record -k mono`",
				 m->options->with, m->times.unrelated);
		return 0;
	}
	ret = trace_open(m->options->with, &t, d);
	if (ret)
		return ret;
	trace_select_chunks(t, 1u << TRACE_CHUNK_RECORDS);
	while (trace_next(t, &r) == 1)
		if (is_of_sampled_process(m, &r))
			trace_record_copy(writer_of_import(m), &r);
	if (trace_describe_damage(t, damage, sizeof(damage)))
		recording_notice(m->recording, NOTICE_LOSS, "%s is incomplete or damaged: registrations are missing", m->options->with);
	trace_close(t);
	if (!m->registrations)
		recording_notice(m->recording, NOTICE_REFUSED,
				 m->others ? "%s has none of the processes that perf sampled: it is a trace of another run" :
					     "%s has no registrations", m->options->with);
	return 0;
}

/* ---------------------------------------------------------------------------------------------------- all of it */

static int import_perf_records(struct import *m, struct diag *d)
{
	_Alignas(8) static unsigned char room[PERF_DATA_RECORD_BYTES];
	struct perf_event_header *h = (struct perf_event_header *)room;
	struct perf_data_cursor c = { 0 };
	int more;

	while ((more = perf_data_next_record(m->data, &c, h)) == 1)
		import_record(m, h);
	perf_data_close_cursor(&c);
	return more < 0 ? diag_fail(d, ENOMEM, "out of memory for the records of %s", m->options->input) : 0;
}

static void notice_missing_parts(struct import *m)
{
	const struct perf_data *p = m->data;

	if (p->cut)
		recording_notice(m->recording, NOTICE_LOSS, "%s is incomplete or damaged: read up to byte %llu of %llu", m->options->input,
				 (unsigned long long)p->data_end, (unsigned long long)p->size);
	if (!p->has_times)
		recording_notice(m->recording, NOTICE_REFUSED, "samples of %s have no time, only an order: times and durations of the "
				 "trace mean nothing; record with `perf record -T`", m->options->input);
	for (uint32_t i = 0; i < p->nr_events; i++)
		if (p->event[i].attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK) {
			recording_notice(m->recording, NOTICE_REFUSED, "call stacks of branch records (perf record --call-graph lbr) are "
					 "not supported; record with --call-graph fp or dwarf");
			break;
		}
	if (p->foreign)
		recording_notice(m->recording, NOTICE_REFUSED, "recorded on another architecture (%.*s): functions and recorded call "
				 "chains are here; registers, stack bytes and machine code of it are not supported (record with "
				 "`perf record -g`)",
				 (int)(p->machine.bytes < 32 ? p->machine.bytes : 32), p->machine.p);
	if (p->aux_bytes)
		recording_notice(m->recording, NOTICE_REFUSED,
				 "%s has %llu bytes of AUX data (Intel PT and the like), which is not supported",
				 m->options->input, (unsigned long long)p->aux_bytes);
}

static bool is_running_kernel(const struct perf_data *p)
{
	struct utsname u = { .release = "" };

	uname(&u);
	return !p->foreign && perf_data_text_is(p->release, u.release);
}

static int import_whole_file(struct import *m, int64_t written_s, struct diag *d)
{
	int ret;

	write_import_header(m, written_s);
	ret = import_events(m, d);
	if (ret == 0)
		ret = import_perf_records(m, d);
	if (ret == 0)
		ret = copy_registrations(m, d);
	if (ret == 0)
		notice_missing_parts(m);
	return ret;
}

int import_records(const struct import_options *o, const struct perf_data *p, const struct import_times *times, int64_t written_s,
		   struct import_result *out, struct diag *d)
{
	static struct import m;
	const struct kernel_names_origin origin = { sampled_kernel_is_running, sampled_kernel_text_is_there, sampled_kernel_had_function,
						    &m.kernel };
	struct recording_state state;
	int ret;

	m = (struct import){ .options = o, .data = p, .times = *times, .kernel.data = p };
	m.pids = calloc(1, PIDS_MAX / 8);
	ret = !m.pids ? diag_fail(d, ENOMEM, "out of memory for processes") :
			recording_create(
				&(struct recording_options){
					.output = o->output,
					.uncompressed = o->uncompressed,
					.registers = UINT64_MAX,
					.notice = pass_import_notice,
					.seen = note_sampled_pid,
					.context = &m,
					.sources = { .stack_bytes = p->foreign ? 0 : SAMPLE_STACK_MAX,
						     .image_code_bytes = p->foreign ? 0 : IMAGES_CODE_DEFAULT,
						     .past_foreign = p->foreign,
						     .past_begin_ns = import_start_ns(&m),
						     .past_end_ns = import_end_ns(&m),
						     .past_end_s = written_s + LATE_S,
						     .past_other_clock = times->unrelated,
						     .past_same_kernel = is_running_kernel(p),
						     .past_names = &origin } },
				&m.recording, d);
	if (ret) {
		free(m.pids);
		return ret;
	}
	m.sink = recording_sink(m.recording);
	ret = import_whole_file(&m, written_s, d);
	if (ret) {
		recording_drop(m.recording);
	} else {
		ret = recording_end(m.recording, -1, &state, d);
		*out = (struct import_result){ state.samples, state.bytes, state.lost[LOSS_RING_FULL], m.registrations };
	}
	free(m.pids);
	old_execs_fini(&m.execs);
	free(m.counted.at);
	hash_map_fini(&m.counters);
	return ret;
}
