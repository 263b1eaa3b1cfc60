/* SPDX-License-Identifier: MIT */
#include "analyzer/source/source_text.h"

#include "analyzer/model/model.h"
#include "analyzer/source/source_path.h"
#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BYTES_MAX (32u << 20) /* bytes of all files together from which on no more are read */
#define REGISTERED_MAX 64u    /* maximum number of texts of one name that are compared */

struct file_text {
	char *name;
	const struct kept_file *kept; /* lines that the trace keeps, or NULL */
	ARRAY(const struct source *) registered; /* texts that hosts registered for files of the same name, whatever their folders */
	bool looked_for, newer, newer_said;
	enum source_state state;
	struct source_file file;
};

struct source_texts {
	ARRAY(struct file_text) files;
	struct hash_map by_name, kept; /* (hash of the name, 0) -> 1 + index, in file and in the model's kept_lines */
	size_t bytes;
	uint32_t missing; /* 1 + index of the file of the first line that was asked for, if it is of a file and has no text; else 0 */
	bool asked, said;
};

static void free_source_texts(void *state)
{
	struct source_texts *t = state;

	for (uint32_t i = 0; i < t->files.nr; i++) {
		free(t->files.at[i].name);
		free(t->files.at[i].registered.at);
		source_file_fini(&t->files.at[i].file);
	}
	free(t->files.at);
	hash_map_fini(&t->by_name);
	hash_map_fini(&t->kept);
}

static struct source_texts *texts_of_report(struct report *r)
{
	struct source_texts *t = r->source_texts;

	if (t)
		return t;
	t = r->source_texts = report_add_state(r, sizeof(*t), free_source_texts);
	for (uint32_t i = r->model->kept_lines.nr; t && i-- > 0;)
		hash_map_set(&t->kept, hash_text(r->model->kept_lines.at[i].name), 0, i + 1);
	return t;
}

static void find_registered(const struct report *r, struct file_text *f)
{
	const struct model *m = r->model;
	const char *base = basename(f->name);

	if (!report_spend(r, m->sources.nr))
		return;
	for (uint32_t i = 0; i < m->sources.nr; i++)
		if (m->sources.at[i].name && strcmp(basename(m->sources.at[i].name), base) == 0 &&
		    ARRAY_GROW(f->registered))
			f->registered.at[f->registered.nr++] = &m->sources.at[i];
}

static struct file_text *get_file(struct report *r, struct source_texts *t, const char *name)
{
	uint64_t h = hash_text(name);
	uint32_t i = hash_map_find(&t->by_name, h, 0), kept;
	struct file_text *f;

	if (i)
		return strcmp(t->files.at[i - 1].name, name) == 0 ? &t->files.at[i - 1] : NULL;
	if (!ARRAY_GROW(t->files))
		return NULL;
	f = &t->files.at[t->files.nr];
	*f = (struct file_text){ .name = strdup(name), .state = SOURCE_ABSENT };
	if (!f->name)
		return NULL;
	hash_map_set(&t->by_name, h, 0, ++t->files.nr);
	kept = hash_map_find(&t->kept, h, 0);
	if (kept && strcmp(r->model->kept_lines.at[kept - 1].name, name) == 0)
		f->kept = &r->model->kept_lines.at[kept - 1];
	f->newer = f->kept && f->kept->newer;
	find_registered(r, f);
	return f;
}

/* Returns when the program was built (ns, CLOCK_REALTIME), which is when its file was changed last, if that is on this machine. Else
 * returns the beginning of the recording, because the program was built before, or INT64_MAX if that is not known. */
static int64_t recorded_ns(const struct model *m, const struct code *code)
{
	struct stat st;

	if (code && code->kind == CODE_IMAGE && model_is_here(code->file) && stat(code->file->path, &st) == 0)
		return (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	return m->real_ns ? (int64_t)m->real_ns : INT64_MAX;
}

/* Returns whether this is the name of a file.  Runtimes also name code that is in no file: "node:internal/util", "<string>", "[eval]". */
static bool is_a_file(const char *name)
{
	return *name != '<' && *name != '[' && name[strcspn(name, ":/")] != ':';
}

/* Returns whether text is the kept line.  The trace keeps the beginning of long lines, with '?' in place of bytes that are not UTF-8. */
static bool is_kept_line(const char *kept, const char *text, size_t bytes)
{
	size_t i = 0;

	while (kept[i] && i < bytes && (kept[i] == text[i] || kept[i] == '?'))
		i++;
	return !kept[i];
}

/* Returns whether the file still has the lines that the trace keeps. If not, it has changed, and look_for() does not use it. */
static bool has_kept_lines(const struct file_text *f)
{
	for (uint32_t i = 0; f->kept && i < f->kept->nr; i++) {
		size_t bytes;
		const char *text = source_file_line(&f->file, f->kept->at[i].number, &bytes);

		if (!is_kept_line(f->kept->at[i].text, text, bytes))
			return false;
	}
	return true;
}

static void look_for(struct report *r, struct source_texts *t, struct file_text *f, const struct code *code)
{
	char at[PATH_MAX];

	f->looked_for = true;
	for (unsigned n = 0; is_a_file(f->name) && t->bytes < BYTES_MAX && source_path_get(f->name, r->model->working_folder, n, at); n++) {
		enum source_state state = *at ? source_file_read(at, &f->file) : SOURCE_ABSENT;

		f->state = f->state == SOURCE_ABSENT || state == SOURCE_FOUND ? state : f->state;
		if (state == SOURCE_FOUND)
			break;
	}
	t->bytes += f->file.bytes;
	if (f->kept && !has_kept_lines(f))
		source_file_fini(&f->file);
	else if (!f->kept)
		f->newer = f->state == SOURCE_FOUND && f->file.changed_ns > recorded_ns(r->model, code);
}

static const char *line_of_file(struct report *r, struct source_texts *t, struct file_text *f, const struct code *code, uint32_t n,
				size_t *bytes)
{
	const char *text = f->kept ? kept_file_line(f->kept, n, bytes) : NULL;

	if (text)
		return text;
	if (!f->looked_for)
		look_for(r, t, f, code);
	return n && n <= f->file.nr_lines ? source_file_line(&f->file, n, bytes) : NULL;
}

static const char *note(struct source_texts *t, const struct file_text *f, const char *text)
{
	if (!text && !t->asked && is_a_file(f->name))
		t->missing = 1 + (uint32_t)(f - t->files.at);
	t->asked = true;
	return text;
}

const char *source_text_find(struct report *r, const struct code *code, const char *file, uint32_t n, size_t *bytes)
{
	struct source_texts *t = texts_of_report(r);
	struct file_text *f = t && file && *file && n ? get_file(r, t, file) : NULL;
	const struct source *s = NULL;

	*bytes = 0;
	if (!f)
		return NULL;
	if (f->registered.nr && code && code->process < r->model->processes.nr)
		s = model_find_source(r->model, r->model->numbered.at[code->process], file, code->from_ns);
	return note(t, f, s ? source_line(s, n, bytes) : line_of_file(r, t, f, code, n, bytes));
}

/* Returns line n of the registered texts of this name, which is "" if they have no such line. Returns NULL if they differ in it, or are too
 * many to compare. */
static const char *registered_line(const struct file_text *f, uint32_t n, size_t *bytes)
{
	const char *text = source_line(f->registered.at[0], n, bytes), *other;
	size_t other_bytes;

	for (uint32_t i = 1; i < f->registered.nr; i++) {
		other = source_line(f->registered.at[i], n, &other_bytes);
		if (f->registered.nr > REGISTERED_MAX || other_bytes != *bytes || memcmp(text, other, *bytes) != 0)
			return NULL;
	}
	return text;
}

const char *source_text_of_line(struct report *r, uint32_t line, size_t *bytes)
{
	const struct line *l = &r->a->line[line];
	struct source_texts *t = texts_of_report(r);
	struct file_text *f = t && line && *l->file && l->number ? get_file(r, t, l->file) : NULL;

	*bytes = 0;
	if (!f)
		return NULL;
	return note(t, f, l->jit && f->registered.nr ? registered_line(f, l->number, bytes) :
						       line_of_file(r, t, f, l->code, l->number, bytes));
}

const char *source_text_cut(const char *text, size_t bytes, char to[SOURCE_TEXT_COLUMNS_MAX])
{
	*to = 0;
	while (text && bytes && (*text == ' ' || *text == '\t')) {
		text++;
		bytes--;
	}
	if (!text)
		return to;
	bytes = bytes < SOURCE_TEXT_COLUMNS_MAX ? bytes : SOURCE_TEXT_COLUMNS_MAX - 1;
	while (bytes && (text[bytes - 1] == ' ' || text[bytes - 1] == '\t' || text[bytes - 1] == '\r'))
		bytes--;
	for (size_t i = 0; i < bytes; i++)
		to[i] = text[i] == '\t' || text[i] == 0 ? ' ' : text[i];
	to[bytes] = 0;
	return to;
}

uint32_t source_text_nr_lines(struct report *r, const struct line *of)
{
	struct source_texts *t = texts_of_report(r);
	struct file_text *f = t && *of->file ? get_file(r, t, of->file) : NULL;
	uint32_t last = f && f->kept && f->kept->nr ? f->kept->at[f->kept->nr - 1].number : 0;

	if (f && !f->looked_for)
		look_for(r, t, f, of->code);
	last = f && f->file.nr_lines > last ? f->file.nr_lines : last;
	return last < SOURCE_FILE_BYTES_MAX ? last : 0;
}

bool source_text_is_of_file(struct report *r, uint32_t line, bool *newer)
{
	struct source_texts *t = texts_of_report(r);
	struct file_text *f = t && line && *r->a->line[line].file ? get_file(r, t, r->a->line[line].file) : NULL;
	size_t bytes;

	if (!f || (r->a->line[line].jit && f->registered.nr) || !source_text_of_line(r, line, &bytes))
		return false;
	*newer = f->newer;
	return true;
}

static const char *why_missing(enum source_state state)
{
	switch (state) {
	case SOURCE_FORBIDDEN:
		return "may not be read by this user";
	case SOURCE_NO_LANGUAGE:
		return "is not a source file, by its name";
	case SOURCE_TOO_LARGE:
		return "is larger than 8 MiB";
	case SOURCE_BINARY:
		return "is not text";
	case SOURCE_FOUND:
		return "has no such line";
	default:
		return "is not on this machine; --source-path FROM=TO or --source-path DIR says where it is";
	}
}

bool source_text_say(struct report *r, char text[512])
{
	struct source_texts *t = r->source_texts;
	const struct file_text *f;

	for (uint32_t i = 0; t && i < t->files.nr; i++)
		if (t->files.at[i].newer && !t->files.at[i].newer_said) {
			t->files.at[i].newer_said = true;
			snprintf(text, 512, "(%.300s is newer than the program: its text may differ)", t->files.at[i].name);
			return true;
		}
	if (!t || !t->missing || t->said)
		return false;
	t->said = true;
	f = &t->files.at[t->missing - 1];
	snprintf(text, 512, "(no source text: %.300s %s)", f->name, why_missing(f->state));
	return true;
}
