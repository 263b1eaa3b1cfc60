/* SPDX-License-Identifier: MIT */
/*
 * Writes the format jitdump, which is the generated code of one process of a trace as perf's jitdump file
 * (linux/tools/perf/Documentation/jitdump-specification.txt). Each function of which the trace has the bytes has a LOAD, with its lines, if
 * they are known, before it (DEBUG_INFO).
 */
#include "analyzer/export/export.h"
#include "analyzer/query/code_bytes.h"
#include "jitreg/base/grow.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x4a695444u /* "JiTD" */

static void prepare_jitdump(struct export *e)
{
	(void)e;
}

struct dump {
	const struct report *r;
	FILE *to;
	uint32_t pid;
	uint64_t index;
};

static void write_u32(FILE *to, uint32_t v)
{
	fwrite(&v, sizeof(v), 1, to);
}

static void write_u64(FILE *to, uint64_t v)
{
	fwrite(&v, sizeof(v), 1, to);
}

static void write_record_prefix(FILE *to, uint32_t id, uint64_t bytes, uint64_t time_ns)
{
	write_u32(to, id);
	write_u32(to, (uint32_t)(16 + bytes));
	write_u64(to, time_ns);
}

struct line_row {
	uint64_t address;
	uint32_t line;
	const char *file;
};

struct line_rows {
	ARRAY_OF(struct line_row);
};

/* Lists the lines of a function, with a row where the line changes. The caller frees the array. If memory runs out, the last rows are
 * missing. */
static struct line_rows list_line_rows(const struct code *c, uint64_t start, uint64_t end)
{
	struct line_rows rows = { 0 };

	for (uint64_t at = start; at < end;) {
		struct line_row next = { at, 0, NULL };
		uint64_t until = end;

		if (c->kind == CODE_ELF) {
			struct elf_line l;

			if (elf_find_line(c->elf, at, &l) && l.end > at) {
				next.line = l.line;
				next.file = l.file;
				until = l.end;
			} else {
				until = at + 1;
			}
		} else {
			for (size_t i = 0; i < c->nr_lines; i++) {
				const uint64_t begin = c->address + c->lines[i].offset;

				if (begin <= at) {
					next.line = c->lines[i].line;
					next.file = c->lines[i].file;
				} else if (begin < until) {
					until = begin;
				}
			}
		}
		if (next.file && next.line && !ARRAY_PUSH(rows, next))
			break;
		at = until;
	}
	return rows;
}

static void write_debug_info_record(struct dump *d, const struct code *c, uint64_t start, uint64_t end)
{
	struct line_rows rows = list_line_rows(c, start, end);
	uint64_t bytes = 16;

	for (size_t i = 0; i < rows.nr; i++)
		bytes += 16 + strlen(rows.at[i].file) + 1;
	if (rows.nr) {
		write_record_prefix(d->to, JITREG_DEBUG_INFO, bytes, c->from_ns);
		write_u64(d->to, start);
		write_u64(d->to, rows.nr);
	}
	for (size_t i = 0; i < rows.nr; i++) {
		write_u64(d->to, rows.at[i].address);
		write_u32(d->to, rows.at[i].line);
		write_u32(d->to, 0);
		fwrite(rows.at[i].file, 1, strlen(rows.at[i].file) + 1, d->to);
	}
	free(rows.at);
}

static void write_load_record(struct dump *d, const struct code *c, uint64_t start, uint64_t end, const char *name, const void *bytes)
{
	if (!bytes || end - start > UINT32_MAX / 2)
		return;
	write_debug_info_record(d, c, start, end);
	write_record_prefix(d->to, JITREG_LOAD, 40 + strlen(name) + 1 + (end - start), c->from_ns);
	write_u32(d->to, d->pid);
	write_u32(d->to, d->pid);
	write_u64(d->to, start);
	write_u64(d->to, start);
	write_u64(d->to, end - start);
	write_u64(d->to, ++d->index);
	fwrite(name, 1, strlen(name) + 1, d->to);
	fwrite(bytes, 1, end - start, d->to);
}

static void write_loaded_code(void *context, const struct code *c, const void *bytes, uint64_t read_ns)
{
	struct dump *d = context;

	(void)read_ns;
	if (d->r->model->numbered.at[c->process]->pid == d->pid)
		write_load_record(d, c, c->address, c->address + c->bytes, c->name ? c->name : "", bytes);
}

static void write_elf_functions(struct dump *d, const struct code *c)
{
	for (size_t n = 0; n < elf_nr_functions(c->elf); n++) {
		struct elf_function f = elf_get_function(c->elf, n);
		struct code_bytes bytes = { .code = c, .start = f.address, .end = f.address + f.bytes };

		if (f.bytes)
			code_bytes_read(d->r, &bytes, 1);
		write_load_record(d, c, f.address, f.address + f.bytes, f.name, bytes.bytes);
		free(bytes.bytes);
	}
}

/* Return the pid of the process whose code is written. It is that of --process, or else of the first process with generated code, or 0 if
 * there is none. */
static uint32_t find_dumped_process(const struct report *r)
{
	if (r->arguments->has_pid)
		return (uint32_t)r->arguments->pid;
	for (uint32_t i = 0; i < r->model->codes.nr; i++)
		if (r->model->codes.at[i]->kind == CODE_ELF || r->model->codes.at[i]->kind == CODE_LOAD)
			return r->model->numbered.at[r->model->codes.at[i]->process]->pid;
	return 0;
}

static int write_jitdump(struct export *e, FILE *to)
{
	const struct model *m = e->report->model;
	struct dump d = { e->report, to, find_dumped_process(e->report), 0 };

	write_u32(to, MAGIC);
	write_u32(to, 1);
	write_u32(to, 40);
	write_u32(to, EM_X86_64);
	write_u32(to, 0);
	write_u32(to, d.pid);
	write_u64(to, m->begin_ns);
	write_u64(to, 0);
	for (uint32_t i = 0; i < m->codes.nr; i++)
		if (m->codes.at[i]->kind == CODE_ELF && m->numbered.at[m->codes.at[i]->process]->pid == d.pid)
			write_elf_functions(&d, m->codes.at[i]);
	code_bytes_each(e->report, write_loaded_code, &d);
	write_record_prefix(to, JITREG_CLOSE, 0, m->end_ns);
	return d.index ? 0 : -ENODATA;
}

const struct exporter exporter_jitdump = {
	"jitdump", ".dump", "generated code with its lines, for `perf inject --jit`",
	true, prepare_jitdump, write_jitdump, false,
};
