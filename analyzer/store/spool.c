/* SPDX-License-Identifier: MIT */
#include "analyzer/store/spool.h"

#include "analyzer/store/epochs.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/own_file.h"
#include "jitreg/base/regular_file.h"
#include "jitreg/trace/reader.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns whether this is the trace of an epoch, such as NAME.000001.tlr. Names begin with the time at which their recorder began, so they
 * sort by time. */
static int is_epoch(const struct dirent *e)
{
	static const char digits[] = "0123456789";
	const char *end = strrchr(e->d_name, '.');

	return e->d_name[0] != '.' && end && strcmp(end, ".tlr") == 0 && end - e->d_name > 7 && end[-7] == '.' &&
	       strspn(end - 6, digits) == 6;
}

static bool store_has(struct store *s, const char *path)
{
	struct trace_reader *t;
	struct trace_record r;
	struct diag d;
	bool has = false;

	if (trace_open(path, &t, &d))
		return false;
	if (trace_next(t, &r) && r.id == TRACE_HEADER)
		has = epochs_have(s, epochs_recording(trace_u64(&r, F(header, cut_recording)), trace_u64(&r, F(header, real_ns))),
				  (int64_t)trace_u64(&r, F(header, epoch)));
	trace_close(t);
	return has;
}

struct listing {
	char *folder;
	struct dirent **entry; /* sorted by time */
	int nr;
};

static void listing_fini(struct listing *l)
{
	for (int i = 0; i < l->nr; i++)
		free(l->entry[i]);
	free(l->entry);
	free(l->folder);
}

static int list_beside(const char *file, struct listing *l, struct diag *d)
{
	const char *slash = strrchr(file, '/');

	*l = (struct listing){ .folder = slash ? strndup(file, (size_t)(slash - file)) : strdup(".") };
	l->nr = l->folder ? scandir(*l->folder ? l->folder : "/", &l->entry, is_epoch, alphasort) : -1;
	return l->nr < 0 ? diag_fail(d, errno, "%s: cannot be listed: %s", l->folder ? l->folder : file, strerror(errno)) : 0;
}

static char *listed_path(const struct listing *l, int i)
{
	char *path = NULL;

	return asprintf(&path, "%s/%s", l->folder, l->entry[i]->d_name) < 0 ? NULL : path;
}

int spool_bound(const char *file, uint32_t keep, uint32_t *nr_dropped, struct diag *d)
{
	struct listing l;
	int ret = list_beside(file, &l, d);
	int64_t most = keep > SPOOL_MAX ? keep : SPOOL_MAX;

	*nr_dropped = 0;
	for (int i = 0; i + most < l.nr; i++) {
		char *path = listed_path(&l, i);

		*nr_dropped += path && unlink(path) == 0;
		free(path);
	}
	listing_fini(&l);
	return ret;
}

/* Returns whether the file is empty.  A trace is empty if its recorder was killed before the first write. */
static bool is_empty(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;
}

int spool_tidy(struct store *s, const char *file, uint32_t keep, void (*add)(void *context, const char *path), void *context,
	       struct diag *d)
{
	struct listing l;
	int ret = list_beside(file, &l, d);

	for (int i = 0; i + 1 < l.nr; i++) { /* skips the newest trace, which is being written or was given by name */
		char *path = listed_path(&l, i);
		bool has = path && (is_empty(path) || store_has(s, path));

		if (path && !has) {
			add(context, path);
			has = store_has(s, path);
		}
		if (has && (uint32_t)(l.nr - 1 - i) >= keep)
			unlink(path);
		free(path);
	}
	listing_fini(&l);
	return ret;
}

/* ------------------------------------------------------------------------------------------------------------- find */

struct spooled {
	char *path;
	uint64_t recording, number;
	int64_t begin_ns, end_ns; /* end: where the recording's next trace begins, else time of the last record, else begin_ns */
};

struct spooled_list {
	ARRAY_OF(struct spooled);
};

static bool read_head(struct spooled *s, struct trace_reader *t, uint64_t *begin_ns)
{
	struct trace_record r;

	if (trace_next(t, &r) != 1 || r.id != TRACE_HEADER)
		return false;
	s->recording = trace_u64(&r, F(header, cut_recording));
	s->number = trace_u64(&r, F(header, epoch));
	s->begin_ns = s->end_ns = (int64_t)trace_u64(&r, F(header, real_ns));
	*begin_ns = r.time_ns;
	return true;
}

/* Adds the trace at path. path belongs to the list from then on. A file that cannot be read or does not begin with a HEADER is skipped,
 * and so is any file if memory runs out. */
static void add_spooled(struct spooled_list *l, char *path)
{
	struct spooled s = { .path = path };
	struct trace_reader *t;
	uint64_t begin_ns;
	struct diag d;
	bool is_one;

	if (trace_open(path, &t, &d)) {
		free(path);
		return;
	}
	is_one = read_head(&s, t, &begin_ns);
	trace_close(t);
	if (is_one && ARRAY_GROW(*l))
		l->at[l->nr++] = s;
	else
		free(path);
}

/* Sets the end of a trace to the time of its last record.  This is for traces whose end the next trace of the recording does not give. */
static void find_end(struct spooled *s)
{
	struct trace_reader *t;
	struct trace_record r;
	uint64_t begin_ns, end_ns;
	struct diag d;

	if (trace_open(s->path, &t, &d))
		return;
	if (read_head(s, t, &begin_ns)) {
		end_ns = begin_ns;
		while (trace_next(t, &r) == 1)
			end_ns = r.time_ns > end_ns ? r.time_ns : end_ns;
		if (__builtin_add_overflow(s->begin_ns, end_ns - begin_ns, &s->end_ns)) /* overflows only if the header is damaged */
			s->end_ns = s->begin_ns;
	}
	trace_close(t);
}

static int compare_spooled(const void *a, const void *b)
{
	const struct spooled *x = a, *y = b;

	if (x->recording != y->recording)
		return x->recording < y->recording ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void set_ends(struct spooled_list *l)
{
	for (uint32_t i = 0; i < l->nr; i++)
		if (i + 1 < l->nr && l->at[i + 1].recording == l->at[i].recording &&
		    l->at[i + 1].begin_ns > l->at[i].begin_ns) /* false if the clock was set back */
			l->at[i].end_ns = l->at[i + 1].begin_ns;
		else
			find_end(&l->at[i]);
}

static bool is_in_window(const struct spooled *s, const struct window *w)
{
	return s->begin_ns < w->to_ns && s->end_ns >= w->from_ns;
}

static int take_traces(struct spooled_list *l, const struct window *w, struct spool_traces *out)
{
	const struct spooled *newest = NULL;

	out->path = calloc((size_t)l->nr + 1, sizeof(*out->path));
	for (uint32_t i = 0; i < l->nr; i++) {
		out->newest_ns = l->at[i].end_ns > out->newest_ns ? l->at[i].end_ns : out->newest_ns;
		if (is_in_window(&l->at[i], w) && (!newest || l->at[i].begin_ns > newest->begin_ns))
			newest = &l->at[i];
	}
	for (uint32_t i = 0; i < l->nr && newest && out->path; i++) {
		struct spooled *s = &l->at[i];

		if (!is_in_window(s, w))
			continue;
		if (s->recording != newest->recording) {
			out->nr_others++;
			continue;
		}
		out->begin_ns = out->nr ? out->begin_ns : s->begin_ns;
		out->end_ns = s->end_ns;
		out->path[out->nr++] = s->path;
		s->path = NULL;
	}
	return out->path ? 0 : -ENOMEM;
}

/* Returns why a folder is not used, or NULL.  If another user owned the folder, that user could choose the store's traces. */
static const char *refuse_folder(const char *store, const char *folder)
{
	struct stat st;

	return own_file_check(folder, S_IFDIR, stat(store, &st) ? geteuid() : st.st_uid);
}

int spool_find(const char *store, const struct window *w, struct spool_traces *out, struct diag *d)
{
	struct spooled_list l = { 0 };
	struct dirent **entry = NULL;
	char *folder = NULL;
	const char *refusal = asprintf(&folder, "%s.epochs", store) < 0 ? NULL : refuse_folder(store, folder);
	int nr = refusal || !folder ? -1 : scandir(folder, &entry, is_epoch, alphasort);
	int ret = refusal ? diag_fail(d, EPERM, "%s is not used, since %s", folder, refusal) :
		  nr < 0  ? diag_fail(d, errno, "%s.epochs: cannot be listed: %s%s (tailor watch keeps the newest traces there)", store,
				      strerror(errno), file_owner_text(folder, errno)) :
			    0;

	memset(out, 0, sizeof(*out));
	for (int i = 0; i < nr; i++) {
		char *path = NULL;

		if (asprintf(&path, "%s/%s", folder, entry[i]->d_name) >= 0)
			add_spooled(&l, path);
		free(entry[i]);
	}
	free(entry);
	free(folder);
	if (l.nr)
		qsort(l.at, l.nr, sizeof(*l.at), compare_spooled);
	set_ends(&l);
	if (ret == 0 && take_traces(&l, w, out))
		ret = diag_fail(d, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < l.nr; i++)
		free(l.at[i].path);
	free(l.at);
	return ret;
}

void spool_traces_fini(struct spool_traces *t)
{
	for (uint32_t i = 0; i < t->nr; i++)
		free(t->path[i]);
	free(t->path);
	memset(t, 0, sizeof(*t));
}
