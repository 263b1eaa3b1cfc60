/* SPDX-License-Identifier: MIT */
/*
 * Records come in the order in which the recorder drained them, which is not the order of time across processors.  Process lifetimes are
 * therefore read in a first pass (processes.c), everything else in a second, and all that depends on time has time stamps.
 */
#include "analyzer/model/model.h"

#include "analyzer/model/counts.h"
#include "analyzer/model/memory.h"
#include "analyzer/model/processes.h"
#include "analyzer/model/read.h"
#include "analyzer/model/shared_code.h"
#include "analyzer/symbols/java_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ANCESTORS_MAX 64 /* maximum number of parents, by fork or exec, that are asked in turn */

/* ------------------------------------------------------------------------------------------------------------- records */

static void read_kernel_functions(struct model *m, struct process *p, const struct trace_record *r)
{
	(void)p;
	kernel_functions_read(&m->kernel_functions, r);
}

static void read_comm(struct model *m, struct process *p, const struct trace_record *r)
{
	threads_add_name(m, model_get_thread(m, p, r->tid), r->time_ns, trace_text(r, F(comm, comm)), false);
}

static void read_thread_name(struct model *m, struct process *p, const struct trace_record *r)
{
	threads_add_name(m, model_get_thread(m, p, r->tid), r->time_ns, trace_text(r, F(thread_name, name)), true);
}

static void read_guest_record(struct model *m, struct process *p, const struct trace_record *r)
{
	(void)m;
	(void)r;
	p->has_guest = true;
}

static void read_hello_record(struct model *m, struct process *p, const struct trace_record *r)
{
	(void)m;
	p->header_version = (uint32_t)trace_u64(r, F(hello, version));
}

#define HOST_OPTIONS_BYTES 512 /* room for each text of a HOST_OPTION once; what is beyond is left out */

bool process_has_option(const struct process *p, const char *option, size_t bytes)
{
	for (const char *at = p->host_options; at && (at = strchr(at, ' ')); at++)
		if (strncmp(at + 1, option, bytes) == 0 && (at[1 + bytes] == ' ' || !at[1 + bytes]))
			return true;
	return false;
}

static void read_host_option(struct model *m, struct process *p, const struct trace_record *r)
{
	const struct trace_value *v = F(host_option, option) < r->nr_values ? &r->values[F(host_option, option)] : NULL;
	size_t used = p->host_options ? strlen(p->host_options) : 0;
	char *bigger;

	(void)m;
	if (!v || v->kind != TRACE_TEXT || used + v->bytes + 2 > HOST_OPTIONS_BYTES || process_has_option(p, v->p, v->bytes))
		return;
	bigger = realloc(p->host_options, used + v->bytes + 2);
	if (!bigger)
		return;
	p->host_options = bigger;
	bigger[used] = ' ';
	memcpy(bigger + used + 1, v->p, v->bytes);
	bigger[used + 1 + v->bytes] = 0;
}

static void read_command_line(struct model *m, struct process *p, const struct trace_record *r)
{
	const struct trace_value *v = F(command_line, text) < r->nr_values ? &r->values[F(command_line, text)] : NULL;

	(void)m;
	if (v && v->kind == TRACE_TEXT && v->bytes <= COMMAND_LINE_BYTES)
		model_set_text(&p->command_line, trace_text(r, F(command_line, text)));
}

static void read_plan_code(struct model *m, struct process *p, const struct trace_record *r)
{
	plan_codes_read(&m->plan_codes, p->number, r);
}

static void read_service(struct model *m, struct process *p, const struct trace_record *r)
{
	(void)m;
	model_set_text(&p->service, trace_text(r, F(service, name)));
}

const char *process_program(const struct process *p)
{
	return p->executable && *p->executable ? p->executable : p->comm ? p->comm : "";
}

const char *process_service(const struct process *p)
{
	for (int i = 0; p && i < ANCESTORS_MAX; i++, p = p->parent ? p->parent : p->executed_by)
		if (p->service)
			return p->service;
	return "";
}

static void read_fork(struct model *m, struct process *p, const struct trace_record *r)
{
	p->nr_tasks++;
	thread_counts_read_beginning(m, r);
}

/* These are the readers by record id.  Lifetimes are read from PROCESS, FORK and COMM records before (processes.c). */
#define IDS 256u
static const struct {
	model_read_record *read;
	bool of_trace; /* the reader needs no process, so it is also called for records without a PID, with NULL as the process */
} kinds[IDS] = {
	[TRACE_HEADER] = { model_read_header, true },
	[TRACE_EVENT] = { model_read_event, true },
	[TRACE_NOTICE] = { model_read_notice, true },
	[TRACE_HOST_LACK] = { model_read_host_lack, true },
	[TRACE_LOSS] = { model_read_loss, true },
	[TRACE_COUNT] = { model_read_count, true },
	[TRACE_THREAD_COUNT] = { model_read_thread_count, true },
	[TRACE_IMAGE_FILE] = { model_read_image_file, true },
	[TRACE_IMAGE_CODE] = { model_read_image_code, true },
	[TRACE_KERNEL_FUNCTIONS] = { read_kernel_functions, true },
	[TRACE_SOURCE_LINES] = { model_read_source_lines, true },
	[TRACE_END] = { model_read_end, true },
	[TRACE_COMM] = { read_comm, false },
	[TRACE_THREAD_NAME] = { read_thread_name, false },
	[TRACE_FORK] = { read_fork, false },
	[TRACE_CODE_BYTES] = { model_read_code_bytes, false },
	[TRACE_INTERPRETER] = { model_read_interpreter, false },
	[TRACE_GUEST] = { read_guest_record, false },
	[TRACE_HOST_OPTION] = { read_host_option, false },
	[TRACE_COMMAND_LINE] = { read_command_line, false },
	[TRACE_PLAN_CODE] = { read_plan_code, false },
	[TRACE_SERVICE] = { read_service, false },
	[TRACE_MMAP] = { model_read_mmap, false },
	[JITREG_IMAGE] = { model_read_image, false },
	[JITREG_IMAGE_UNLOAD] = { model_read_image_unload, false },
	[JITREG_LOAD] = { model_read_load, false },
	[JITREG_MOVE] = { model_read_move, false },
	[JITREG_REGION] = { model_read_region, false },
	[JITREG_CODE_UNLOAD] = { model_read_code_unload, false },
	[JITREG_DEBUG_INFO] = { model_read_debug_info, false },
	[JITREG_INLINES] = { model_read_inlines, false },
	[JITREG_UNWINDING_INFO] = { model_read_unwinding_info, false },
	[JITREG_CODE_MAP] = { model_read_code_map, false },
	[JITREG_EH_FRAME] = { model_read_eh_frame, false },
	[JITREG_LEVEL] = { model_read_level, false },
	[JITREG_COMPONENT] = { model_read_component, false },
	[JITREG_LINK] = { model_read_link, false },
	[JITREG_UNLINK] = { model_read_link, false },
	[JITREG_EDGE] = { model_read_edge, false },
	[JITREG_COUNTER] = { model_read_counter, false },
	[JITREG_TAG] = { model_read_tag, false },
	[JITREG_SOURCE] = { model_read_source, false },
	[JITREG_MEMORY] = { memory_read_named, false },
	[JITREG_MARK] = { model_read_mark, false },
	[JITREG_OBJECT] = { model_read_object, false },
	[JITREG_OBJECT_END] = { model_read_object_end, false },
	[JITREG_OBJECT_STEPS] = { model_read_object_steps, false },
	[JITREG_STEP_WORD] = { model_read_step_word, false },
	[JITREG_COUNTER_BLOCK] = { model_read_counter_block, false },
	[JITREG_COUNTER_VALUES] = { model_read_counter_values, false },
	[JITREG_FLOW] = { model_read_flow, false },
	[JITREG_SCOPE] = { model_read_scope, false },
	[JITREG_HELLO] = { read_hello_record, false },
};

/* Time stamps are of CLOCK_MONOTONIC.  A time in the machine's first second, or more than a month after the start of the recording, is
 * taken to be of another clock.  That can be told only if the machine had run for a minute. */
#define MINUTE_NS 60000000000ull
#define MONTH_NS (30ull * 24 * 60 * MINUTE_NS)

static bool time_is_of_other_clock(const struct model *m, uint64_t time_ns)
{
	if (m->begin_ns < MINUTE_NS || time_ns == JITREG_TIME_BEFORE)
		return false;
	return time_ns < MINUTE_NS / 60 || time_ns > m->begin_ns + MONTH_NS;
}

/* Records of process 0 are of none, but for those by which a recorder describes processes outside of its PID namespace. */
static bool is_of_process(const struct model *m, const struct trace_record *r)
{
	return r->pid || (m->has_outside && (r->id == TRACE_PROCESS || r->id == TRACE_MMAP));
}

static void dispatch_trace_record(struct model *m, const struct trace_record *r)
{
	/* Code and data from before the agent belong to the program that runs when they are reported, whatever the process executed
	 * earlier. */
	uint64_t time_ns = r->time_ns == JITREG_TIME_BEFORE ? m->read_ns : r->time_ns;
	struct process *p;

	m->has_outside |= !r->pid && r->id == TRACE_PROCESS;
	p = is_of_process(m, r) ? model_get_process(m, r->pid, time_ns) : NULL;
	m->read_ns = time_ns;
	if (p && r->id < TRACE_HEADER && time_is_of_other_clock(m, r->time_ns))
		model_fault(m, FAULT_TIME_OTHER_CLOCK, p, r->time_ns, r->id, 0, NULL);
	if (p && r->id < MODEL_RECORD_IDS)
		m->nr_records[r->id]++;
	if (r->id < IDS && kinds[r->id].read && (p || kinds[r->id].of_trace))
		kinds[r->id].read(m, p, r);
}

/* Checks whether a record has bytes of code.  They stay in the trace, where code_bytes_read() finds them. */
static bool record_has_code_bytes(const struct trace_record *r)
{
	size_t nr = 0;

	if (r->id == JITREG_LOAD || r->id == TRACE_CODE_BYTES)
		trace_bytes(r, r->id == JITREG_LOAD ? F(load, code) : F(code_bytes, code), &nr);
	return nr > 0;
}

/* Gives forked processes without a known program that of their parent, which may have become known after the fork. */
static void settle_executables(struct model *m)
{
	for (uint32_t i = 0; i < m->processes.nr; i++) {
		struct process *p = m->numbered.at[i];

		if (p->parent && !*p->executable)
			model_set_text(&p->executable, strdup(p->parent->executable));
	}
}

static bool settle_java_names(struct model *m)
{
	struct java_names names = { 0 };
	bool ok = true;

	for (uint32_t i = 0; ok && i < m->codes.nr; i++) {
		struct code *c = m->codes.at[i];

		if (c->kind != CODE_LOAD)
			continue;
		ok = java_names_add(&names, &c->name, c->process);
		for (size_t n = 0; ok && n < c->nr_inlines; n++)
			ok = java_names_add(&names, &c->inlines[n].function, c->process);
	}
	return java_names_settle(&names) && ok;
}

/* Finds the SOURCE text for each PLAN_CODE record whose functions' lines are components: the one with the same level and first
 * component. */
static void settle_plan_codes(struct model *m)
{
	struct plan_codes *p = &m->plan_codes;
	struct hash_map source = { 0 };

	for (uint32_t i = 0; p->codes.nr && i < m->sources.nr; i++)
		if (m->sources.at[i].level < LEVELS_MAX)
			hash_map_set(&source, m->dictionary.level_id[m->sources.at[i].level], m->sources.at[i].first_component, i + 1);
	for (uint32_t i = 0; i < p->codes.nr; i++) {
		struct plan_code *c = &p->codes.at[i];

		c->source = c->nr_lines ? hash_map_find(&source, c->lines_level, c->lines_first) : 0;
	}
	hash_map_fini(&source);
}

static int settle_model(struct model *m)
{
	settle_executables(m);
	if (model_settle_events(m) || threads_settle(m) || !settle_java_names(m))
		return -ENOMEM;
	model_settle_images(m);
	model_settle_code_bytes(m);
	if (model_settle_sources(m))
		return -ENOMEM;
	settle_plan_codes(m);
	for (uint32_t i = 0; i < m->processes.nr; i++)
		model_settle_tags(m->processes.at[i]);
	if (model_settle_objects(m))
		return -ENOMEM;
	host_levels_settle(m);
	dictionary_rank_levels(&m->dictionary);
	model_settle_marks(m);
	model_settle_scopes(m);
	for (uint32_t i = 0; i < m->processes.nr; i++)
		if (code_map_index(&m->processes.at[i]->code) || code_map_index(&m->processes.at[i]->frames) ||
		    code_map_index(&m->processes.at[i]->guest_regions) || code_map_index(&m->processes.at[i]->regions) ||
		    code_map_index(&m->processes.at[i]->memory) || code_map_index(&m->processes.at[i]->mapped))
			return -ENOMEM;
	model_settle_regions(m);
	if (!shared_images_settle(m))
		return -ENOMEM;
	return shared_code_settle(m);
}

int model_create(struct trace_reader *t, struct model **out, struct diag *d)
{
	struct model *m = calloc(1, sizeof(*m));
	struct lifetimes lifetimes = { 0 };
	struct trace_record r;
	uint64_t steps;
	int ret = 0;

	if (!m || memory_init(m) || dictionary_init(&m->dictionary)) {
		if (m)
			memory_fini(m);
		free(m);
		return diag_fail(d, ENOMEM, "out of memory for the trace");
	}
	m->reader = t;
	trace_keep_bodies(t);
	trace_rewind(t);
	trace_select_chunks(t, 1u << TRACE_CHUNK_RECORDS);
	trace_select_ids(t, lifetimes_ids, LIFETIMES_NR_IDS);
	while (ret == 0 && trace_next(t, &r) == 1)
		ret = lifetimes_add(&lifetimes, &r);
	lifetimes_apply_to_model(&lifetimes, m);
	trace_rewind(t);
	trace_select_chunks(t, ~(1u << TRACE_CHUNK_SAMPLES));
	trace_select_ids(t, NULL, 0);
	trace_release_left_bodies(t);
	while (ret == 0 && trace_next(t, &r) == 1) {
		m->place = trace_get_place(t);
		dispatch_trace_record(m, &r);
		steps = m->dictionary.steps + m->objects.steps + m->plan_codes.steps;
		if (steps && !trace_spend_budget(t, steps))
			break;
		m->dictionary.steps = m->objects.steps = m->plan_codes.steps = 0;
		if (record_has_code_bytes(&r))
			trace_hold_current_body(t);
	}
	ret = ret ? ret : trace_check_budget(t, d);
	if (ret == 0) {
		kernel_functions_settle(&m->kernel_functions);
		ret = settle_model(m);
	}
	/* This follows the last record, because its faults depend on the last LOAD of each process, and on the end of the recording. */
	model_free_waiting(m);
	m->reader = NULL;
	if (ret == 0)
		ret = trace_check_budget(t, d);
	if (ret == -E2BIG) {
		model_destroy(m);
		return ret;
	}
	if (ret) {
		model_destroy(m);
		return diag_fail(d, -ret, "out of memory for the trace's code objects");
	}
	*out = m;
	return 0;
}

bool model_has_no_command(const struct model *m)
{
	return !m->command || !*m->command;
}

uint64_t model_count_lost(const struct model *m, enum loss_class of)
{
	uint64_t lost = 0;

	for (int i = 0; i < NR_LOSSES; i++)
		if (trace_losses[i].of == of)
			lost += m->lost[i];
	return lost;
}

static void faults_fini(struct fault faults[NR_FAULTS])
{
	for (int i = 0; i < NR_FAULTS; i++)
		free(faults[i].text);
}

void model_destroy(struct model *m)
{
	processes_fini(m);
	threads_fini(&m->threads);
	files_fini(&m->files);
	codes_fini(&m->codes);
	shared_codes_fini(&m->shared_codes);
	sources_fini(&m->sources);
	scopes_fini(m);
	eh_frames_fini(m);
	memory_fini(m);
	marks_fini(&m->marks);
	thread_counts_fini(&m->thread_counts);
	recording_fini(m);
	kernel_functions_fini(&m->kernel_functions);
	kept_lines_fini(&m->kept_lines);
	dictionary_fini(&m->dictionary);
	plan_codes_fini(&m->plan_codes);
	objects_fini(&m->objects);
	callers_fini(&m->callers);
	flow_records_fini(&m->flows);
	faults_fini(m->fault);
	free(m);
}
