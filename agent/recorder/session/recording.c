/* SPDX-License-Identifier: MIT */
/* One trace: from the choice of its event to its END.  A dormant session has several, one after another, or none. */
#include "agent/recorder/session/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a recording has, and the session has not. */
static void release(struct session *s)
{
	for (size_t i = 0; i < s->rings.nr; i++)
		ring_close(&s->rings.ring[i]);
	s->rings.nr = s->rings.nr_polled = 0;
	ring_spill_destroy(s->rings.spill);
	s->rings.spill = NULL;
	session_close_attached(s);
	session_release_signal_events(s);
	gdb_jit_poll_destroy(s->gdb_jit);
	s->gdb_jit = NULL;
	engines_destroy(s->engines);
	s->engines = NULL;
	if (s->images)
		images_destroy(s->images);
	s->images = NULL;
	jit_files_destroy(s->jit_files);
	s->jit_files = NULL;
	kernel_names_destroy(s->kernel_names);
	s->kernel_names = NULL;
	for (int i = 0; i <= EVENTS_MAX; i++) {
		samples_destroy(s->samples[i]);
		s->samples[i] = NULL;
	}
	hash_map_fini(&s->ids);
	free(s->rings.ring);
	s->rings.ring = NULL;
	s->rings.capacity = 0;
	s->paused = s->noticed.uncounted = s->noticed.descriptors = s->noticed.version = s->noticed.rate = s->noticed.log = false;
}

static void on_notice(void *session, const char *sentence)
{
	session_notice(session, "host", "%s", sentence);
}

static const char batches[] = "PEBS in batches: the processor collects many samples before each interrupt, because all are of user code, "
			      "with a fixed period and without stacks or call chains";

int session_begin_recording(struct session *s, struct diag *d)
{
	const struct session_options *o = &s->options;
	struct event_options wanted = o->event;
	char shorter[256] = "";
	int ret;

	s->fallbacks.nr = 0;
	s->nr_samples = s->nr_processes = 0;
	s->begin_ns = s->last_flush_ns = session_now_ns();
	memset(s->newer, 0, sizeof(s->newer));
	wanted.stack_bytes = o->sampler == SAMPLER_AUTO ? session_stack_bytes(s, shorter, sizeof(shorter)) :
							       session_handler_stack_bytes(s);
	ret = o->sampler == SAMPLER_TIMER ? 0 : events_choose(&wanted, &s->events, session_add_fallback, s, d);
	ret = session_choose_sampler(s, -ret, d);
	if (ret == 0) {
		session_prepare_events(s);
		s->kernel_names = kernel_names_create();
		ret = images_create(wanted.stack_bytes > 0, &s->images) || images_keep_code(s->images, o->image_code_bytes) ||
		      jit_files_create(&s->jit_files) || !s->kernel_names ||
		      record_layout(&s->events.event[0].attr, &s->layout) ? -ENOMEM : 0;
		for (int i = 0; i < s->nr_columns && ret == 0; i++)
			ret = samples_create((uint32_t)i, &s->events.event[i].attr, &s->samples[i]);
		if (ret) {
			diag_fail(d, -ret, "out of memory for samples");
		} else {
			session_keep_registers(s);
			session_begin_clock(s);
		}
	}
	/* last, because it replaces an older trace */
	if (ret == 0)
		ret = trace_writer_open(o->output, !o->uncompressed, &s->writer, d);
	if (ret == 0) {
		s->engines = engines_create(s->writer, on_notice, s, wanted.stack_bytes);
		if (!s->engines)
			ret = diag_fail(d, ENOMEM, "out of memory for samples");
	}
	if (ret) {
		session_drop_recording(s);
		return ret;
	}
	session_write_header(s);
	for (int i = 0; i < s->nr_columns; i++)
		session_write_event(s, i);
	for (int i = 0; i < s->fallbacks.nr; i++)
		session_notice(s, "ladder", "%s", s->fallbacks.sentence[i]);
	if (s->clock.used)
		session_note(s, "ladder", batches, strlen(batches));
	if (*shorter) /* who looks at stacks reads it; who runs a program has asked for none */
		session_note(s, "ladder", shorter, strlen(shorter));
	trace_writer_flush_all(s->writer); /* who reads the file finds these first */
	return 0;
}

int session_end_recording(struct session *s, int wait_status, struct diag *d)
{
	const char *nameless;
	uint64_t bytes;
	int error;

	session_switch_counters(s, false);
	session_release_signal_events(s);
	for (size_t i = 0; i < s->rings.nr; i++)
		session_end_ring(s, &s->rings.ring[i]);
	s->rings.nr = 0;
	session_drain(s, true);
	if (s->options.dormant) /* its guests go on */
		session_write_counters(s, 0);
	if (s->gdb_jit && gdb_jit_poll_bad(s->gdb_jit))
		session_notice(s, "loss", "%llu code objects of the GDB JIT interface could not be read (not ELF, or already "
			       "freed); `tailor run` records them through the agent", (unsigned long long)gdb_jit_poll_bad(s->gdb_jit));
	if (s->gdb_jit && gdb_jit_poll_cut(s->gdb_jit))
		session_notice(s, "loss", "code registered for debuggers not read completely in %llu processes (over 1,000,000 entries, "
			       "2 GiB of objects, or 512 MiB of data to search); `tailor run` records it through the agent",
			       (unsigned long long)gdb_jit_poll_cut(s->gdb_jit));
	engines_end(s->engines, session_now_ns());
	session_unheard_write(s);
	nameless = kernel_names_write(s->kernel_names, NULL, s->writer, session_now_ns());
	if (nameless)
		session_notice(s, "ladder", "%s", nameless);
	images_write(s->images, s->writer, session_now_ns());
	trace_writer_flush_all(s->writer);
	trace_writer_use_reserve(s->writer);
	session_write_losses(s);
	trace_writer_flush_all(s->writer);
	session_write_end(s, wait_status);
	trace_writer_flush_all(s->writer);
	bytes = trace_writer_bytes(s->writer);
	error = -trace_writer_close(s->writer);
	s->writer = NULL;
	session_put_result(s, bytes);
	if (error)
		diag_fail(d, error, "cannot write the whole trace '%s': %s; the part that was written can be read", s->options.output,
			  strerror(error));
	release(s);
	/* what is lost from now on is the next recording's */
	memset(s->losses.total, 0, sizeof(s->losses.total));
	memset(s->losses.written, 0, sizeof(s->losses.written));
	return -error;
}

void session_drop_recording(struct session *s)
{
	if (s->writer) {
		bool remove = trace_writer_is_file(s->writer);

		trace_writer_close(s->writer);
		s->writer = NULL;
		if (remove)
			unlink(s->options.output);
	}
	release(s);
}
