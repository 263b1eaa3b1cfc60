/* SPDX-License-Identifier: MIT */
#include "agent/recorder/recording/internal.h"

#include "agent/recorder/engines/engines.h"
#include "agent/recorder/hotspot/jvms.h"
#include "agent/recorder/images/images.h"
#include "agent/recorder/jit_files/jit_files.h"
#include "agent/recorder/process/proc_file.h"
#include "jitreg/base/clock.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EARLY_NS 2000000000ull /* age from which on a live recording reads files of images; shorter ones are not slowed down */

static void free_recording(struct recording *r)
{
	recording_destroy_sources(r);
	for (uint32_t i = 0; i < r->nr_columns; i++)
		samples_destroy(r->samples[i]);
	hash_map_fini(&r->headless);
	hash_map_fini(&r->python_answers);
	free(r->output);
	free(r);
}

static void notice_for_source(void *recording, enum notice_kind kind, const char *format, ...)
{
	char text[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	recording_notice(recording, kind, "%s", text);
}

static void note_lack_for_source(void *recording, uint32_t pid, const struct host_lack *l)
{
	recording_note_lack(recording, (pid_t)pid, l);
}

static void count_loss_for_source(void *recording, enum loss_reason reason, uint64_t count)
{
	struct recording *r = recording;

	r->losses.total[reason] += count;
}

static void add_written_code(void *recording, uint32_t pid, uint64_t address, uint64_t bytes, uint64_t time_ns)
{
	jit_files_add_code(recording_source(recording, &jit_files_source), pid, address, bytes, time_ns);
}

static int open_trace(struct recording *r, struct diag *d)
{
	const struct trace_writer_options o = { .compression = r->options.uncompressed ? TRACE_PLAIN : TRACE_FAST,
		.whole = r->options.sources.past_end_ns != 0, .overwrite = r->options.overwrite, .keep_old = r->options.keep_old };

	return trace_writer_create(r->output, &o, &r->writer, d);
}

int recording_create(const struct recording_options *o, struct recording **out, struct diag *d)
{
	struct recording *r = calloc(1, sizeof(*r));
	int ret;

	if (!r)
		return diag_fail(d, ENOMEM, "out of memory for a recording");
	r->options = *o;
	r->begin_ns = clock_now_ns();
	r->has_outside = !o->sources.past_end_ns && !proc_is_first_namespace(PROC_NAMESPACE_PID);
	r->output = strdup(o->output);
	ret = r->output ? open_trace(r, d) : diag_fail(d, ENOMEM, "out of memory for a recording");
	r->for_sources = (struct name_source_recording){ &r->options.sources, r->writer, r, notice_for_source, note_lack_for_source,
							 count_loss_for_source, add_written_code };
	if (ret == 0 && recording_create_sources(r))
		ret = diag_fail(d, ENOMEM, "out of memory for a recording");
	if (ret) {
		recording_drop(r);
		return ret;
	}
	*out = r;
	return 0;
}

static int add_sample_column(struct recording *r, const struct perf_event_attr *attr, const struct clock_pairs *pairs)
{
	int ret;

	if (r->nr_columns == RECORDING_COLUMNS_MAX)
		return -E2BIG;
	ret = samples_create(r->nr_columns, attr, &r->samples[r->nr_columns]);
	if (ret)
		return ret;
	if (pairs)
		samples_convert_times(r->samples[r->nr_columns], pairs);
	r->attr[r->nr_columns++] = *attr;
	recording_keep_registers(r);
	return 0;
}

int recording_add_event(struct recording *r, const struct event *e, const struct recording_event *how)
{
	recording_write_event(r, r->nr_columns, e, how);
	r->switches = r->nr_columns + 1;
	return add_sample_column(r, &e->attr, how->pairs);
}

int recording_add_switches(struct recording *r, const char *scope, bool woken)
{
	static const struct event of[] = { { .name = TRACE_EVENT_SWITCH, .unit = WEIGHT_SWITCHES },
					   { .name = TRACE_EVENT_WOKEN, .unit = WEIGHT_TIMES } };
	/* A switch's sample (struct switch_sample) has the thread, the time, the processor, and the kind in the place of the period. */
	static const struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD, .sample_period = 1 };

	int ret = 0;

	r->switches = r->nr_columns;
	for (int i = 0; i < 1 + woken && ret == 0; i++) {
		recording_write_event(r, r->nr_columns, &of[i], &(struct recording_event){ .scope = scope });
		ret = add_sample_column(r, &attr, NULL);
	}
	return ret;
}

struct trace_writer *recording_writer(struct recording *r)
{
	return r->writer;
}

void recording_add_engine_process(struct recording *r, pid_t pid)
{
	engines_add_process(recording_source(r, &engines_source), pid);
}

bool recording_is_postmaster(const struct recording *r, pid_t pid)
{
	return engines_is_postmaster(recording_source(r, &engines_source), pid);
}

void recording_watch_jit_lists(struct recording *r, pid_t pid)
{
	TELL_SOURCES(r, watch, (uint32_t)pid);
}

bool recording_can_read_jvm(struct recording *r, pid_t pid)
{
	return jvms_can_read(recording_source(r, &jvms_source), (uint32_t)pid, recording_now_ns(r));
}

/* -------------------------------------------------------------------------------------------------- as long as it runs */

void recording_begin_drain(struct recording *r)
{
	TELL_SOURCES(r, begin_drain);
}

void recording_poll_jit_lists(struct recording *r)
{
	TELL_SOURCES(r, poll, recording_now_ns(r));
}

void recording_settle(struct recording *r)
{
	TELL_SOURCES(r, settle, recording_now_ns(r), false);
}

static void flush_recording_chunks(struct recording *r)
{
	recording_flush_samples(r);
	recording_write_losses(r);
	trace_writer_flush_all(r->writer);
}

void recording_flush(struct recording *r)
{
	uint64_t now_ns = recording_now_ns(r);

	flush_recording_chunks(r);
	if (!r->options.sources.past_end_ns && now_ns - r->begin_ns >= EARLY_NS)
		TELL_SOURCES(r, write_files, now_ns, false);
}

int recording_wait_ms(const struct recording *r, int most)
{
	for (const struct created_source *s = r->source; s < r->source + r->nr_sources; s++) {
		int ms = s->is->wait_ms ? s->is->wait_ms(s->state, recording_now_ns(r)) : 0;

		most = ms && ms < most ? ms : most;
	}
	return most;
}

struct recording_state recording_state(const struct recording *r)
{
	struct recording_state state = { .samples = r->nr_samples, .processes = r->nr_processes, .bytes = trace_writer_bytes(r->writer),
					 .records = trace_writer_records(r->writer), .begin_ns = r->begin_ns };

	memcpy(state.lost, r->losses.total, sizeof(state.lost));
	return state;
}

/* ------------------------------------------------------------------------------------------------------------ its end */

static void write_writer_failure(struct recording *r, int error)
{
	const bool disk_full = error == ENOSPC || error == EDQUOT;

	recording_notice(r, disk_full ? NOTICE_DISK_FULL : NOTICE_LOSS, TRACE_WRITE_FAILED "%s", strerror(error));
}

void recording_limit_end(struct recording *r, bool (*is_over)(void *context), void *context)
{
	images_set_limit(recording_source(r, &images_source), is_over, context);
}

int recording_end(struct recording *r, int wait_status, struct recording_state *out, struct diag *d)
{
	int error, ret;

	TELL_SOURCES(r, settle, recording_now_ns(r), true);
	TELL_SOURCES(r, end, recording_now_ns(r));
	flush_recording_chunks(r); /* before parts of files, which are less important if the disk becomes full */
	TELL_SOURCES(r, write_files, recording_now_ns(r), true);
	trace_writer_flush_all(r->writer);
	trace_writer_use_reserve(r->writer);
	if (trace_writer_error(r->writer))
		write_writer_failure(r, trace_writer_error(r->writer));
	recording_write_losses(r);
	trace_writer_flush_all(r->writer);
	recording_write_end(r, wait_status);
	trace_writer_flush_all(r->writer);
	*out = recording_state(r);
	error = trace_writer_error(r->writer);
	ret = trace_writer_end(r->writer, d);
	if (error)
		ret = diag_fail(d, error, "cannot write the whole trace '%s': %s; %s", r->output, strerror(error),
				r->options.sources.past_end_ns ? "nothing is left of it" : "the part that was written can be read");
	free_recording(r);
	return ret;
}

void recording_inherit(struct recording *r)
{
	trace_writer_inherit(r->writer);
}

void recording_leave(struct recording *r)
{
	trace_writer_leave(r->writer);
	free_recording(r);
}

void recording_drop(struct recording *r)
{
	if (!r)
		return;
	if (r->writer)
		trace_writer_drop(r->writer);
	free_recording(r);
}
