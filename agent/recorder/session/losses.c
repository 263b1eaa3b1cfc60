/* SPDX-License-Identifier: MIT */
/* What was lost, by reason and thread: counted at once, written with the next chunk, and said again where that could not be written. */
#include "agent/recorder/session/internal.h"

#include <string.h>

void session_lose(struct session *s, enum loss_reason reason, uint32_t pid, uint32_t tid, uint64_t count)
{
	int i;

	s->losses.total[reason] += count;
	for (i = 0; i < s->losses.nr_threads; i++)
		if (s->losses.thread[i].reason == reason && s->losses.thread[i].tid == tid && s->losses.thread[i].pid == pid)
			break;
	if (i == THREAD_LOSSES_MAX)
		return; /* written without its thread */
	if (i == s->losses.nr_threads)
		s->losses.thread[s->losses.nr_threads++] = (struct thread_loss){ reason, pid, tid, 0 };
	s->losses.thread[i].count += count;
}

static void write_loss(struct session *s, const struct thread_loss *l)
{
	TRACE_PUT(s->writer, loss, session_now_ns(), l->pid, l->tid, .reason = trace_string(trace_losses[l->reason].text),
		  .count = l->count);
	s->losses.written[l->reason] += l->count;
}

void session_write_losses(struct session *s)
{
	uint64_t before[NR_LOSSES];

	trace_writer_flush(s->writer, TRACE_CHUNK_RECORDS);
	s->losses.total[LOSS_WRITE_RECORDS] = trace_writer_lost(s->writer);
	memcpy(before, s->losses.written, sizeof(before));
	for (int i = 0; i < s->losses.nr_threads; i++)
		write_loss(s, &s->losses.thread[i]);
	s->losses.nr_threads = 0;
	for (int i = 0; i < NR_LOSSES; i++) /* and the others */
		if (s->losses.total[i] > s->losses.written[i])
			write_loss(s, &(struct thread_loss){ (enum loss_reason)i, 0, 0, s->losses.total[i] - s->losses.written[i] });
	if (trace_writer_flush(s->writer, TRACE_CHUNK_RECORDS)) /* said again when there is room */
		memcpy(s->losses.written, before, sizeof(before));
}
