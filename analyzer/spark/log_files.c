/* SPDX-License-Identifier: MIT */
/* Reads the files of an event log, which is one file, or the parts of a rolling log in their order. */
#include "analyzer/spark/event_log.h"

#include "jitreg/base/budget.h"
#include "jitreg/base/regular_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_OF_BYTE 32u /* most bytes of memory that parsed JSON takes per byte of text, as for "[1,1," */
#define BYTES_A_STEP 8u
#define BYTES_AT_ONCE (1u << 16) /* steps of the budget are spent after so many bytes of a line */

static bool is_compressed(const char *path)
{
	static const char *const ends[] = { ".zstd", ".lz4", ".snappy", ".lzf", ".gz" };
	size_t bytes = strlen(path);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (bytes > strlen(ends[i]) && strcmp(path + bytes - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

/* Reads a line up to its newline, and discards what exceeds SPARK_LINE_BYTES_MAX. *bytes: its whole length.  Returns false at the end of
 * the file, or if the budget is exceeded. */
static bool read_line(FILE *f, char *line, size_t *bytes, struct budget *b)
{
	int c = getc_unlocked(f);

	for (*bytes = 0; c != EOF && c != '\n'; c = getc_unlocked(f)) {
		if ((*bytes)++ < SPARK_LINE_BYTES_MAX)
			line[*bytes - 1] = (char)c;
		if (*bytes % BYTES_AT_ONCE == 0 && !budget_spend(b, BYTES_AT_ONCE / BYTES_A_STEP))
			return false;
	}
	return (c != EOF || *bytes) && budget_spend(b, *bytes % BYTES_AT_ONCE / BYTES_A_STEP + 1);
}

static int read_lines(struct spark_log *l, FILE *f, const char *path, struct budget *b, struct diag *d)
{
	char *line = malloc(SPARK_LINE_BYTES_MAX), text[512];
	size_t bytes;

	if (!line)
		return diag_fail(d, ENOMEM, "%s: out of memory", path);
	while (read_line(f, line, &bytes, b)) {
		l->lines++;
		if (bytes > SPARK_LINE_BYTES_MAX || !budget_has_room(b, bytes * MEMORY_OF_BYTE))
			l->long_lines++;
		else if (!spark_log_read_line(l, line, bytes))
			l->bad_lines++;
	}
	free(line);
	return budget_describe(b, path, text, sizeof(text)) ? diag_fail(d, E2BIG, "%s", text) : 0;
}

static int read_file(struct spark_log *l, const char *path, struct budget *b, struct diag *d)
{
	struct stat st;
	int fd, ret;
	FILE *f;

	if (is_compressed(path))
		return diag_fail(d, EBADMSG, "%s is compressed; decompress it first (zstd -d), or set spark.eventLog.compress=false", path);
	fd = regular_file_open_at(AT_FDCWD, path, true, &st);
	if (fd < 0)
		return diag_fail(d, errno, "cannot open '%s': %s", path, strerror(errno));
	budget_add_file(b, &st);
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return diag_fail(d, ENOMEM, "%s: out of memory", path);
	}
	ret = read_lines(l, f, path, b, d);
	fclose(f);
	return ret;
}

static int is_part(const struct dirent *e)
{
	return strncmp(e->d_name, "events_", 7) == 0;
}

static int is_log_folder(const struct dirent *e)
{
	return strncmp(e->d_name, "eventlog_v2_", 12) == 0;
}

static int is_log_file(const struct dirent *e)
{
	return strncmp(e->d_name, "local-", 6) == 0 || strncmp(e->d_name, "app-", 4) == 0 || strncmp(e->d_name, "application_", 12) == 0;
}

static int compare_parts(const struct dirent **a, const struct dirent **b)
{
	unsigned long x = strtoul((*a)->d_name + 7, NULL, 10), y = strtoul((*b)->d_name + 7, NULL, 10);

	return x != y ? (x < y ? -1 : 1) : strcmp((*a)->d_name, (*b)->d_name);
}

static void free_entries(struct dirent **e, int nr)
{
	for (int i = 0; i < nr; i++)
		free(e[i]);
	free(e);
}

static int read_parts(struct spark_log *l, const char *folder, struct budget *b, struct diag *d)
{
	struct dirent **e = NULL;
	char path[4096];
	int nr = scandir(folder, &e, is_part, compare_parts), ret = 0;

	for (int i = 0; i < nr && ret == 0; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, e[i]->d_name);
		ret = read_file(l, path, b, d);
	}
	if (nr > 0)
		free_entries(e, nr);
	return nr > 0 ? ret : -ENOENT;
}

/* Reads the last log of a folder by name, a rolling one if there is any. Names have the time at which their application began, so among
 * names of one form the last one is the latest. */
static int read_latest(struct spark_log *l, const char *folder, struct budget *b, struct diag *d)
{
	struct dirent **e = NULL;
	char path[4096];
	int nr = scandir(folder, &e, is_log_folder, alphasort), ret = -ENOENT;

	if (nr > 0) {
		snprintf(path, sizeof(path), "%s/%s", folder, e[nr - 1]->d_name);
		ret = read_parts(l, path, b, d);
		free_entries(e, nr);
		return ret;
	}
	free(e);
	e = NULL;
	nr = scandir(folder, &e, is_log_file, alphasort);
	if (nr > 0) {
		snprintf(path, sizeof(path), "%s/%s", folder, e[nr - 1]->d_name);
		ret = read_file(l, path, b, d);
		free_entries(e, nr);
	} else {
		free(e);
	}
	return ret;
}

int spark_log_read(struct spark_log *l, const char *path, struct budget *b, struct diag *d)
{
	struct stat st;
	int ret;

	*l = (struct spark_log){ 0 };
	if (stat(path, &st))
		return diag_fail(d, errno, "cannot open '%s': %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return diag_fail(d, EINVAL, "%s: this is not a regular file", path);
	if (!S_ISDIR(st.st_mode)) {
		ret = read_file(l, path, b, d);
	} else {
		ret = read_parts(l, path, b, d);
		if (ret == -ENOENT)
			ret = read_latest(l, path, b, d);
		if (ret == -ENOENT)
			ret = diag_fail(d, ENOENT, "'%s' has no event log of Spark (events_1_*, eventlog_v2_*)", path);
	}
	if (ret == 0 && l->lacks_memory)
		return diag_fail(d, ENOMEM, "out of memory for the event log '%s'", path);
	if (ret == 0 && !l->queries.nr && !l->stages.nr && !l->tasks.nr)
		ret = diag_fail(d, EBADMSG, "'%s' is no event log of Spark: none of its %llu lines is an event of a query, stage or task",
				path, (unsigned long long)l->lines);
	return ret;
}
