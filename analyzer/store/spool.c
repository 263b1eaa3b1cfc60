/* SPDX-License-Identifier: MIT */
#include "analyzer/store/spool.h"

#include "analyzer/store/epochs.h"
#include "jitreg/trace/reader.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* NAME.000001.tlr; names begin with when their recorder began, so their order is that of time. */
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

int spool_tidy(struct store *s, const char *file, uint32_t keep, void (*add)(void *context, const char *path), void *context,
	       uint32_t *nr_dropped, struct diag *d)
{
	const char *slash = strrchr(file, '/');
	char *folder = slash ? strndup(file, (size_t)(slash - file)) : strdup(".");
	struct dirent **entry = NULL;
	int nr = folder ? scandir(*folder ? folder : "/", &entry, is_epoch, alphasort) : -1;
	int ret = nr < 0 ? diag_fail(d, errno, "%s: cannot be listed: %s", folder ? folder : file, strerror(errno)) : 0;

	*nr_dropped = 0;
	for (int i = 0; i < nr; i++) {
		int newer = nr - 1 - i;
		char *path = NULL;

		/* the newest is being written, or was given by name */
		if (newer > 0 && asprintf(&path, "%s/%s", folder, entry[i]->d_name) >= 0) {
			bool has = store_has(s, path);

			if (!has) {
				add(context, path);
				has = store_has(s, path);
			}
			if ((uint32_t)newer >= keep && (has || newer >= SPOOL_MAX) && unlink(path) == 0)
				*nr_dropped += !has;
			free(path);
		}
		free(entry[i]);
	}
	free(entry);
	free(folder);
	return ret;
}
