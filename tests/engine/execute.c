/* SPDX-License-Identifier: MIT */
/* Morsel-driven execution (V. Leis et al., SIGMOD 2014): workers take morsels of a pipeline until none is left. */
#include "compare.h"
#include "count.h"
#include "engine.h"
#include "jitreg/jitreg.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MORSEL 16384

static struct worker workers[RUNTIME_THREADS_MAX];
static pthread_t threads[RUNTIME_THREADS_MAX];
static int nr_workers;
static bool compare_in_memory;

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t job; /* number of the current one */
	int busy;
	bool stop;
	const struct pipeline *pipeline;
	uint64_t rows, morsel;
	uint64_t next; /* row, taken by atomics */
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void work(struct worker *w)
{
	for (;;) {
		uint64_t from = __atomic_fetch_add(&pool.next, pool.morsel, __ATOMIC_RELAXED);
		uint64_t to = from + pool.morsel < pool.rows ? from + pool.morsel : pool.rows;

		if (from >= pool.rows)
			return;
		pool.pipeline->function(w, (int64_t)from, (int64_t)to);
	}
}

static void *worker_main(void *p)
{
	struct worker *w = p;
	uint64_t done = 0;

	w->compare_word = compare_in_memory ? compare_thread_word() : NULL;
	pthread_mutex_lock(&pool.lock);
	for (;;) {
		while (pool.job == done && !pool.stop)
			pthread_cond_wait(&pool.changed, &pool.lock);
		if (pool.stop)
			break;
		done = pool.job;
		pthread_mutex_unlock(&pool.lock);
		work(w);
		pthread_mutex_lock(&pool.lock);
		if (--pool.busy == 0)
			pthread_cond_broadcast(&pool.changed);
	}
	pthread_mutex_unlock(&pool.lock);
	return NULL;
}

static void run_pipeline(const struct pipeline *p, uint64_t rows)
{
	pthread_mutex_lock(&pool.lock);
	pool.pipeline = p;
	pool.rows = rows;
	pool.morsel = p->merges ? 1 : MORSEL;
	pool.next = 0;
	pool.busy = nr_workers - 1;
	pool.job++;
	pthread_cond_broadcast(&pool.changed);
	pthread_mutex_unlock(&pool.lock);
	work(&workers[0]);
	pthread_mutex_lock(&pool.lock);
	while (pool.busy)
		pthread_cond_wait(&pool.changed, &pool.lock);
	pthread_mutex_unlock(&pool.lock);
}

static void start_workers(int nr)
{
	workers[0].compare_word = compare_in_memory ? compare_thread_word() : NULL;
	for (; nr_workers < nr; nr_workers++) {
		workers[nr_workers].number = nr_workers;
		if (nr_workers > 0 && pthread_create(&threads[nr_workers], NULL, worker_main, &workers[nr_workers]))
			abort();
	}
}

void execute_stop(void)
{
	pthread_mutex_lock(&pool.lock);
	pool.stop = true;
	pthread_cond_broadcast(&pool.changed);
	pthread_mutex_unlock(&pool.lock);
	for (int i = 1; i < nr_workers; i++)
		pthread_join(threads[i], NULL);
}

static uint64_t power_of_two(double at_least)
{
	uint64_t n = 1024;

	while ((double)n < at_least)
		n *= 2;
	return n;
}

/* No operator below a groupjoin has more rows than this: a join's build side is unique. */
static uint64_t most_rows(const struct operator *o)
{
	while (o->kind != OP_SCAN && o->kind != OP_RANKS)
		o = o->probe ? o->probe : o->input;
	return (uint64_t)o->estimated_rows;
}

static void prepare(struct plan *plan)
{
	for (uint32_t i = 0; i < plan->nr_operators; i++) {
		struct operator *o = plan->operators[i];

		if (o->kind == OP_JOIN || o->kind == OP_GROUPJOIN) {
			struct join_table *t = o->state;

			t->mask = power_of_two(2 * o->input->estimated_rows) - 1;
			t->directory = runtime_pages((t->mask + 1) * sizeof(*t->directory), "join directory");
			if (o->kind == OP_GROUPJOIN) {
				t->all_capacity = most_rows(o->input);
				t->all = runtime_pages(t->all_capacity * sizeof(*t->all), "list of entries");
			}
		}
	}
}

/* Memory of tables, of the last execution or iteration. */
static void drop_tables(struct plan *plan)
{
	for (uint32_t i = 0; i < plan->nr_operators; i++) {
		struct operator *o = plan->operators[i];

		if (o->kind == OP_JOIN || o->kind == OP_GROUPJOIN) {
			struct join_table *t = o->state;

			runtime_free_pages(t->directory, (t->mask + 1) * sizeof(*t->directory));
			runtime_free_pages(t->all, t->all_capacity * sizeof(*t->all));
			t->directory = NULL;
			t->all = NULL;
			t->nr_all = 0;
		} else if (o->kind == OP_GROUP) {
			group_free(o->state);
		} else if (o->kind == OP_TOP) {
			((struct top_state *)o->state)->nr = 0;
		}
	}
	for (int i = 0; i < nr_workers; i++)
		arena_free(&workers[i].arena);
}

static void clean_up(struct plan *plan)
{
	drop_tables(plan);
	for (int i = 0; i < nr_workers; i++) {
		struct worker *w = &workers[i];

		runtime_free_pages(w->result, w->results_capacity * (size_t)w->result_columns * 8);
		w->result = NULL;
		w->nr_results = w->results_capacity = 0;
		memset(w->rows, 0, sizeof(w->rows));
		memset(w->scalar, 0, sizeof(w->scalar));
	}
}

/* What a finished pipeline leaves for the next. */
static void finish(struct plan *plan)
{
	for (uint32_t i = 0; i < plan->nr_operators; i++) {
		struct operator *o = plan->operators[i];

		if (o->kind == OP_AGGREGATE)
			for (int v = 0; v < o->nr_sums; v++) {
				int64_t sum = 0;

				for (int w = 0; w < nr_workers; w++)
					sum += workers[w].scalar[v];
				((int64_t *)o->state)[v] = sum;
			}
	}
}

static void begin_ranks(struct ranks *r)
{
	if (!r->now)
		r->now = runtime_pages(r->nr * sizeof(*r->now), "ranks");
	if (!r->next)
		r->next = runtime_pages(r->nr * sizeof(*r->next), "next ranks");
	for (uint64_t i = 0; i < r->nr; i++) {
		r->now[i] = RANK_UNIT;
		r->next[i] = RANK_BASE;
	}
}

/* Whether any rank changed: the new ones are those that the next iteration begins with. */
static bool next_ranks(struct ranks *r)
{
	int64_t *now = r->now;
	bool changed = false;

	for (uint64_t i = 0; i < r->nr; i++) {
		changed |= now[i] != r->next[i];
		now[i] = RANK_BASE;
	}
	r->now = r->next;
	r->next = now;
	return changed;
}

static uint64_t rows_left_by(const struct operator *o)
{
	return o->kind == OP_GROUP ? ((struct group_state *)o->state)->nr_all :
	       o->kind == OP_GROUPJOIN ? ((struct join_table *)o->state)->nr_all : ((struct top_state *)o->state)->nr;
}

double execute(struct plan *plan, struct program *program, const struct options *o)
{
	static uint64_t instance;
	struct timespec begin, end;

	compare_in_memory = o->compare == COMPARE_MEMORY;
	start_workers(o->nr_threads);
	for (int i = 0; i < nr_workers; i++)
		workers[i].counters = count_of_worker(program, i);
	clean_up(plan);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	jitreg_mark(JITREG_MARK_BEGIN, "run", 0, 0, ++instance, 0, 0, plan->name);
	prepare(plan);
	if (program->iterate) {
		begin_ranks(program->iterate->state);
		compare_iteration(JITREG_MARK_BEGIN, 1, instance);
	}
	for (uint32_t i = 0, iteration = 1; i < program->nr_pipelines; i++) {
		const struct pipeline *p = &program->pipelines[i];
		uint64_t rows = p->merges ? (uint64_t)nr_workers : p->rows;

		jitreg_replay(); /* replay */
		if (p->rows_of)
			rows = rows_left_by(p->rows_of);
		run_pipeline(p, rows);
		finish(plan);
		if (!program->iterate || i + 1 != program->end_of_iteration)
			continue;
		compare_iteration(JITREG_MARK_END, iteration, instance);
		if (next_ranks(program->iterate->state) && iteration < ITERATIONS_MAX) {
			drop_tables(plan);
			prepare(plan);
			compare_iteration(JITREG_MARK_BEGIN, ++iteration, instance);
			i = program->first_of_iteration - 1; /* unsigned: 0 comes next if it is the first */
		}
	}
	jitreg_mark(JITREG_MARK_END, "run", 0, 0, instance, 0, 0, "");
	clock_gettime(CLOCK_MONOTONIC, &end);
	for (uint32_t i = 0; i < plan->nr_operators; i++) {
		plan->operators[i]->rows = 0;
		for (int w = 0; w < nr_workers; w++)
			plan->operators[i]->rows += workers[w].rows[i];
		jitreg_counter(OPERATOR, i + 1, "rows", (int64_t)plan->operators[i]->rows);
	}
	return (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6;
}

uint64_t row_hash(const int64_t *row, int nr)
{
	uint64_t h = 1;

	for (int i = 0; i < nr; i++) {
		h = (h ^ (uint64_t)row[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	return h;
}

struct result execute_result(void)
{
	struct result r = { 0 };

	for (int i = 0; i < nr_workers; i++)
		for (uint64_t n = 0; n < workers[i].nr_results; n++) {
			r.nr_rows++;
			r.checksum += row_hash(workers[i].result + n * (uint64_t)workers[i].result_columns, workers[i].result_columns);
		}
	return r;
}

void execute_print(const struct plan *plan, int rows)
{
	for (int i = 0; i < nr_workers; i++)
		for (uint64_t n = 0; n < workers[i].nr_results && rows > 0; n++, rows--) {
			for (int c = 0; c < workers[i].result_columns; c++)
				printf("%s%s=%lld", c ? " " : "  ", column_names[plan->root->columns[c]],
				       (long long)workers[i].result[n * (uint64_t)workers[i].result_columns + (uint64_t)c]);
			putchar('\n');
		}
}
