/* SPDX-License-Identifier: MIT */
/* Reads the recorder's own records about the recording: HEADER, END, events, counts, notices, what hosts lack, losses, and lines of
 * source texts. */
#include "analyzer/model/read.h"

#include "analyzer/model/counts.h"
#include "jitreg/base/hash_map.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

void model_read_header(struct model *m, struct process *p, const struct trace_record *r)
{
	const struct trace_value *command = F(header, command) < r->nr_values ? &r->values[F(header, command)] : NULL;
	size_t bytes = 1;
	char *way;

	(void)p;
	model_set_text(&m->tool, trace_text(r, F(header, tool)));
	model_set_text(&m->host_name, trace_text(r, F(header, host_name)));
	model_set_text(&m->machine, trace_text(r, F(header, machine)));
	model_set_text(&m->kernel, trace_text(r, F(header, kernel)));
	model_set_text(&m->working_folder, trace_text(r, F(header, cwd)));
	m->real_ns = trace_u64(r, F(header, real_ns));
	m->begin_ns = r->time_ns;
	m->nr_cpus = (uint32_t)trace_u64(r, F(header, nr_cpus));
	way = trace_text(r, F(header, way));
	m->way = way ? jit_way_of_text(way) : JIT_WAY_UNKNOWN;
	free(way);
	m->no_adapt = trace_u64(r, F(header, no_adapt)) != 0;
	m->epoch = (uint32_t)trace_u64(r, F(header, epoch));
	m->cut_recording = trace_u64(r, F(header, cut_recording));
	for (uint64_t i = 0; command && command->kind == TRACE_LIST && i < command->u; i++) {
		struct trace_value word = trace_element(command, i, 0);
		char *bigger = word.kind == TRACE_TEXT ? realloc(m->command, bytes + word.bytes + 1) : NULL;

		if (!bigger)
			break;
		m->command = bigger;
		if (bytes > 1)
			m->command[bytes++ - 1] = ' ';
		memcpy(m->command + bytes - 1, word.p, word.bytes);
		bytes += word.bytes;
		m->command[bytes - 1] = 0;
	}
}

void model_read_end(struct model *m, struct process *p, const struct trace_record *r)
{
	(void)p;
	m->has_end = true;
	m->end_ns = r->time_ns;
	m->exit_status = (uint32_t)trace_u64(r, F(end, exit_status));
	m->written_samples = trace_u64(r, F(end, samples));
	m->recorder_cpu_ns = trace_u64(r, F(end, recorder_cpu_ns));
	m->command_cpu_ns = trace_u64(r, F(end, command_cpu_ns));
}

void model_read_source_lines(struct model *m, struct process *p, const struct trace_record *r)
{
	const struct trace_value *list = F(source_lines, pieces) < r->nr_values ? &r->values[F(source_lines, pieces)] : NULL;
	struct kept_file *f;
	uint64_t bytes = 0;

	(void)p;
	if (!list || list->kind != TRACE_LIST)
		return;
	for (uint64_t i = 0; i < list->u; i++) {
		struct trace_value text = trace_element(list, i, 1);

		bytes += KEPT_LINE_BYTES;
		for (size_t n = 0; text.kind == TRACE_TEXT && n < text.bytes; n++)
			bytes += 1 + (((const char *)text.p)[n] == '\n' ? KEPT_LINE_BYTES : 0);
	}
	if (!trace_budget_has_room(m->reader, bytes))
		return;
	f = kept_lines_add(&m->kept_lines, trace_text(r, F(source_lines, file)), trace_u64(r, F(source_lines, newer)) != 0);
	for (uint64_t i = 0; f && i < list->u; i++) {
		struct trace_value first = trace_element(list, i, 0), text = trace_element(list, i, 1);

		if (first.kind == TRACE_UINT && first.u && text.kind == TRACE_TEXT && !memchr(text.p, 0, text.bytes))
			kept_file_add(f, first.u, text.p, text.bytes);
	}
}

static void set_unit(struct model_event *e, char *text)
{
	model_set_text(&e->unit, text);
	e->weighs = weight_unit_parse(e->unit);
}

void model_read_event(struct model *m, struct process *p, const struct trace_record *r)
{
	uint64_t i = trace_u64(r, F(event, event)), config;
	struct model_event *e;

	(void)p;
	if (i >= sizeof(m->event) / sizeof(m->event[0]))
		return;
	e = &m->event[i];
	model_set_text(&e->name, trace_text(r, F(event, name)));
	set_unit(e, trace_text(r, F(event, unit)));
	model_set_text(&e->scope, trace_text(r, F(event, scope)));
	config = trace_u64(r, F(event, config));
	if (trace_u64(r, F(event, type)) == PERF_TYPE_HARDWARE && (uint32_t)config == PERF_COUNT_HW_INSTRUCTIONS)
		set_unit(e, strdup(weight_units[WEIGHT_INSTRUCTIONS])); /* traces of 1.0.0 and before say "events" */
	e->is_clock = trace_u64(r, F(event, type)) == PERF_TYPE_SOFTWARE &&
		      (config == PERF_COUNT_SW_CPU_CLOCK || config == PERF_COUNT_SW_TASK_CLOCK);
	e->is_switch = strcmp(e->name, TRACE_EVENT_SWITCH) == 0 || strcmp(e->name, TRACE_EVENT_WOKEN) == 0;
	e->period = trace_u64(r, F(event, period));
	e->rate = trace_u64(r, F(event, rate));
	e->period_spread = trace_u64(r, F(event, period_spread));
	e->registers = trace_u64(r, F(event, registers));
	e->stack_bytes = (uint32_t)trace_u64(r, F(event, stack_bytes));
	e->precise = (uint32_t)trace_u64(r, F(event, precise));
	e->exclude_kernel = (uint32_t)trace_u64(r, F(event, exclude_kernel));
	if (i >= m->nr_events)
		m->nr_events = (uint32_t)i + 1;
}

void model_read_count(struct model *m, struct process *p, const struct trace_record *r)
{
	(void)p;
	counts_read(m, r);
}

void model_read_thread_count(struct model *m, struct process *p, const struct trace_record *r)
{
	(void)p;
	thread_counts_read(m, r);
}

void model_read_notice(struct model *m, struct process *p, const struct trace_record *r)
{
	struct notice *t = ARRAY_ADD(m->notices);

	(void)p;
	if (!t)
		return;
	t->kind = trace_notice_kind(r);
	t->sentence = trace_text(r, F(notice, sentence));
}

void model_read_host_lack(struct model *m, struct process *p, const struct trace_record *r)
{
	struct host_lacking *l = ARRAY_ADD(m->lacks);

	(void)p;
	if (!l)
		return;
	l->host = trace_text(r, F(host_lack, host));
	l->version = trace_text(r, F(host_lack, host_version));
	l->missing = trace_text(r, F(host_lack, missing));
	l->reason = trace_text(r, F(host_lack, reason));
	l->lacks = trace_text(r, F(host_lack, lacks));
	l->helps = trace_text(r, F(host_lack, helps));
	l->jit_hosts = trace_text(r, F(host_lack, jit_hosts));
}

void model_read_loss(struct model *m, struct process *p, const struct trace_record *r)
{
	(void)p;
	m->lost[trace_loss_reason(r)] += trace_u64(r, F(loss, count)); /* a trace may have several LOSS records of one reason */
}

/* Names the events of threads that were preempted or are in the run queue, if the trace has them, and sets their units. If it has preempted
 * threads, also sets the unit of waiting ones (MODEL_EVENT_LEAVING). Samples of these events weigh as many ns as the state lasted. */
static void settle_switches(struct model *m)
{
	uint32_t leaving = MODEL_NO_EVENT, preempted = MODEL_NO_EVENT, woken = MODEL_NO_EVENT;

	for (uint32_t i = 0; i < m->nr_events; i++) {
		if (strcmp(m->event[i].name, TRACE_EVENT_WOKEN) == 0)
			woken = i;
		else if (m->event[i].is_switch)
			preempted = i;
		else if (strcmp(m->event[i].name, MODEL_EVENT_LEAVING) == 0)
			leaving = i;
	}
	m->leaving = m->preempted = m->run_queue = MODEL_NO_EVENT;
	if (woken != MODEL_NO_EVENT) {
		model_set_text(&m->event[woken].name, strdup("run queue"));
		set_unit(&m->event[woken], strdup(weight_units[WEIGHT_NS_IN_RUN_QUEUE]));
	}
	if (preempted == MODEL_NO_EVENT)
		return;
	model_set_text(&m->event[preempted].name, strdup("preempted"));
	set_unit(&m->event[preempted], strdup(weight_units[WEIGHT_NS_PREEMPTED]));
	if (leaving == MODEL_NO_EVENT)
		return;
	set_unit(&m->event[leaving], strdup(weight_units[WEIGHT_NS_WAITING]));
	m->event[leaving].counted = 0; /* the counter counted switches, and the weights are ns now */
	m->leaving = leaving;
	m->run_queue = woken;
	m->preempted = preempted;
}

/* Completes the events.  The recorder numbers them, and numbers may be missing. */
int model_settle_events(struct model *m)
{
	for (uint32_t i = 0; i < m->nr_events; i++) {
		struct model_event *e = &m->event[i];

		if (!e->name)
			e->name = strdup("");
		if (!e->unit)
			set_unit(e, strdup(""));
		if (!e->scope)
			e->scope = strdup("");
		if (!e->name || !e->unit || !e->scope)
			return -ENOMEM;
	}
	counts_settle(m);
	settle_switches(m);
	return 0;
}

void recording_fini(struct model *m)
{
	for (uint32_t i = 0; i < sizeof(m->event) / sizeof(m->event[0]); i++) {
		free(m->event[i].name);
		free(m->event[i].unit);
		free(m->event[i].scope);
		counts_free(&m->event[i]);
	}
	for (uint32_t i = 0; i < m->notices.nr; i++)
		free(m->notices.at[i].sentence);
	free(m->notices.at);
	for (uint32_t i = 0; i < m->lacks.nr; i++) {
		free(m->lacks.at[i].host);
		free(m->lacks.at[i].version);
		free(m->lacks.at[i].missing);
		free(m->lacks.at[i].reason);
		free(m->lacks.at[i].lacks);
		free(m->lacks.at[i].helps);
		free(m->lacks.at[i].jit_hosts);
	}
	free(m->lacks.at);
	free(m->tool);
	free(m->host_name);
	free(m->machine);
	free(m->kernel);
	free(m->working_folder);
	free(m->command);
}
