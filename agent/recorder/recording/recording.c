/* SPDX-License-Identifier: MIT */
#include "agent/recorder/recording/internal.h"

#include "jitreg/base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LUAJIT_MS 10 /* most time between two looks at LuaJIT's traces; one that is freed between them is never seen */
#define EARLY_NS 2000000000ull /* time from which on files of images are read while the host runs; shorter ones are not slowed down */

static void free_recording(struct recording *r)
{
	gdb_jit_poll_destroy(r->gdb_jit);
	luajit_destroy(r->luajit);
	engines_destroy(r->engines);
	jvms_destroy(r->jvms);
	if (r->images)
		images_destroy(r->images);
	jit_files_destroy(r->jit_files);
	kernel_names_destroy(r->kernel_names);
	for (uint32_t i = 0; i < r->nr_columns; i++)
		samples_destroy(r->samples[i]);
	hash_map_fini(&r->headless);
	free(r->output);
	free(r);
}

static void write_engine_notice(void *recording, const char *sentence)
{
	recording_notice(recording, NOTICE_HOST, "%s", sentence);
}

static void note_engine_lack(void *recording, pid_t pid, const struct host_lack *l)
{
	recording_note_lack(recording, pid, l);
}

static void note_code_of_jvm(void *recording, uint32_t pid, uint64_t address, uint64_t bytes, uint64_t time_ns)
{
	struct recording *r = recording;

	jit_files_add_code(r->jit_files, pid, address, bytes, time_ns);
}

static int create_recording_parts(struct recording *r)
{
	const struct recording_options *o = &r->options;

	r->output = strdup(o->output);
	r->kernel_names = kernel_names_create();
	if (!r->output || !r->kernel_names || images_create(o->stack_bytes > 0, &r->images) ||
	    images_keep_code(r->images, o->image_code_bytes) || jit_files_create(&r->jit_files))
		return -ENOMEM;
	images_fetch(r->images, o->debuginfod);
	if (o->past_end_ns) {
		images_set_past(r->images, o->past_same_kernel);
		jit_files_set_past(r->jit_files, o->past_end_ns, o->past_end_s, o->past_other_clock);
	}
	return 0;
}

static int open_trace(struct recording *r, struct diag *d)
{
	const struct trace_writer_options o = { .compression = r->options.uncompressed ? TRACE_PLAIN : TRACE_FAST,
		.whole = r->options.past_end_ns != 0, .overwrite = r->options.overwrite, .keep_old = r->options.keep_old };

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
	ret = create_recording_parts(r) ? diag_fail(d, ENOMEM, "out of memory for a recording") : open_trace(r, d);
	if (ret == 0 && !o->past_end_ns) {
		r->engines = engines_create(r->writer, &(struct engines_says){ write_engine_notice, note_engine_lack, r }, o->stack_bytes);
		r->jvms = jvms_create(r->writer, note_code_of_jvm, r);
		if (!r->engines || !r->jvms)
			ret = diag_fail(d, ENOMEM, "out of memory for a recording");
	}
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
	static const struct event of[] = { { .name = TRACE_EVENT_SWITCH, .unit = "switches" },
					   { .name = TRACE_EVENT_WOKEN, .unit = "times" } };
	/* parts of a switch's sample, struct switch_sample: thread, time, processor and kind, which is in the place of the period */
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
	engines_add_process(r->engines, pid);
}

bool recording_is_postmaster(const struct recording *r, pid_t pid)
{
	return engines_is_postmaster(r->engines, pid);
}

void recording_watch_jit_lists(struct recording *r, pid_t pid)
{
	int ret = r->gdb_jit ? 0 : gdb_jit_poll_create(r->writer, &r->gdb_jit);

	if (ret == 0)
		ret = gdb_jit_poll_add_process(r->gdb_jit, pid);
	luajit_watch(&r->luajit, pid);
	if (ret == -EPERM)
		recording_notice(r, NOTICE_REFUSED, "GDB JIT interface of process %d unavailable (its memory cannot be read: "
				 "kernel.yama.ptrace_scope); run as root, or sysctl kernel.yama.ptrace_scope=0", (int)pid);
}

bool recording_can_read_jvm(struct recording *r, pid_t pid)
{
	return jvms_can_read(r->jvms, (uint32_t)pid, recording_now_ns(r));
}

/* -------------------------------------------------------------------------------------------------- as long as it runs */

void recording_begin_drain(struct recording *r)
{
	if (!r->options.past_end_ns)
		jit_files_look(r->jit_files);
}

void recording_poll_jit_lists(struct recording *r)
{
	if (r->gdb_jit)
		gdb_jit_poll_lists(r->gdb_jit, recording_now_ns(r));
	if (r->luajit)
		luajit_poll(r->luajit, r->writer, recording_now_ns(r));
}

static void settle_recording_parts(struct recording *r, bool last)
{
	struct jit_files_losses lost = { 0 };

	engines_poll_backends(r->engines, recording_now_ns(r));
	jvms_settle(r->jvms, recording_now_ns(r), last);
	if (last || !r->options.past_end_ns) /* in an import the files do not grow, so they are read once */
		jit_files_drain(r->jit_files, r->writer, last, &lost);
	r->losses.total[LOSS_FILES_BAD] += lost.bad;
	r->losses.total[LOSS_FILES_UNREAD] += lost.unread;
	images_settle(r->images);
}

void recording_settle(struct recording *r)
{
	settle_recording_parts(r, false);
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
	if (!r->options.past_end_ns && now_ns - r->begin_ns >= EARLY_NS)
		images_write_early(r->images, r->writer, now_ns);
}

int recording_wait_ms(const struct recording *r, int most)
{
	int engines_ms = engines_poll_interval_ms(r->engines);
	int lists_ms = r->gdb_jit ? gdb_jit_poll_wait_ms(r->gdb_jit, recording_now_ns(r)) : 0;

	if (lists_ms && lists_ms < most)
		most = lists_ms;
	if (r->luajit && most > LUAJIT_MS)
		most = LUAJIT_MS;
	return engines_ms && engines_ms < most ? engines_ms : most;
}

struct recording_state recording_state(const struct recording *r)
{
	struct recording_state state = { .samples = r->nr_samples, .processes = r->nr_processes, .bytes = trace_writer_bytes(r->writer),
					 .records = trace_writer_records(r->writer), .begin_ns = r->begin_ns };

	memcpy(state.lost, r->losses.total, sizeof(state.lost));
	return state;
}

/* ------------------------------------------------------------------------------------------------------------ its end */

static void write_jit_list_losses(struct recording *r)
{
	bool finished;

	if (!r->gdb_jit)
		return;
	finished = gdb_jit_poll_finish_walks(r->gdb_jit);
	if (gdb_jit_poll_nr_bad_entries(r->gdb_jit))
		recording_notice(r, NOTICE_LOSS,
				 "%llu code objects of the GDB JIT interface could not be read (not ELF, or already "
				 "freed); `tailor run` records them through the agent",
				 (unsigned long long)gdb_jit_poll_nr_bad_entries(r->gdb_jit));
	if (!finished)
		recording_notice(r, NOTICE_LOSS,
				 "code that was registered for debuggers before the recording not read completely: its lists "
				 "were too long for it; `tailor run` records it through the agent");
	if (gdb_jit_poll_nr_processes_cut(r->gdb_jit))
		recording_notice(r, NOTICE_LOSS,
				 "code registered for debuggers not read completely in %llu processes (over 1,000,000 "
				 "entries, 2 GiB of objects, or 512 MiB of data to search); `tailor run` records it through the agent",
				 (unsigned long long)gdb_jit_poll_nr_processes_cut(r->gdb_jit));
}

static void write_missing(struct recording *r, const struct images_missing *missing, const char *what)
{
	char others[48] = "";

	if (missing->nr > 1)
		snprintf(others, sizeof(others), " and %u more file%s", missing->nr - 1, missing->nr == 2 ? "" : "s");
	if (missing->nr)
		recording_notice(r, NOTICE_LADDER, "%s %s%s; perf's cache (~/.debug) does not have what was sampled; their functions have "
				 "no names", what, missing->first, others);
}

/* Writes notices on missing files of an import.  In a live recording, the records of the files have that. */
static void write_missing_of_the_past(struct recording *r)
{
	if (!r->options.past_end_ns)
		return;
	write_missing(r, images_gone(r->images), "cannot read");
	write_missing(r, images_replaced(r->images), "another build than was sampled lies at");
}

static void write_what_maps_lack(struct recording *r)
{
	uint64_t nr = jit_files_ambiguous(r->jit_files);

	if (nr)
		recording_notice(r, NOTICE_LOSS, "%llu names of perf maps came long after their code, for addresses that have another "
				 "name: a perf map has no times, so their samples have the other name; a jitdump file has times",
				 (unsigned long long)nr);
}

void recording_limit_end(struct recording *r, bool (*is_over)(void *context), void *context)
{
	images_set_limit(r->images, is_over, context);
}

static void write_left_out(struct recording *r)
{
	uint32_t nr = images_left_out(r->images);

	if (nr)
		recording_notice(r, NOTICE_LOSS, "names of %u file%s were left out: the recording had to end before they were read", nr,
				 nr == 1 ? "" : "s");
}

int recording_end(struct recording *r, int wait_status, struct recording_state *out, struct diag *d)
{
	const char *nameless;
	char others[512];
	int error, ret;

	settle_recording_parts(r, true);
	write_jit_list_losses(r);
	write_what_maps_lack(r);
	if (jit_files_of_others(r->jit_files, others, sizeof(others)))
		recording_notice(r, NOTICE_REFUSED, "%s", others);
	engines_end_plans(r->engines, recording_now_ns(r));
	nameless = kernel_names_write(r->kernel_names, r->options.past_names, r->writer, recording_now_ns(r));
	if (nameless)
		recording_notice(r, NOTICE_LADDER, "%s", nameless);
	if (jit_files_left_out(r->jit_files))
		recording_notice(r, NOTICE_REFUSED, "%u jitdump file%s left out: %s; record with `perf record -k mono`",
				 jit_files_left_out(r->jit_files), jit_files_left_out(r->jit_files) == 1 ? "" : "s",
				 r->options.past_other_clock);
	flush_recording_chunks(r); /* before symbols of images, which are less important if the disk becomes full */
	images_write(r->images, r->writer, recording_now_ns(r));
	if (images_fetch_problem(r->images))
		recording_notice(r, NOTICE_REFUSED, "%s", images_fetch_problem(r->images));
	write_left_out(r);
	write_missing_of_the_past(r);
	trace_writer_flush_all(r->writer);
	trace_writer_use_reserve(r->writer);
	if (trace_writer_error(r->writer))
		recording_notice(r, NOTICE_LOSS, TRACE_WRITE_FAILED "%s", strerror(trace_writer_error(r->writer)));
	recording_write_losses(r);
	trace_writer_flush_all(r->writer);
	recording_write_end(r, wait_status);
	trace_writer_flush_all(r->writer);
	*out = recording_state(r);
	error = trace_writer_error(r->writer);
	ret = trace_writer_end(r->writer, d);
	if (error)
		ret = diag_fail(d, error, "cannot write the whole trace '%s': %s; %s", r->output, strerror(error),
				r->options.past_end_ns ? "nothing is left of it" : "the part that was written can be read");
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
