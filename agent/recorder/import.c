/* SPDX-License-Identifier: MIT */
#include "import.h"

#include "trace_writer_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define LATE_S 60 /* perf writes its file when all is over; so may a JIT */

static bool is_text(struct perf_data_text t, const char *text)
{
	return t.p && t.bytes == strlen(text) && memcmp(t.p, text, t.bytes) == 0;
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int import_shift(const struct perf_data *p, uint64_t wall_ahead_ns, const char *path, uint64_t *shift_ns, struct diag *d)
{
	static const char again[] = "; record with `perf record -k mono`";
	const struct perf_event_attr *a = &p->event[0].attr;
	struct utsname u = { .nodename = "" };

	*shift_ns = 0;
	for (uint32_t i = 0; i < p->nr_events; i++)
		if (!(p->event[i].attr.sample_type & PERF_SAMPLE_TIME))
			return diag_fail(d, ENOTSUP, "%s: its samples have no time%s", path, again);
		else if (!p->event[i].attr.use_clockid)
			return diag_fail(d, ENOTSUP, "%s: its times are of perf's own clock, which JITs and agents do not know%s", path,
					 again);
		else if (p->event[i].attr.clockid != a->clockid)
			return diag_fail(d, ENOTSUP, "%s: its events have different clocks%s", path, again);
	if (a->clockid == CLOCK_MONOTONIC)
		return 0;
	if (!p->has_clock || p->clock_id != (uint32_t)a->clockid)
		return diag_fail(d, ENOTSUP, "%s: its times are of clock %d, and it does not say how that clock stood%s", path,
				 a->clockid, again);
	*shift_ns = p->wall_ns - p->clock_ns - wall_ahead_ns;
	if (wall_ahead_ns)
		return 0;
	uname(&u);
	*shift_ns = p->wall_ns - p->clock_ns - (now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC));
	if (!is_text(p->host_name, u.nodename) || p->last_ns + *shift_ns > now_ns(CLOCK_MONOTONIC))
		return diag_fail(d, ENOTSUP, "%s: its times are of clock %d on another machine or before its last boot%s", path, a->clockid,
				 again);
	return 0;
}

struct header {
	bool seen;
	uint64_t version, time_ns, real_ns;
};

static bool find_header(void *context, const struct trace_brief *r)
{
	struct header *h = context;

	if (r->id == TRACE_HEADER && !h->seen && r->third && trace_brief_number(r->third, r->end, &h->real_ns)) {
		h->seen = true;
		h->version = r->number;
		h->time_ns = r->time_ns;
	}
	return false;
}

static int open_input(const char *path, void **bytes, struct stat *st, struct diag *d)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), error = errno;

	if (fd < 0)
		return diag_fail(d, error, "%s: %s", path, strerror(error));
	error = fstat(fd, st) ? errno : 0;
	*bytes = MAP_FAILED;
	if (!error && S_ISREG(st->st_mode) && st->st_size) {
		*bytes = mmap(NULL, (size_t)st->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		error = *bytes == MAP_FAILED ? errno : 0;
	}
	close(fd);
	if (error)
		return diag_fail(d, error, "%s: %s", path, strerror(error));
	if (S_ISDIR(st->st_mode))
		return diag_fail(d, EISDIR, "%s is a folder (perf record --threads), which is not supported: record without --threads",
				 path);
	return *bytes == MAP_FAILED ? diag_fail(d, EBADMSG, "%s is no perf.data file", path) : 0;
}

static int check_with(const char *path, uint64_t *wall_ahead_ns, struct diag *d)
{
	struct header h = { false, 0, 0, 0 };
	bool cut;
	int ret = trace_writer_copy(NULL, path, find_header, &h, &cut, d);

	if (ret)
		return ret;
	if (!h.seen)
		return diag_fail(d, EBADMSG, "%s has no header", path);
	if (h.version > TRACE_FORMAT_VERSION)
		return diag_fail(d, ENOTSUP, "%s is of a later version of tailor", path);
	*wall_ahead_ns = h.real_ns - h.time_ns;
	return 0;
}

int import_file(const struct import_options *o, struct import_result *out, struct diag *d)
{
	uint64_t wall_ahead_ns = 0, shift_ns = 0;
	struct trace_writer *w;
	struct perf_data p;
	struct stat st;
	void *bytes = NULL;
	int ret = o->with ? check_with(o->with, &wall_ahead_ns, d) : 0, closed;

	if (ret == 0)
		ret = open_input(o->input, &bytes, &st, d);
	if (ret)
		return ret;
	ret = perf_data_init(bytes, (uint64_t)st.st_size, o->input, &p, d);
	if (ret == 0) {
		ret = import_shift(&p, wall_ahead_ns, o->input, &shift_ns, d);
		/* last, because it replaces an older trace */
		if (ret == 0)
			ret = trace_writer_open(o->output, !o->uncompressed, &w, d);
		if (ret == 0) {
			ret = import_records(o, &p, shift_ns, st.st_mtime + LATE_S, w, out, d);
			trace_writer_flush_all(w);
			out->bytes = trace_writer_bytes(w);
			closed = trace_writer_close(w);
			if (closed && ret == 0)
				ret = diag_fail(d, -closed, "%s: the trace could not be written to its end: %s", o->output,
						strerror(-closed));
		}
		perf_data_fini(&p);
	}
	munmap(bytes, (size_t)st.st_size);
	return ret;
}
