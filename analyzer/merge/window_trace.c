/* SPDX-License-Identifier: MIT */
#include "analyzer/merge/window_trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int window_find_traces(const char *text, const struct window *w, struct spool_traces *t, struct diag *d)
{
	char *path = strndup(text, store_path_bytes(text)), when[32];
	int ret = path ? spool_find(path, w, t, d) : diag_fail(d, ENOMEM, "out of memory");

	if (ret == 0 && !t->nr)
		ret = t->newest_ns ? diag_fail(d, ENOENT, "%s.epochs: no trace of that window is kept, the newest ends at %s; `tailor db "
					       "report` has the sums", path, window_format_time(t->newest_ns, when)) :
				     diag_fail(d, ENOENT, "%s.epochs: no trace is there", path);
	free(path);
	return ret;
}

int window_trace_make(const char *text, const struct window *w, char **path, struct diag *d)
{
	const char *where = getenv("TMPDIR");
	struct spool_traces t = { 0 };
	struct merge_counts counts;
	char folder[4096 - 16];
	int ret = window_find_traces(text, w, &t, d);

	*path = NULL;
	snprintf(folder, sizeof(folder), "%s/tailor-window-XXXXXX", where && *where ? where : "/tmp");
	if (ret == 0 && !mkdtemp(folder))
		ret = diag_fail(d, errno, "no folder for a trace: %s", strerror(errno));
	else if (ret == 0 && asprintf(path, "%s/window.tlr", folder) < 0) {
		*path = NULL; /* asprintf() leaves it undefined */
		rmdir(folder);
		ret = diag_fail(d, ENOMEM, "out of memory");
	} else if (ret == 0)
		ret = merge_traces(t.path, t.nr, *path, &counts, d);
	if (ret && *path) {
		window_trace_remove(*path);
		*path = NULL;
	}
	spool_traces_fini(&t);
	return ret;
}

void window_trace_remove(char *path)
{
	unlink(path);
	*strrchr(path, '/') = 0;
	rmdir(path);
	free(path);
}
