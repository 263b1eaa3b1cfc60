/* SPDX-License-Identifier: MIT */
#include "code_bytes.h"

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

void code_bytes_read(const struct report *r, struct code_bytes *wanted, uint32_t nr)
{
	struct trace_record record;
	bool some = false;

	for (uint32_t i = 0; i < nr; i++) {
		if (wanted[i].code->kind == CODE_ELF)
			take_from_elf(&wanted[i]);
		some |= wanted[i].code->kind == CODE_LOAD;
	}
	if (!some)
		return;
	trace_rewind(r->reader);
	trace_select(r->reader, 1u << TRACE_CHUNK_RECORDS);
	while (trace_next(r->reader, &record) == 1) {
		uint64_t address, from_ns = record.time_ns == JITREG_TIME_BEFORE ? 0 : record.time_ns;
		const char *bytes;
		size_t nr_bytes;

		if (record.id != JITREG_LOAD)
			continue;
		address = trace_u64(&record, F(load, code_addr));
		bytes = trace_bytes(&record, F(load, code), &nr_bytes);
		for (uint32_t i = 0; i < nr; i++) {
			const struct code *c = wanted[i].code;

			if (c->kind == CODE_LOAD && c->address == address && c->from_ns == from_ns && c->bytes <= nr_bytes &&
			    r->model->numbered[c->process]->pid == record.pid)
				take(&wanted[i], address, bytes, c->bytes);
		}
	}
	trace_select(r->reader, ~0u);
}
