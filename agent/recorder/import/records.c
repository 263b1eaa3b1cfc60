/* SPDX-License-Identifier: MIT */
/* What a session takes from the kernel's rings, taken from perf.data's records (rings.c is the living one's). */
#include "agent/recorder/images/images.h"
#include "agent/recorder/images/kernel_names.h"
#include "agent/recorder/images/task_events.h"
#include "agent/recorder/import/import.h"
#include "agent/recorder/import/sampled_kernel.h"
#include "agent/recorder/jit_files/jit_files.h"
#include "agent/recorder/perf/event_internal.h"
#include "agent/recorder/perf/samples.h"
#include "jitreg/hosts/jit_hosts.h"
#include "jitreg/trace/reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#define PIDS_MAX (4u << 20) /* the kernel's own limit */
#define NOT_TAKEN UINT32_MAX
#define KERNEL_PID UINT32_MAX /* whose mappings are the kernel's and its modules' */
#define MISC_FORK_MADE_UP (1u << 13) /* by perf, of a process that was there before */

struct import {
	const struct import_options *options;
	const struct perf_data *data;
	struct trace_writer *w;
	struct images *images;
	struct jit_files *jit_files;
	struct kernel_names *kernel_names;
	struct sampled_kernel kernel;
	uint64_t shift_ns;
	uint32_t number[PERF_DATA_EVENTS_MAX]; /* of its events in the trace */
	uint32_t nr_events;
	uint32_t switches; /* the number of the event of switches, or NOT_TAKEN */
	struct samples *samples[IMPORT_EVENTS_MAX + 1];
	uint64_t ring_full, throttled, malformed, not_written;
	uint64_t nr_samples;
	unsigned char *pids; /* a bit for each that has samples */
	uint64_t registrations, others; /* of the other trace: taken; of processes without samples */
};

static struct task_events facts_of(const struct import *m)
{
	return (struct task_events){ m->w, m->images, m->jit_files };
}

/* Where what perf made up of what was there before stands: before all that was recorded. */
static uint64_t start_ns(const struct import *m)
{
	return m->data->first_ns + m->shift_ns - 1;
}

static uint64_t end_ns(const struct import *m)
{
	return m->data->last_ns + m->shift_ns;
}

static __attribute__((format(printf, 3, 4))) void notice(struct import *m, const char *kind, const char *format, ...)
{
	char text[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	TRACE_PUT(m->w, notice, end_ns(m), 0, 0, .kind = trace_string(kind), .sentence = trace_string(text));
	if (m->options->notice)
		m->options->notice(m->options->context, text);
}

/* ------------------------------------------------------------------------------------------------ what was recorded */

static void write_header(struct import *m, int64_t end_s)
{
	const struct perf_data *p = m->data;
	struct trace_text *command;
	struct perf_data_text word;
	uint64_t real_ns;
	uint32_t nr = 0;
	size_t at = 0;
	char tool[128];

	real_ns = p->has_clock ? p->wall_ns + (p->first_ns - p->clock_ns)
			       : (uint64_t)end_s * 1000000000u - (p->last_ns - p->first_ns);
	snprintf(tool, sizeof(tool), "tailor " TAILOR_VERSION ", from perf %.*s", (int)(p->version.bytes < 64 ? p->version.bytes : 64),
		 p->version.p ? p->version.p : "");
	while (nr < p->nr_words && perf_data_next_word(p, &at, &word))
		nr++;
	command = calloc((size_t)nr + 1, sizeof(*command));
	at = 0;
	for (uint32_t i = 0; command && i < nr && perf_data_next_word(p, &at, &word); i++)
		command[i].text = (struct trace_span){ word.p, word.bytes };
	TRACE_PUT(m->w, header, start_ns(m), 0, 0, .version = TRACE_FORMAT_VERSION, .tool = trace_string(tool), .real_ns = real_ns,
		  .host_name = { p->host_name.p, p->host_name.bytes }, .machine = { p->machine.p, p->machine.bytes },
		  .kernel = { p->release.p, p->release.bytes }, .nr_cpus = p->nr_cpus, .command = { command, command ? nr : 0 },
		  .way = trace_string(jit_way_text(JIT_WAY_IMPORT)));
	free(command);
}

static void write_event(struct import *m, uint32_t number, const char *name, const struct perf_event_attr *a)
{
	TRACE_PUT(m->w, event, start_ns(m), 0, 0, .event = number, .name = trace_string(name), .unit = trace_string(event_unit(a, name)),
		  .type = a->type, .config = a->config, .period = a->freq ? 0 : a->sample_period, .rate = a->freq ? a->sample_freq : 0,
		  .precise = a->precise_ip, .exclude_kernel = a->exclude_kernel, .registers = a->sample_regs_user,
		  .stack_bytes = a->sample_stack_user, .scope = trace_string("cpu"));
}

/* perf's dummy counts nothing: it brings the records of tasks and mappings. */
static bool is_dummy(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_DUMMY;
}

static int take_events(struct import *m, struct diag *d)
{
	/* what a switch becomes: who, when, where, and which way */
	static const struct perf_event_attr way = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD, .sample_period = 1 };
	bool said = false, sampled = false; /* when threads come and go; from which code they go */
	int ret = 0;

	for (uint32_t i = 0; i < m->data->nr_events && ret == 0; i++) {
		const struct perf_data_event *e = &m->data->event[i];
		char name[136];

		m->number[i] = NOT_TAKEN;
		said |= e->attr.context_switch;
		sampled |= e->attr.type == PERF_TYPE_SOFTWARE && e->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES;
		if (is_dummy(&e->attr))
			continue;
		if (m->nr_events == IMPORT_EVENTS_MAX)
			return diag_fail(d, E2BIG, "%s has more than %u events", m->options->input, IMPORT_EVENTS_MAX);
		if (e->name.p && e->name.bytes)
			snprintf(name, sizeof(name), "%.*s", (int)(e->name.bytes < 128 ? e->name.bytes : 128), e->name.p);
		else
			snprintf(name, sizeof(name), "event %u:0x%llx", e->attr.type, (unsigned long long)e->attr.config);
		write_event(m, m->nr_events, name, &e->attr);
		ret = samples_create(m->nr_events, &e->attr, &m->samples[m->nr_events]);
		m->number[i] = m->nr_events++;
	}
	if (ret == 0 && said && sampled) {
		m->switches = m->nr_events;
		write_event(m, m->switches, TRACE_EVENT_SWITCH, &way);
		ret = samples_create(m->switches, &way, &m->samples[m->switches]);
	}
	return ret ? diag_fail(d, -ret, "out of memory for samples") : 0;
}

/* ------------------------------------------------------------------------------------------------------- records */

static void flush_samples(struct import *m)
{
	uint32_t nr;

	for (uint32_t i = 0; i <= IMPORT_EVENTS_MAX; i++)
		if (m->samples[i] && samples_flush(m->samples[i], m->w, &nr))
			m->not_written += nr;
		else if (m->samples[i])
			m->nr_samples += nr;
}

static void take_sample(struct import *m, uint32_t number, const struct perf_event_header *h)
{
	struct sample_seen seen;

	if (samples_full(m->samples[number]))
		flush_samples(m);
	if (samples_add(m->samples[number], h, &seen)) {
		m->malformed++;
		return;
	}
	images_sample(m->images, &seen);
	kernel_names_sample(m->kernel_names, &seen);
	if (seen.pid < PIDS_MAX)
		m->pids[seen.pid / 8] |= (unsigned char)(1u << seen.pid % 8);
}

/* To our clock.  0 is what perf made up. */
static void shift(const struct import *m, void *time_ns)
{
	uint64_t t;

	memcpy(&t, time_ns, sizeof(t));
	t = t ? t + m->shift_ns : start_ns(m);
	memcpy(time_ns, &t, sizeof(t));
}

static void on_sample(struct import *m, uint32_t event, struct perf_event_header *h)
{
	uint64_t type = m->data->event[event].layout.sample_type;
	size_t before = 1 + !!(type & PERF_SAMPLE_IDENTIFIER) + !!(type & PERF_SAMPLE_IP) + !!(type & PERF_SAMPLE_TID);

	if (m->number[event] == NOT_TAKEN)
		return;
	if (h->size >= 8 * (before + 1))
		shift(m, (uint64_t *)h + before);
	take_sample(m, m->number[event], h);
}

static void take_mapping(struct import *m, struct mapping *g, uint64_t time_ns)
{
	const struct perf_data_build_id *known = g->build_id_bytes ? NULL : perf_data_find_build_id(m->data, g->path, g->path_bytes);

	if (known) {
		g->build_id = known->id;
		g->build_id_bytes = known->bytes;
	}
	task_events_mapping(facts_of(m), g, time_ns);
}

static void on_mapping(struct import *m, struct mapping *g, uint64_t time_ns)
{
	if (g->pid == KERNEL_PID)
		sampled_kernel_mapping(&m->kernel, g);
	else if (g->prot & PROT_EXEC)
		take_mapping(m, g, time_ns);
}

static void on_task(struct import *m, struct kernel_task *t)
{
	if (t->header.type == PERF_RECORD_FORK && t->header.misc & MISC_FORK_MADE_UP)
		return; /* its mappings are told one by one */
	shift(m, &t->time_ns);
	task_events_task(facts_of(m), t);
}

static void on_comm(struct import *m, const struct kernel_comm *c, bool made_up, uint64_t time_ns)
{
	if (!made_up || c->pid != c->tid) {
		task_events_comm(facts_of(m), c, time_ns);
		return;
	}
	if (c->exec)
		task_events_exec(facts_of(m), c->pid);
	TRACE_PUT(m->w, process, time_ns, c->pid, c->tid, .comm = { c->name, c->bytes });
}

static void on_switch(struct import *m, const struct perf_event_header *h, const struct record_id *id)
{
	struct switch_sample sample = task_events_switch(h, id);

	if (m->switches != NOT_TAKEN)
		take_sample(m, m->switches, &sample.header);
}

static void on_record(struct import *m, struct perf_event_header *h)
{
	struct kernel_record r;
	uint32_t event;
	bool made_up;

	if (h->type == PERF_DATA_FINISHED_ROUND)
		images_settle(m->images);
	if (h->type != PERF_RECORD_SAMPLE && !kernel_record_is_known(h->type))
		return; /* perf's own, or of no use here */
	if (!perf_data_find_event(m->data, h, &event)) {
		m->malformed++;
		return;
	}
	if (h->type == PERF_RECORD_SAMPLE) {
		on_sample(m, event, h);
		return;
	}
	if (kernel_record(&m->data->event[event].layout, h, &r)) {
		m->malformed++;
		return;
	}
	made_up = !r.id.time_ns;
	shift(m, &r.id.time_ns);
	switch (h->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		on_mapping(m, &r.mapping, r.id.time_ns);
		break;
	case PERF_RECORD_COMM:
		on_comm(m, &r.comm, made_up, r.id.time_ns);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		on_task(m, &r.task);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		m->ring_full += r.lost;
		break;
	case PERF_RECORD_THROTTLE:
		m->throttled++;
		break;
	case PERF_RECORD_KSYMBOL:
		sampled_kernel_symbol(&m->kernel, &r.symbol);
		break;
	default:
		on_switch(m, h, &r.id);
	}
}

/* ------------------------------------------------------------------------------------------------ another trace's */

/* Losses that registrations may have had; those of samples are not ours. */
static bool is_loss_of_registrations(const struct trace_record *r)
{
	enum loss_reason reason = trace_loss_reason(r);

	return reason < NR_LOSSES && trace_losses[reason].of == LOSS_OF_REGISTRATIONS;
}

static bool is_wanted(struct import *m, const struct trace_record *r)
{
	if (r->id > JITREG_ID_MAX_ && r->id != TRACE_GUEST)
		return r->id == TRACE_LOSS && is_loss_of_registrations(r);
	if (r->pid >= PIDS_MAX || !(m->pids[r->pid / 8] >> r->pid % 8 & 1)) {
		m->others++;
		return false;
	}
	m->registrations++;
	return true;
}

static int take_registrations(struct import *m, struct diag *d)
{
	struct trace_reader *t;
	struct trace_record r;
	char damage[1024];
	int ret;

	if (!m->options->with)
		return 0;
	ret = trace_open(m->options->with, &t, d);
	if (ret)
		return ret;
	trace_select(t, 1u << TRACE_CHUNK_RECORDS);
	while (trace_next(t, &r) == 1)
		if (is_wanted(m, &r))
			trace_record_copy(m->w, &r);
	if (trace_describe_damage(t, damage, sizeof(damage)))
		notice(m, "loss", "%s is incomplete or damaged: registrations are missing", m->options->with);
	trace_close(t);
	if (!m->registrations)
		notice(m, "refused", m->others ? "%s has none of the processes that perf sampled: it is a trace of another run"
					       : "%s has no registrations", m->options->with);
	return 0;
}

/* ---------------------------------------------------------------------------------------------------- all of it */

static void write_loss(struct import *m, enum loss_reason reason, uint64_t count)
{
	if (!count)
		return;
	TRACE_PUT(m->w, loss, end_ns(m), 0, 0, .reason = trace_string(trace_losses[reason].text), .count = count);
}

static void write_end(struct import *m)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	trace_writer_flush_all(m->w);
	TRACE_PUT(m->w, end, end_ns(m), 0, 0, .exit_status = UINT32_MAX, .samples = m->nr_samples, .records = trace_writer_records(m->w),
		  .recorder_cpu_ns = ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
				     ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000u);
}

static int import_all(struct import *m, int64_t end_s, struct diag *d)
{
	_Alignas(8) static unsigned char room[PERF_DATA_RECORD_BYTES];
	struct perf_event_header *h = (struct perf_event_header *)room;
	const struct perf_data *p = m->data;
	struct utsname u = { .release = "" };
	struct perf_data_cursor c = { 0 };
	const struct kernel_names_origin origin = { sampled_kernel_is_ours, sampled_kernel_is_there, sampled_kernel_was_there, &m->kernel };
	const char *nameless;
	uint64_t files_bad = 0;
	int ret, more;

	write_header(m, end_s);
	ret = take_events(m, d);
	if (ret)
		return ret;
	uname(&u);
	images_of_the_past(m->images, p->release.p && p->release.bytes == strlen(u.release) &&
					      memcmp(p->release.p, u.release, p->release.bytes) == 0);
	jit_files_of_the_past(m->jit_files, end_ns(m), end_s);
	while ((more = perf_data_next(p, &c, h)) == 1)
		on_record(m, h);
	perf_data_leave(&c);
	if (more < 0)
		return diag_fail(d, ENOMEM, "out of memory for the records of %s", m->options->input);
	flush_samples(m);
	images_settle(m->images);
	jit_files_drain(m->jit_files, m->w, true, &files_bad);
	ret = take_registrations(m, d);
	if (ret)
		return ret;
	nameless = kernel_names_write(m->kernel_names, &origin, m->w, end_ns(m));
	if (nameless)
		notice(m, "ladder", "%s", nameless);
	images_write(m->images, m->w, end_ns(m));
	if (p->cut)
		notice(m, "loss", "%s is incomplete or damaged: read up to byte %llu of %llu", m->options->input,
		       (unsigned long long)p->data_end, (unsigned long long)p->size);
	if (p->aux_bytes)
		notice(m, "refused", "%s has %llu bytes of AUX data (Intel PT and the like), which is not supported",
		       m->options->input, (unsigned long long)p->aux_bytes);
	write_loss(m, LOSS_RING_FULL, m->ring_full);
	write_loss(m, LOSS_THROTTLED, m->throttled);
	write_loss(m, LOSS_RING_BAD, m->malformed);
	write_loss(m, LOSS_WRITE, m->not_written);
	write_loss(m, LOSS_FILES_BAD, files_bad);
	write_end(m);
	return 0;
}

int import_records(const struct import_options *o, const struct perf_data *p, uint64_t shift_ns, int64_t end_s, struct trace_writer *w,
		   struct import_result *out, struct diag *d)
{
	static struct import m;
	int ret;

	m = (struct import){ .options = o, .data = p, .w = w, .shift_ns = shift_ns, .switches = NOT_TAKEN, .kernel.data = p };
	ret = images_create(true, &m.images);
	if (ret == 0) {
		ret = images_keep_code(m.images, IMAGES_CODE_DEFAULT) || jit_files_create(&m.jit_files);
		m.pids = calloc(1, PIDS_MAX / 8);
		m.kernel_names = kernel_names_create();
		if (ret || !m.pids || !m.kernel_names)
			ret = diag_fail(d, ENOMEM, "out of memory for processes");
		else
			ret = import_all(&m, end_s, d);
		images_destroy(m.images);
	} else {
		diag_fail(d, ENOMEM, "out of memory for images");
	}
	jit_files_destroy(m.jit_files);
	kernel_names_destroy(m.kernel_names);
	free(m.pids);
	for (uint32_t i = 0; i <= IMPORT_EVENTS_MAX; i++)
		samples_destroy(m.samples[i]);
	*out = (struct import_result){ m.nr_samples, 0, m.ring_full, m.registrations };
	return ret;
}
