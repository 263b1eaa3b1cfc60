/* SPDX-License-Identifier: MIT */
/* Counts losses by reason and thread. They are written at each flush. If that fails, they are written again at a later one, without their
 * threads. */
#include "agent/recorder/recording/internal.h"

#include <string.h>

void recording_count_loss(struct recording *r, enum loss_reason reason, uint32_t pid, uint32_t tid, uint64_t count)
{
	struct losses *l = &r->losses;
	int i;

	l->total[reason] += count;
	if (!pid && !tid)
		return; /* without a thread, only the total counts */
	for (i = 0; i < l->nr_threads; i++)
		if (l->thread[i].reason == reason && l->thread[i].tid == tid && l->thread[i].pid == pid)
			break;
	if (i == THREAD_LOSSES_MAX)
		return; /* the array is full, so this loss is written without its thread */
	if (i == l->nr_threads)
		l->thread[l->nr_threads++] = (struct thread_loss){ reason, pid, tid, 0 };
	l->thread[i].count += count;
}

static void write_loss_record(struct recording *r, const struct thread_loss *l)
{
	TRACE_PUT(r->writer, loss, recording_now_ns(r), l->pid, l->tid, .reason = trace_string(trace_losses[l->reason].text),
		  .count = l->count);
	r->losses.written[l->reason] += l->count;
}

void recording_write_losses(struct recording *r)
{
	struct losses *l = &r->losses;
	uint64_t before[NR_LOSSES];

	trace_writer_flush(r->writer, TRACE_CHUNK_RECORDS);
	l->total[LOSS_WRITE_RECORDS] = trace_writer_nr_lost(r->writer);
	memcpy(before, l->written, sizeof(before));
	for (int i = 0; i < l->nr_threads; i++)
		write_loss_record(r, &l->thread[i]);
	l->nr_threads = 0;
	for (int i = 0; i < NR_LOSSES; i++) /* the rest of each total are losses without a known thread */
		if (l->total[i] > l->written[i])
			write_loss_record(r, &(struct thread_loss){ (enum loss_reason)i, 0, 0, l->total[i] - l->written[i] });
	if (trace_writer_flush(r->writer, TRACE_CHUNK_RECORDS)) /* the next flush writes the losses again */
		memcpy(l->written, before, sizeof(before));
}
