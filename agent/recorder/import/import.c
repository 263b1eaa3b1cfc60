/* SPDX-License-Identifier: MIT */
#include "agent/recorder/import/import.h"

#include "jitreg/output/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>


/* Copies a pipe into a file without a name, so that it can be read more than once, however large it is.  Returns the file's descriptor, or
 * -1 with errno. */
static int read_pipe(int fd, FILE **copy)
{
	static char piece[65536];
	ssize_t n = 0;

	*copy = tmpfile();
	while (*copy && (n = read(fd, piece, sizeof(piece))) > 0)
		if (fwrite(piece, 1, (size_t)n, *copy) != (size_t)n)
			return -1;
	return *copy && n == 0 && fflush(*copy) == 0 ? fileno(*copy) : -1;
}

static bool is_pipe(const struct stat *st)
{
	return S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode);
}

/* Maps the input file.  *copy: the copy of a pipe, which the caller closes, also after an error.  Returns 0, or -errno with a sentence. */
static int map_input_file(const char *path, void **bytes, struct stat *st, FILE **copy, struct diag *d)
{
	bool standard = strcmp(path, IMPORT_STANDARD_INPUT) == 0;
	int fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), error = errno;

	if (fd < 0)
		return diag_fail(d, error, "%s: %s", path, strerror(error));
	error = fstat(fd, st) ? errno : 0;
	*bytes = MAP_FAILED;
	if (!error && is_pipe(st)) {
		int whole = fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) ? -1 : read_pipe(fd, copy);

		error = whole < 0 || fstat(whole, st) || dup2(whole, fd) < 0 ? errno : 0;
	}
	if (!error && S_ISREG(st->st_mode) && st->st_size) {
		*bytes = mmap(NULL, (size_t)st->st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		error = *bytes == MAP_FAILED ? errno : 0;
	}
	close(fd);
	if (error)
		return diag_fail(d, error, "%s: %s", path, strerror(error));
	if (S_ISDIR(st->st_mode))
		return diag_fail(d, EISDIR, "%s is a directory (perf record --threads), which is not supported; record without --threads",
				 path);
	return *bytes == MAP_FAILED ? diag_fail(d, EBADMSG, "%s is not a perf.data file", path) : 0;
}

/* Writes the trace, if it replaces no input.  This step comes last, because the trace replaces an older one. */
static int write_imported_trace(const struct import_options *o, const struct perf_data *p, const struct import_times *times,
				int64_t written_s, struct import_result *out, struct diag *d)
{
	if (output_file_is_same(o->output, o->input) || (o->with && output_file_is_same(o->output, o->with)))
		return diag_fail(d, EINVAL, "%s is both input and output; give another output file (-o)", o->output);
	return import_records(o, p, times, written_s, out, d);
}

int import_file(const struct import_options *o, struct import_result *out, struct diag *d)
{
	struct import_other other = { 0 };
	struct import_times times;
	struct perf_data p;
	struct stat st = { 0 };
	void *bytes = NULL;
	FILE *copy = NULL;
	int ret = o->with ? import_other_read(o->with, &other, d) : 0;

	if (ret == 0)
		ret = map_input_file(o->input, &bytes, &st, &copy, d);
	if (ret) {
		if (copy)
			fclose(copy);
		import_other_fini(&other);
		return ret;
	}
	ret = perf_data_init(bytes, (uint64_t)st.st_size, o->input, &p, d);
	if (ret == 0) {
		times = import_times(&p, o->with ? &other : NULL);
		ret = write_imported_trace(o, &p, &times, st.st_mtime, out, d);
		perf_data_fini(&p);
	}
	munmap(bytes, (size_t)st.st_size);
	if (copy)
		fclose(copy);
	import_other_fini(&other);
	return ret;
}
