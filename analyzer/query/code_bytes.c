/* SPDX-License-Identifier: MIT */
#include "analyzer/query/code_bytes.h"

#include "analyzer/model/intern.h"

#include <stdlib.h>
#include <string.h>

static void take(struct code_bytes *w, uint64_t address, const void *bytes, uint64_t nr)
{
	if (w->bytes || !bytes || w->start < address || w->start - address > nr || w->end - w->start > nr - (w->start - address))
		return;
	w->bytes = malloc(w->end - w->start + 1);
	if (w->bytes)
		memcpy(w->bytes, (const unsigned char *)bytes + (w->start - address), w->end - w->start);
}

static void take_from_elf(struct code_bytes *w)
{
	struct elf_section text;

	for (size_t i = 0; elf_get_text(w->code->elf, i, &text); i++)
		take(w, text.address, text.data, text.bytes);
}

/* The object that bytes are of, and they; false: the record has none. */
static bool is_code(const struct trace_record *r, uint64_t *address, uint64_t *loaded_ns, uint64_t *read_ns, const char **bytes, size_t *nr)
{
	bool later = r->id == TRACE_CODE_BYTES;

	if (!later && r->id != JITREG_LOAD)
		return false;
	*address = trace_u64(r, later ? F(code_bytes, address) : F(load, code_addr));
	*loaded_ns = later ? trace_u64(r, F(code_bytes, loaded_ns)) : r->time_ns;
	*read_ns = later ? r->time_ns : 0;
	*bytes = trace_bytes(r, later ? F(code_bytes, code) : F(load, code), nr);
	return *loaded_ns != TRACE_NOT_LOADED;
}

void code_bytes_each(const struct report *r,
		     void (*take_code)(void *context, const struct code *c, const void *bytes, uint64_t read_ns), void *context)
{
	struct trace_record record;
	struct intern by_place = { 0 }; /* (address, since) -> 1 + the latest told object */

	for (uint32_t i = 0; i < r->model->nr_code; i++)
		if (r->model->code[i]->kind == CODE_LOAD)
			intern_set(&by_place, r->model->code[i]->address, r->model->code[i]->from_ns, i + 1);
	trace_rewind(r->reader);
	trace_select(r->reader, 1u << TRACE_CHUNK_RECORDS);
	while (by_place.nr && trace_next(r->reader, &record) == 1) {
		uint64_t address, loaded_ns, read_ns;
		const struct code *c;
		const char *bytes;
		size_t nr_bytes;
		uint32_t i;

		if (!is_code(&record, &address, &loaded_ns, &read_ns, &bytes, &nr_bytes))
			continue;
		i = intern_find(&by_place, address, loaded_ns == JITREG_TIME_BEFORE ? 0 : loaded_ns);
		c = i ? r->model->code[i - 1] : NULL;
		if (c && c->bytes <= nr_bytes && r->model->numbered[c->process]->pid == record.pid)
			take_code(context, c, bytes, read_ns);
	}
	trace_select(r->reader, ~0u);
	intern_fini(&by_place);
}

struct taking {
	struct code_bytes *wanted;
	uint32_t nr;
};

static void take_wanted(void *context, const struct code *c, const void *bytes, uint64_t read_ns)
{
	struct taking *t = context;

	for (uint32_t i = 0; i < t->nr; i++)
		if (t->wanted[i].code == c && !t->wanted[i].bytes) {
			take(&t->wanted[i], c->address, bytes, c->bytes);
			t->wanted[i].read_ns = read_ns;
		}
}

/* Pages of regions, as they were when they were read. */
static void take_pages(const struct report *r, struct code_bytes *wanted, uint32_t nr)
{
	struct trace_record record;

	trace_rewind(r->reader);
	trace_select(r->reader, 1u << TRACE_CHUNK_RECORDS);
	while (trace_next(r->reader, &record) == 1) {
		const char *bytes;
		size_t nr_bytes;

		if (record.id != TRACE_CODE_BYTES || trace_u64(&record, F(code_bytes, loaded_ns)) != TRACE_NOT_LOADED)
			continue;
		bytes = trace_bytes(&record, F(code_bytes, code), &nr_bytes);
		for (uint32_t i = 0; i < nr; i++)
			if (wanted[i].code->kind == CODE_REGION && !wanted[i].bytes &&
			    r->model->numbered[wanted[i].code->process]->pid == record.pid) {
				take(&wanted[i], trace_u64(&record, F(code_bytes, address)), bytes, nr_bytes);
				wanted[i].read_ns = record.time_ns;
			}
	}
	trace_select(r->reader, ~0u);
}

void code_bytes_read(const struct report *r, struct code_bytes *wanted, uint32_t nr)
{
	bool some = false, regions = false;

	for (uint32_t i = 0; i < nr; i++) {
		if (wanted[i].code->kind == CODE_ELF)
			take_from_elf(&wanted[i]);
		some |= wanted[i].code->kind == CODE_LOAD;
		regions |= wanted[i].code->kind == CODE_REGION;
	}
	if (regions)
		take_pages(r, wanted, nr);
	if (some)
		code_bytes_each(r, take_wanted, &(struct taking){ wanted, nr });
}
