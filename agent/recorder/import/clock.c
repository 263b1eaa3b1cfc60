/* SPDX-License-Identifier: MIT */
/* Finds how a perf.data file's times relate to CLOCK_MONOTONIC.  The file does not relate perf's own clock (the default) to any other.  But
 * if a trace of tailor's was recorded at the same time, the kernel reported the same forks and exits to both, microseconds apart. */
#include "agent/recorder/import/import.h"

#include "jitreg/base/clock.h"
#include "jitreg/trace/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define TASKS_MAX (1u << 20)
#define APART_NS 10000000 /* the middle half of the differences varies by less, unless the tasks are not the same */

struct import_task {
	uint64_t key, time_ns;
};

static uint64_t key_of_task(bool fork, uint32_t pid, uint32_t tid)
{
	return (uint64_t)fork << 63 | (uint64_t)(pid & 0x7fffffff) << 32 | tid;
}

/* ------------------------------------------------------------------------------------------------ the other trace */

static void add_other_task(struct import_other *o, const struct trace_record *r, bool *no_memory)
{
	const struct import_task task = { key_of_task(r->id == TRACE_FORK, r->pid, r->tid), r->time_ns };

	/* No more tasks are kept once memory has run out, or there are TASKS_MAX, which are enough. */
	*no_memory = *no_memory || o->tasks.nr == TASKS_MAX || !ARRAY_PUSH(o->tasks, task);
}

static int compare_tasks_by_key(const void *a, const void *b)
{
	const struct import_task *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

int import_other_read(const char *path, struct import_other *o, struct diag *d)
{
	static const uint32_t ids[] = { TRACE_HEADER, TRACE_FORK, TRACE_EXIT };
	bool has_header = false, no_memory = false;
	struct trace_reader *t;
	struct trace_record r;
	int ret;

	memset(o, 0, sizeof(*o));
	ret = trace_open(path, &t, d);
	if (ret)
		return ret;
	trace_select_chunks(t, 1u << TRACE_CHUNK_RECORDS);
	trace_select_ids(t, ids, 3);
	while (trace_next(t, &r) == 1) {
		if (r.id != TRACE_HEADER)
			add_other_task(o, &r, &no_memory);
		else if (!has_header && r.nr_values > F(header, real_ns))
			o->wall_ahead_ns = trace_u64(&r, F(header, real_ns)) - r.time_ns;
		has_header |= r.id == TRACE_HEADER && r.nr_values > F(header, real_ns);
	}
	trace_close(t);
	if (!has_header) {
		import_other_fini(o);
		return diag_fail(d, EBADMSG, "%s has no header", path);
	}
	if (o->tasks.nr)
		qsort(o->tasks.at, o->tasks.nr, sizeof(*o->tasks.at), compare_tasks_by_key);
	return 0;
}

void import_other_fini(struct import_other *o)
{
	free(o->tasks.at);
	memset(o, 0, sizeof(*o));
}

/* --------------------------------------------------------------------------------------------------- perf's clock */

static int compare_differences(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Sets *shift_ns to the median of the differences of all forks and exits that are in both.  Returns false if there are none in common, if
 * they differ too much, or if memory runs out. */
static bool find_shift_by_common_tasks(const struct perf_data *p, const struct import_other *o, uint64_t *shift_ns)
{
	_Alignas(8) static unsigned char room[PERF_DATA_RECORD_BYTES];
	struct perf_event_header *h = (struct perf_event_header *)room;
	int64_t *ahead = o->tasks.nr ? malloc(o->tasks.nr * sizeof(*ahead)) : NULL;
	struct perf_data_cursor c = { 0 };
	size_t nr = 0;
	bool good;

	while (ahead && nr < o->tasks.nr && perf_data_next_record(p, &c, h) == 1) {
		struct {
			struct perf_event_header header;
			uint32_t pid, ppid, tid, ptid;
			uint64_t time_ns;
		} r;
		const struct import_task *same;
		struct import_task key;

		if ((h->type != PERF_RECORD_FORK && h->type != PERF_RECORD_EXIT) || h->size < sizeof(r))
			continue;
		memcpy(&r, h, sizeof(r));
		key.key = key_of_task(h->type == PERF_RECORD_FORK, r.pid, r.tid);
		same = r.time_ns ? bsearch(&key, o->tasks.at, o->tasks.nr, sizeof(key), compare_tasks_by_key) : NULL;
		if (same)
			ahead[nr++] = (int64_t)(same->time_ns - r.time_ns);
	}
	perf_data_close_cursor(&c);
	if (nr)
		qsort(ahead, nr, sizeof(*ahead), compare_differences);
	good = nr && (uint64_t)ahead[3 * nr / 4] - (uint64_t)ahead[nr / 4] < APART_NS;
	*shift_ns = good ? (uint64_t)ahead[nr / 2] : 0;
	free(ahead);
	return good;
}

static uint64_t shift_by_wall(const struct perf_data *p, const struct import_other *o)
{
	return p->wall_ns - p->clock_ns - (o ? o->wall_ahead_ns : (uint64_t)clock_real_ns() - clock_now_ns());
}

static bool is_since_boot(const struct perf_data *p, uint64_t shift_ns)
{
	struct utsname u = { .nodename = "" };

	uname(&u);
	return perf_data_text_is(p->host_name, u.nodename) && p->last_ns + shift_ns <= clock_now_ns();
}

struct import_times import_times(const struct perf_data *p, const struct import_other *o)
{
	const struct perf_event_attr *a = &p->event[0].attr;
	struct import_times t = { 0, NULL };

	if (!p->has_times)
		t.unrelated = "samples have no time";
	else if (!a->use_clockid && !o)
		t.unrelated = "times are of perf's default clock";
	else if (!a->use_clockid)
		t.unrelated = find_shift_by_common_tasks(p, o, &t.shift_ns) ?
				      NULL :
				      "times are of perf's default clock, and no process exited in "
				      "both traces";
	else if (a->clockid == CLOCK_MONOTONIC)
		return t;
	else if (!p->has_clock || p->clock_id != (uint32_t)a->clockid)
		t.unrelated = "times are of another clock than CLOCK_MONOTONIC, and the file has no reference time";
	else if (!o && !is_since_boot(p, shift_by_wall(p, o)))
		t.unrelated = "times are of another clock than CLOCK_MONOTONIC, of another machine or before its last boot";
	else
		t.shift_ns = shift_by_wall(p, o);
	return t;
}
