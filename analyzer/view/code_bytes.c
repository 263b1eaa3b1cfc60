/* SPDX-License-Identifier: MIT */
#include "code_bytes.h"

#include "intern.h"

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

void code_bytes_each(const struct report *r, void (*take_code)(void *context, const struct code *c, const void *bytes), void *context)
{
	struct trace_record record;
	struct intern by_place = { 0 }; /* (address, since) -> 1 + the latest told object */

	for (uint32_t i = 0; i < r->model->nr_code; i++)
		if (r->model->code[i]->kind == CODE_LOAD)
			intern_set(&by_place, r->model->code[i]->address, r->model->code[i]->from_ns, i + 1);
	trace_rewind(r->reader);
	trace_select(r->reader, 1u << TRACE_CHUNK_RECORDS);
	while (by_place.nr && trace_next(r->reader, &record) == 1) {
		const struct code *c;
		const char *bytes;
		size_t nr_bytes;
		uint32_t i;

		if (record.id != JITREG_LOAD)
			continue;
		i = intern_find(&by_place, trace_u64(&record, F(load, code_addr)),
				record.time_ns == JITREG_TIME_BEFORE ? 0 : record.time_ns);
		c = i ? r->model->code[i - 1] : NULL;
		bytes = trace_bytes(&record, F(load, code), &nr_bytes);
		if (c && c->bytes <= nr_bytes && r->model->numbered[c->process]->pid == record.pid)
			take_code(context, c, bytes);
	}
	trace_select(r->reader, ~0u);
	intern_fini(&by_place);
}

struct taking {
	struct code_bytes *wanted;
	uint32_t nr;
};

static void take_wanted(void *context, const struct code *c, const void *bytes)
{
	struct taking *t = context;

	for (uint32_t i = 0; i < t->nr; i++)
		if (t->wanted[i].code == c)
			take(&t->wanted[i], c->address, bytes, c->bytes);
}

void code_bytes_read(const struct report *r, struct code_bytes *wanted, uint32_t nr)
{
	bool some = false;

	for (uint32_t i = 0; i < nr; i++) {
		if (wanted[i].code->kind == CODE_ELF)
			take_from_elf(&wanted[i]);
		some |= wanted[i].code->kind == CODE_LOAD;
	}
	if (some)
		code_bytes_each(r, take_wanted, &(struct taking){ wanted, nr });
}
