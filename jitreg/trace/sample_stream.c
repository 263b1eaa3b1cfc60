/* SPDX-License-Identifier: MIT */
/*
 * Each chunk of samples is a job in a ring.  The calling thread finds chunks by their heads, which takes little time, and the other threads
 * check and decode them.  The caller then takes the jobs in the order of the file.  Instead of waiting for a job it does a waiting one
 * itself, so with one thread everything happens sequentially.  If the bytes of a chunk are bad, its length may be wrong too, and with it
 * the places of the following chunks, so their jobs are discarded and found again.
 */
#include "jitreg/trace/sample_stream.h"

#include "jitreg/trace/reader_internal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 64u
#define THREADS_BY_ITSELF 8u
#define WORTH_BYTES ((size_t)16 << 20) /* smaller traces are read in 0.1 s, and a second thread takes a tenth more CPU time */

struct job {
	enum { JOB_WAITS, JOB_RUNS, JOB_DONE } state;
	struct trace_chunk chunk;
	struct trace_damage before; /* damage that was found in front of this chunk, behind the one before */
	struct trace_reader reader; /* reader of this chunk alone */
	enum chunk_read read;
	bool begun;   /* begin_job_blocks() was called for this job */
	/* result of decoding the block: 1, 0 (no more blocks) or -errno; sample_stream_next() returns it unless is_old is set */
	int has;
	bool is_old;  /* sample_stream_next() has returned the block already, so the next one must be decoded first */
	struct sample_block block;
};

struct sample_stream {
	/* t: the reader of the caller, whose state is updated as chunks are taken; heads: a reader that finds the following chunks */
	struct trace_reader *t, heads;
	struct trace_damage behind;    /* damage that was found behind the last chunk of samples */
	bool all_found;
	struct job *job; /* ring of nr_jobs */
	uint64_t first, last; /* jobs [first, last) */
	unsigned nr_jobs, nr_threads;
	pthread_mutex_t lock; /* lock of the states of the jobs, first, last and stop */
	pthread_cond_t is_work, is_done;
	bool stop;
	pthread_t thread[THREADS_MAX];
};

static void add_damage(struct trace_damage *to, const struct trace_damage *d)
{
	if (d->bad_chunks && (!to->bad_chunks || d->first_byte < to->first_byte))
		to->first_byte = d->first_byte;
	to->bad_chunks += d->bad_chunks;
	to->skipped_bytes += d->skipped_bytes;
	to->cut_byte = d->cut_byte ? d->cut_byte : to->cut_byte;
}

static struct job *job_at(const struct sample_stream *s, uint64_t i)
{
	return &s->job[i % s->nr_jobs];
}

/* Decode the next SAMPLES record of the job's chunk.  Returns 1, 0 if there is none, or -EBADMSG or -ENOMEM. */
static int decode_next_block(struct job *j)
{
	struct trace_record r;
	int ret;

	while (trace_next(&j->reader, &r) == 1) {
		if (r.id != TRACE_SAMPLES)
			continue;
		ret = sample_block_decode(&r, &j->block);
		return ret ? ret : 1;
	}
	return 0;
}

static void read_job_chunk(struct job *j)
{
	j->read = trace_read_chunk(&j->reader, &j->chunk);
	j->has = j->read == CHUNK_READ ? decode_next_block(j) : 0;
}

/* Do a waiting job.  Returns false if there is none.  The caller holds the lock, which is released while the job is done. */
static bool run_waiting_job(struct sample_stream *s)
{
	for (uint64_t i = s->first; i < s->last; i++) {
		struct job *j = job_at(s, i);

		if (j->state != JOB_WAITS)
			continue;
		j->state = JOB_RUNS;
		pthread_mutex_unlock(&s->lock);
		read_job_chunk(j);
		pthread_mutex_lock(&s->lock);
		j->state = JOB_DONE;
		pthread_cond_broadcast(&s->is_done);
		return true;
	}
	return false;
}

static void *run_worker_thread(void *context)
{
	struct sample_stream *s = context;

	pthread_mutex_lock(&s->lock);
	while (!s->stop)
		if (!run_waiting_job(s))
			pthread_cond_wait(&s->is_work, &s->lock);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* Find chunks and make them jobs, until the ring is full or the file ends.  The caller holds the lock. */
static void queue_chunks_as_jobs(struct sample_stream *s)
{
	while (!s->all_found && s->last - s->first < s->nr_jobs) {
		struct job *j = job_at(s, s->last);

		s->heads.damage = (struct trace_damage){ 0 };
		if (!trace_find_chunk(&s->heads, &j->chunk)) {
			s->behind = s->heads.damage;
			s->all_found = true;
			return;
		}
		j->before = s->heads.damage;
		j->state = JOB_WAITS;
		j->begun = j->is_old = false;
		j->reader.at = j->reader.file_bytes = s->heads.at; /* the reader ends behind this chunk */
		j->reader.damage = (struct trace_damage){ 0 };
		j->reader.body_at = j->reader.body_bytes = 0;
		s->heads.at += sizeof(j->chunk) + j->chunk.stored_bytes;
		s->last++;
		pthread_cond_signal(&s->is_work);
	}
}

/* Discard all jobs behind the first one, whose chunk is bad, and continue to find chunks at the next magic number. The caller holds the
 * lock, which is released while jobs run. */
static void discard_jobs_behind_damage(struct sample_stream *s, const struct job *bad)
{
	uint64_t running;

	do { /* waiting jobs are marked as done, so that no thread begins them */
		running = 0;
		for (uint64_t i = s->first; i < s->last; i++) {
			struct job *j = job_at(s, i);

			if (j->state == JOB_WAITS)
				j->state = JOB_DONE;
			running += j->state == JOB_RUNS;
		}
		if (running)
			pthread_cond_wait(&s->is_done, &s->lock);
	} while (running);
	s->heads.at = bad->reader.at;
	s->heads.damage = (struct trace_damage){ 0 };
	trace_resync(&s->heads);
	add_damage(&s->t->damage, &s->heads.damage);
	s->last = s->first + 1;
	s->all_found = false;
}

/* Update the damage and the position of the caller's reader by the chunk of a job, before its first block is returned. */
static void begin_job_blocks(struct sample_stream *s, struct job *j)
{
	j->begun = true;
	add_damage(&s->t->damage, &j->before);
	s->t->at = j->reader.at;
	trace_release_read_pages(s->t);
	if (j->read == CHUNK_BAD) {
		discard_jobs_behind_damage(s, j);
		return;
	}
	s->t->at += sizeof(j->chunk) + j->chunk.stored_bytes;
	s->t->ended |= j->chunk.type == TRACE_CHUNK_END;
}

static int next_block_locked(struct sample_stream *s, struct sample_block **b)
{
	for (;;) {
		struct job *j;

		queue_chunks_as_jobs(s);
		if (s->first == s->last) {
			add_damage(&s->t->damage, &s->behind);
			s->behind = (struct trace_damage){ 0 };
			s->t->at = s->t->file_bytes;
			s->t->damage.truncated = !s->t->ended;
			return 0;
		}
		j = job_at(s, s->first);
		if (j->state != JOB_DONE) {
			if (!run_waiting_job(s))
				pthread_cond_wait(&s->is_done, &s->lock);
			continue;
		}
		if (!j->begun)
			begin_job_blocks(s, j);
		if (j->is_old) {
			pthread_mutex_unlock(&s->lock);
			j->has = decode_next_block(j);
			pthread_mutex_lock(&s->lock);
		}
		j->is_old = true;
		if (j->has) {
			*b = &j->block;
			return j->has;
		}
		add_damage(&s->t->damage, &j->reader.damage);
		s->first++;
	}
}

int sample_stream_next(struct sample_stream *s, struct sample_block **b)
{
	int ret;

	pthread_mutex_lock(&s->lock);
	ret = next_block_locked(s, b);
	pthread_mutex_unlock(&s->lock);
	return ret;
}

static unsigned choose_nr_threads(const struct trace_reader *t, unsigned threads)
{
	long processors;

	if (threads)
		return threads < THREADS_MAX ? threads : THREADS_MAX;
	if (t->file_bytes < WORTH_BYTES)
		return 1;
	processors = sysconf(_SC_NPROCESSORS_ONLN);
	return processors < 2 ? 1 : processors < (long)THREADS_BY_ITSELF ? (unsigned)processors : THREADS_BY_ITSELF;
}

int sample_stream_open(struct trace_reader *t, const struct sample_columns *unwanted, unsigned threads, struct sample_stream **out)
{
	struct sample_stream *s = calloc(1, sizeof(*s));
	sigset_t all, before;

	if (!s)
		return -ENOMEM;
	threads = choose_nr_threads(t, threads);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->is_work, NULL);
	pthread_cond_init(&s->is_done, NULL);
	trace_rewind(t);
	s->t = t;
	s->heads = (struct trace_reader){ .file = t->file, .file_bytes = t->file_bytes, .selected = 1u << TRACE_CHUNK_SAMPLES,
					 /* pages behind the caller's position are still needed by jobs, so only s->t releases pages */
					 .forgotten = SIZE_MAX };
	s->job = calloc(2 * threads, sizeof(*s->job));
	for (; s->job && s->nr_jobs < (threads == 1 ? 1 : 2 * threads); s->nr_jobs++) {
		struct job *j = &s->job[s->nr_jobs];

		j->reader = (struct trace_reader){ .file = t->file, .selected = 1u << TRACE_CHUNK_SAMPLES, .forgotten = SIZE_MAX,
						    .zstd = ZSTD_createDCtx() };
		j->block.unwanted = *unwanted;
		if (!j->reader.zstd) {
			s->nr_jobs++;
			sample_stream_close(s);
			return -ENOMEM;
		}
	}
	if (!s->job) {
		sample_stream_close(s);
		return -ENOMEM;
	}
	sigfillset(&all); /* workers handle no signals */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (s->nr_threads + 1 < threads && pthread_create(&s->thread[s->nr_threads], NULL, run_worker_thread, s) == 0)
		s->nr_threads++; /* fewer threads than wanted suffice */
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	*out = s;
	return 0;
}

void sample_stream_close(struct sample_stream *s)
{
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_broadcast(&s->is_work);
	pthread_mutex_unlock(&s->lock);
	for (unsigned i = 0; i < s->nr_threads; i++)
		pthread_join(s->thread[i], NULL);
	for (unsigned i = 0; i < s->nr_jobs; i++) {
		for (int n = 0; n <= TRACE_CHUNK_END; n++)
			s->t->stats.chunks[n] += s->job[i].reader.stats.chunks[n];
		s->t->stats.records += s->job[i].reader.stats.records;
		trace_free_bodies(&s->job[i].reader);
		sample_block_fini(&s->job[i].block);
	}
	pthread_cond_destroy(&s->is_done);
	pthread_cond_destroy(&s->is_work);
	pthread_mutex_destroy(&s->lock);
	free(s->job);
	free(s);
}
