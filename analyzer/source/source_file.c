/* SPDX-License-Identifier: MIT */
#include "analyzer/source/source_file.h"

#include "jitreg/base/regular_file.h"

#include <stdlib.h>
#include <string.h>

bool source_file_has_language(const char *path, int fd)
{
	static const char endings[] =
		" c h cc cp cpp cxx c++ hh hpp hxx h++ inl ipp tcc tpp m mm cu cuh s asm inc def y l yy ll re rl rs go "
		"d di zig nim v vala swift java kt kts scala sc clj cljs cljc groovy gradle js mjs cjs ts mts cts jsx "
		"tsx vue svelte coffee py pyx pxd pxi pyi rb erb php phtml lua luau moon pl pm tcl r jl erl hrl ex "
		"exs hs lhs ml mli f f77 f90 f95 f03 f08 for ada adb ads pas pp cs fs fsi vb lisp cl el scm ss rkt st "
		"sql psql pgsql plsql ir mlir wat sh bash awk ";
	const char *dot = strrchr(path, '.');
	char ending[12], first[2];
	size_t bytes = dot ? strlen(dot + 1) : 0;

	if (dot && !strchr(dot, '/') && bytes && bytes < sizeof(ending) - 2) {
		ending[0] = ' ';
		for (size_t i = 0; i < bytes; i++)
			ending[i + 1] = dot[i + 1] >= 'A' && dot[i + 1] <= 'Z' ? (char)(dot[i + 1] + 'a' - 'A') : dot[i + 1];
		ending[bytes + 1] = ' ';
		ending[bytes + 2] = 0;
		if (!memchr(dot, ' ', bytes + 1) && strstr(endings, ending))
			return true;
	}
	return pread(fd, first, 2, 0) == 2 && first[0] == '#' && first[1] == '!';
}

static char *read_text(int fd, size_t *bytes)
{
	char *text = malloc(*bytes + 1);
	size_t at = 0;
	ssize_t nr;

	while (text && at < *bytes && (nr = read(fd, text + at, *bytes - at)) > 0)
		at += (size_t)nr;
	if (text)
		text[at] = 0;
	*bytes = at;
	return text;
}

/* Finds where lines begin. The last line may lack its newline. Returns false if memory ran out. */
static bool find_lines(struct source_file *f)
{
	uint32_t nr = 1;

	for (size_t i = 0; i + 1 < f->bytes; i++)
		nr += f->text[i] == '\n';
	f->line_start = malloc(((size_t)nr + 1) * sizeof(*f->line_start));
	if (!f->line_start)
		return false;
	f->line_start[0] = 0;
	f->nr_lines = 0;
	for (size_t i = 0; i < f->bytes; i++)
		if (f->text[i] == '\n' || i + 1 == f->bytes)
			f->line_start[++f->nr_lines] = (uint32_t)i + 1;
	return true;
}

enum source_state source_file_read(const char *path, struct source_file *out)
{
	struct source_file f = { 0 };
	enum source_state state = SOURCE_ABSENT;
	struct stat st;
	int fd = regular_file_open_at(AT_FDCWD, path, true, &st);

	if (fd < 0)
		return errno == EACCES || errno == EPERM ? SOURCE_FORBIDDEN : SOURCE_ABSENT;
	if (!source_file_has_language(path, fd)) {
		close(fd);
		return SOURCE_NO_LANGUAGE;
	}
	if (st.st_size > (off_t)SOURCE_FILE_BYTES_MAX) {
		close(fd);
		return SOURCE_TOO_LARGE;
	}
	f.bytes = (size_t)st.st_size;
	f.changed_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	f.text = read_text(fd, &f.bytes);
	close(fd);
	if (f.text && memchr(f.text, 0, f.bytes))
		state = SOURCE_BINARY;
	else if (f.text && find_lines(&f))
		state = SOURCE_FOUND;
	if (state == SOURCE_FOUND)
		*out = f;
	else
		source_file_fini(&f);
	return state;
}

void source_file_fini(struct source_file *f)
{
	free(f->text);
	free(f->line_start);
	*f = (struct source_file){ 0 };
}

const char *source_file_line(const struct source_file *f, uint32_t n, size_t *bytes)
{
	size_t from, to;

	*bytes = 0;
	if (n < 1 || n > f->nr_lines)
		return "";
	from = f->line_start[n - 1];
	to = f->line_start[n];
	while (to > from && (f->text[to - 1] == '\n' || f->text[to - 1] == '\r'))
		to--;
	*bytes = to - from;
	return f->text + from;
}
