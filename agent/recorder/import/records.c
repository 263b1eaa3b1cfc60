/* SPDX-License-Identifier: MIT */
/* What a session takes from the kernel's rings, taken from perf.data's records (rings.c is the living one's). */
#include "agent/recorder/images/images.h"
#include "agent/recorder/images/kallsyms.h"
#include "agent/recorder/images/kernel_names.h"
#include "agent/recorder/images/task_events.h"
#include "agent/recorder/import/import.h"
#include "agent/recorder/jit_files/jit_files.h"
#include "agent/recorder/perf/event_internal.h"
#include "agent/recorder/perf/samples.h"
#include "jitreg/trace/writer_copy.h"

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
#define MISC_MMAP_DATA (1u << 13)
#define MISC_FORK_MADE_UP (1u << 13) /* by perf, of a process that was there before */

#define KERNEL_MAPPINGS_MAX 1024u /* modules and BPF programs */

struct kernel_mapping {
	uint64_t address, bytes;
	char name[64]; /* of the module as the kernel has it; "bpf" */
};

/* What the file tells of its kernel. */
struct kernel_past {
	char text_name[16]; /* the symbol that its code begins at, ... */
	uint64_t text;	    /* ... and where that was; 0: not told */
	unsigned char build_id[KERNEL_BUILD_ID_BYTES];
	uint32_t build_id_bytes;
	struct kernel_mapping mapping[KERNEL_MAPPINGS_MAX];
	uint32_t nr_mappings;
};

struct import {
	const struct import_options *options;
	const struct perf_data *data;
	struct trace_writer *w;
	struct images *images;
	struct jit_files *jit_files;
	struct kernel_names *kernel_names;
	struct kernel_past kernel;
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

static void put_text(struct import *m, struct perf_data_text t)
{
	trace_record_text(m->w, t.p ? t.p : "", t.p ? t.bytes : 0);
}

static void put_string(struct import *m, const char *text)
{
	trace_record_text(m->w, text, strlen(text));
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
	trace_record_begin(m->w, TRACE_CHUNK_RECORDS, TRACE_NOTICE, end_ns(m), 0, 0, F_COUNT(notice));
	put_string(m, kind);
	put_string(m, text);
	trace_record_end(m->w);
	if (m->options->told)
		m->options->told(m->options->context, text);
}

/* ------------------------------------------------------------------------------------------------ what was recorded */

static void write_header(struct import *m, int64_t end_s)
{
	const struct perf_data *p = m->data;
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
	trace_record_begin(m->w, TRACE_CHUNK_RECORDS, TRACE_HEADER, start_ns(m), 0, 0, F_COUNT(header));
	trace_record_u64(m->w, TRACE_FORMAT_VERSION);
	put_string(m, tool);
	trace_record_u64(m->w, real_ns);
	put_text(m, p->host_name);
	put_text(m, p->machine);
	put_text(m, p->release);
	trace_record_u64(m->w, p->nr_cpus);
	put_string(m, "");
	trace_record_array(m->w, nr);
	for (at = 0; nr > 0 && perf_data_next_word(p, &at, &word); nr--) {
		trace_record_array(m->w, 1);
		put_text(m, word);
	}
	trace_record_end(m->w);
}

static void write_event(struct import *m, uint32_t number, const char *name, const struct perf_event_attr *a)
{
	trace_record_begin(m->w, TRACE_CHUNK_RECORDS, TRACE_EVENT, start_ns(m), 0, 0, F_COUNT(event));
	trace_record_u64(m->w, number);
	put_string(m, name);
	put_string(m, event_unit(a, name));
	trace_record_u64(m->w, a->type);
	trace_record_u64(m->w, a->config);
	trace_record_u64(m->w, a->freq ? 0 : a->sample_period);
	trace_record_u64(m->w, a->freq ? a->sample_freq : 0);
	trace_record_u64(m->w, a->precise_ip);
	trace_record_u64(m->w, a->exclude_kernel);
	trace_record_u64(m->w, a->sample_regs_user);
	trace_record_u64(m->w, a->sample_stack_user);
	put_string(m, "cpu");
	trace_record_end(m->w);
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
	return ret ? diag_fail(d, -ret, "no memory for samples") : 0;
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

static void add_kernel_mapping(struct kernel_past *k, uint64_t address, uint64_t bytes, const char *name, size_t name_bytes)
{
	struct kernel_mapping *g = &k->mapping[k->nr_mappings];

	if (k->nr_mappings == KERNEL_MAPPINGS_MAX || name_bytes >= sizeof(g->name))
		return;
	*g = (struct kernel_mapping){ .address = address, .bytes = bytes };
	for (size_t i = 0; i < name_bytes; i++)
		g->name[i] = name[i] == '-' ? '_' : name[i];
	k->nr_mappings++;
}

/* Its own ("[kernel.kallsyms]_text", whose offset is where that symbol is), or a module's: "[nf_tables]", ".../nf-tables.ko.zst". */
static void take_kernel_mapping(struct kernel_past *k, uint64_t address, uint64_t bytes, uint64_t offset, const char *name,
				size_t name_bytes, const unsigned char *build_id, uint32_t build_id_bytes)
{
	static const char own[] = "[kernel.kallsyms]";
	const size_t own_bytes = sizeof(own) - 1;
	const char *slash, *dot;

	if (name_bytes > own_bytes && memcmp(name, own, own_bytes) == 0) {
		if (name_bytes - own_bytes >= sizeof(k->text_name))
			return;
		snprintf(k->text_name, sizeof(k->text_name), "%.*s", (int)(name_bytes - own_bytes), name + own_bytes);
		k->text = offset;
		k->build_id_bytes = build_id_bytes <= sizeof(k->build_id) ? build_id_bytes : 0;
		memcpy(k->build_id, build_id, k->build_id_bytes);
		return;
	}
	slash = memrchr(name, '/', name_bytes);
	if (slash) {
		name_bytes -= (size_t)(slash + 1 - name);
		name = slash + 1;
		dot = memchr(name, '.', name_bytes);
		name_bytes = dot ? (size_t)(dot - name) : name_bytes;
	} else if (name_bytes > 2 && name[0] == '[' && name[name_bytes - 1] == ']') {
		name++;
		name_bytes -= 2;
	}
	add_kernel_mapping(k, address, bytes, name, name_bytes);
}

/* A BPF program, as PERF_RECORD_KSYMBOL has it: address, bytes, kind. */
static void take_kernel_symbol(struct kernel_past *k, const struct perf_event_header *h)
{
	struct {
		uint64_t address;
		uint32_t bytes;
		uint16_t kind, flags;
	} s;

	memcpy(&s, h + 1, sizeof(s));
	if (s.kind == PERF_RECORD_KSYMBOL_TYPE_BPF)
		add_kernel_mapping(k, s.address, s.bytes, "bpf", 3);
}

static bool is_this_kernel(void *context, const struct kallsyms *symbols, const char **why)
{
	struct import *m = context;
	struct kernel_past *k = &m->kernel;
	const struct perf_data_build_id *known = perf_data_find_build_id(m->data, "[kernel.kallsyms]", 17);
	unsigned char id[KERNEL_BUILD_ID_BYTES];
	size_t id_bytes = kernel_names_build_id(id);

	if (known && !k->build_id_bytes) {
		k->build_id_bytes = known->bytes <= sizeof(k->build_id) ? known->bytes : 0;
		memcpy(k->build_id, known->id, k->build_id_bytes);
	}
	/* perf pads them to 20 bytes */
	if (!k->build_id_bytes || !id_bytes || !k->text)
		*why = "the file does not tell which build of the kernel was sampled (perf record -B, or through a pipe)";
	else if (k->build_id_bytes < id_bytes || memcmp(k->build_id, id, id_bytes) != 0)
		*why = "another kernel was sampled than runs here: import where it was recorded";
	else if (kallsyms_address(symbols, k->text_name) != k->text)
		*why = "the kernel was at other addresses then (it has been started anew): import before that";
	else
		return true;
	return false;
}

/* Modules come and go, and others may be in their places. */
static bool was_there(void *context, const struct kallsyms_function *f)
{
	const struct kernel_past *k = &((const struct import *)context)->kernel;

	if (!*f->module || strncmp(f->module, "__builtin__", 11) == 0)
		return true;
	for (uint32_t i = 0; i < k->nr_mappings; i++)
		if (f->address - k->mapping[i].address < k->mapping[i].bytes && strcmp(f->module, k->mapping[i].name) == 0)
			return true;
	return false;
}

/* id_bytes: of what stands behind all records */
static void on_mmap(struct import *m, const struct perf_event_header *h, size_t id_bytes, uint64_t time_ns)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t address, bytes, offset;
	} r;
	struct {
		unsigned char who[24]; /* device and inode, or size and build id */
		uint32_t prot, flags;
	} r2 = { .prot = PROT_READ | PROT_EXEC };
	bool second = h->type == PERF_RECORD_MMAP2;
	size_t at = sizeof(r) + (second ? sizeof(r2) : 0);
	struct mapping g;

	memcpy(&r, h, sizeof(r));
	if (second)
		memcpy(&r2, (const char *)h + sizeof(r), sizeof(r2));
	if (r.pid == KERNEL_PID) {
		uint32_t build_id = second && h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID ? r2.who[0] : 0;

		take_kernel_mapping(&m->kernel, r.address, r.bytes, r.offset, (const char *)h + at,
				    strnlen((const char *)h + at, h->size - at - id_bytes), r2.who + 4, build_id);
	}
	if (r.pid == KERNEL_PID || !(r2.prot & PROT_EXEC) || (!second && h->misc & MISC_MMAP_DATA))
		return;
	g = (struct mapping){ r.pid, r.tid, r2.prot, r.address, r.bytes, r.offset, (const char *)h + at,
			      strnlen((const char *)h + at, h->size - at - id_bytes), NULL, 0 };
	if (second && h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID && r2.who[0] <= 20) {
		g.build_id = r2.who + 4;
		g.build_id_bytes = r2.who[0];
	}
	take_mapping(m, &g, time_ns);
}

static void on_task(struct import *m, struct perf_event_header *h)
{
	struct kernel_task t;

	if (h->type == PERF_RECORD_FORK && h->misc & MISC_FORK_MADE_UP)
		return; /* its mappings are told one by one */
	memcpy(&t, h, sizeof(t));
	shift(m, &t.time_ns);
	task_events_task(facts_of(m), &t);
}

static void on_comm(struct import *m, const struct perf_event_header *h, size_t id_bytes, bool made_up, uint64_t time_ns)
{
	uint32_t who[2];
	size_t at = sizeof(*h) + sizeof(who);
	const char *comm = (const char *)h + at;
	size_t bytes = strnlen(comm, h->size - at - id_bytes);
	bool exec = h->misc & PERF_RECORD_MISC_COMM_EXEC;

	memcpy(who, h + 1, sizeof(who));
	if (!made_up || who[0] != who[1]) {
		task_events_comm(facts_of(m), who[0], who[1], exec, comm, bytes, time_ns);
		return;
	}
	if (exec)
		task_events_exec(facts_of(m), who[0]);
	trace_record_begin(m->w, TRACE_CHUNK_RECORDS, TRACE_PROCESS, time_ns, who[0], who[1], F_COUNT(process));
	trace_record_u64(m->w, 0);
	put_string(m, "");
	trace_record_text(m->w, comm, bytes);
	trace_record_end(m->w);
}

static uint64_t number_at(const struct perf_event_header *h, size_t at)
{
	uint64_t v;

	memcpy(&v, (const char *)h + at, sizeof(v));
	return v;
}

static void on_switch(struct import *m, const struct perf_event_header *h, const struct record_id *id)
{
	struct switch_sample sample = task_events_switch(h, id);

	if (m->switches != NOT_TAKEN)
		take_sample(m, m->switches, &sample.header);
}

static void on_record(struct import *m, struct perf_event_header *h)
{
	/* smallest size of what is read below, without the header and the record_id; 1: nothing */
	static const uint16_t least[] = {
		[PERF_RECORD_MMAP] = 32,	[PERF_RECORD_LOST] = 16,   [PERF_RECORD_COMM] = 8,
		[PERF_RECORD_EXIT] = 24,	[PERF_RECORD_FORK] = 24,   [PERF_RECORD_THROTTLE] = 24,
		[PERF_RECORD_SAMPLE] = 1,	[PERF_RECORD_MMAP2] = 64,  [PERF_RECORD_LOST_SAMPLES] = 8,
		[PERF_RECORD_SWITCH] = 1,	[PERF_RECORD_SWITCH_CPU_WIDE] = 8, [PERF_RECORD_KSYMBOL] = 16,
	};
	const struct record_layout *l;
	struct record_id id;
	uint32_t event;
	bool made_up;

	if (h->type == PERF_DATA_FINISHED_ROUND)
		images_settle(m->images);
	if (h->type >= sizeof(least) / sizeof(least[0]) || !least[h->type])
		return; /* perf's own, or of no use here */
	if (!perf_data_find_event(m->data, h, &event)) {
		m->malformed++;
		return;
	}
	if (h->type == PERF_RECORD_SAMPLE) {
		on_sample(m, event, h);
		return;
	}
	l = &m->data->event[event].layout;
	if (record_id(l, h, least[h->type] & ~1u, &id)) {
		m->malformed++;
		return;
	}
	made_up = !id.time_ns;
	shift(m, &id.time_ns);
	switch (h->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		on_mmap(m, h, l->id_bytes, id.time_ns);
		break;
	case PERF_RECORD_COMM:
		on_comm(m, h, l->id_bytes, made_up, id.time_ns);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		on_task(m, h);
		break;
	case PERF_RECORD_LOST: /* id, lost */
		m->ring_full += number_at(h, 16);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		m->ring_full += number_at(h, 8);
		break;
	case PERF_RECORD_THROTTLE:
		m->throttled++;
		break;
	case PERF_RECORD_KSYMBOL:
		take_kernel_symbol(&m->kernel, h);
		break;
	default:
		on_switch(m, h, &id);
	}
}

/* ------------------------------------------------------------------------------------------------ another trace's */

/* Losses that registrations may have had; those of samples are not ours. */
static bool is_loss_of_registrations(const struct trace_brief *r)
{
	static const char *const reasons[] = { "log full", "log gap", "log malformed", "guest table full", "store full" };

	for (size_t i = 0; r->text && i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (r->text_bytes == strlen(reasons[i]) && memcmp(r->text, reasons[i], r->text_bytes) == 0)
			return true;
	return false;
}

static bool is_wanted(void *context, const struct trace_brief *r)
{
	struct import *m = context;

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
	bool cut;
	int ret;

	if (!m->options->with)
		return 0;
	ret = trace_writer_copy(m->w, m->options->with, is_wanted, m, &cut, d);
	if (ret == 0 && cut)
		notice(m, "loss", "%s ends too early, or is damaged: registrations that stood behind are missing", m->options->with);
	if (ret == 0 && !m->registrations)
		notice(m, "refused", m->others ? "%s knows none of the processes that perf sampled: it is of another run"
					       : "%s has no registrations", m->options->with);
	return ret;
}

/* ---------------------------------------------------------------------------------------------------- all of it */

static void write_loss(struct import *m, const char *reason, uint64_t count)
{
	if (!count)
		return;
	trace_record_begin(m->w, TRACE_CHUNK_RECORDS, TRACE_LOSS, end_ns(m), 0, 0, F_COUNT(loss));
	put_string(m, reason);
	trace_record_u64(m->w, count);
	trace_record_u64(m->w, 0);
	trace_record_end(m->w);
}

static void write_end(struct import *m)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	trace_writer_flush_all(m->w);
	trace_record_begin(m->w, TRACE_CHUNK_END, TRACE_END, end_ns(m), 0, 0, F_COUNT(end));
	trace_record_u64(m->w, UINT32_MAX);
	trace_record_u64(m->w, m->nr_samples);
	trace_record_u64(m->w, trace_writer_records(m->w));
	trace_record_u64(m->w, ((uint64_t)usage.ru_utime.tv_sec + (uint64_t)usage.ru_stime.tv_sec) * 1000000000u +
			       ((uint64_t)usage.ru_utime.tv_usec + (uint64_t)usage.ru_stime.tv_usec) * 1000u);
	trace_record_end(m->w);
}

static int import_all(struct import *m, int64_t end_s, struct diag *d)
{
	_Alignas(8) static unsigned char room[PERF_DATA_RECORD_BYTES];
	struct perf_event_header *h = (struct perf_event_header *)room;
	const struct perf_data *p = m->data;
	struct utsname u = { .release = "" };
	struct perf_data_cursor c = { 0 };
	const struct kernel_names_origin origin = { is_this_kernel, was_there, m };
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
		return diag_fail(d, ENOMEM, "no memory for the records of %s", m->options->input);
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
		notice(m, "loss", "%s was not written to its end, or is damaged: it was read up to byte %llu of %llu", m->options->input,
		       (unsigned long long)p->data_end, (unsigned long long)p->size);
	if (p->aux_bytes)
		notice(m, "refused", "%s has %llu bytes of hardware traces (AUX areas: Intel PT and the like), which are not read",
		       m->options->input, (unsigned long long)p->aux_bytes);
	write_loss(m, "ring full", m->ring_full);
	write_loss(m, "throttled", m->throttled);
	write_loss(m, "ring malformed", m->malformed);
	write_loss(m, "trace write failed", m->not_written);
	write_loss(m, "perf maps and jitdumps malformed", files_bad);
	write_end(m);
	return 0;
}

int import_records(const struct import_options *o, const struct perf_data *p, uint64_t shift_ns, int64_t end_s, struct trace_writer *w,
		   struct import_result *out, struct diag *d)
{
	static struct import m;
	int ret;

	m = (struct import){ .options = o, .data = p, .w = w, .shift_ns = shift_ns, .switches = NOT_TAKEN };
	ret = images_create(true, &m.images);
	if (ret == 0) {
		ret = jit_files_create(&m.jit_files);
		m.pids = calloc(1, PIDS_MAX / 8);
		m.kernel_names = kernel_names_create();
		if (ret || !m.pids || !m.kernel_names)
			ret = diag_fail(d, ENOMEM, "no memory for processes");
		else
			ret = import_all(&m, end_s, d);
		images_destroy(m.images);
	} else {
		diag_fail(d, ENOMEM, "no memory for images");
	}
	jit_files_destroy(m.jit_files);
	kernel_names_destroy(m.kernel_names);
	free(m.pids);
	for (uint32_t i = 0; i <= IMPORT_EVENTS_MAX; i++)
		samples_destroy(m.samples[i]);
	*out = (struct import_result){ m.nr_samples, 0, m.ring_full, m.registrations };
	return ret;
}
