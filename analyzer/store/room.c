/* SPDX-License-Identifier: MIT */
#include "analyzer/store/room.h"

#include "analyzer/store/cap.h"
#include "analyzer/store/names.h"
#include "analyzer/store/pieces.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <stdlib.h>
#include <string.h>

/* Bytes in the file: of a text beside its letters, of a function, of a row in a block. */
#define TEXT_BYTES 40
#define FUNCTION_BYTES 90 /* with its place among samples, and that among code that was generated */
#define ROW_BYTES 5
#define EPOCH_BYTES (24 * STORE_PAGE_BYTES) /* the last pages of tables and indexes, in the file and in the log */

bool room_add(struct room *r, const char *text)
{
	char *copy;

	if (!text || !*text)
		return true;
	copy = strdup(text);
	if (!copy || !GROW(r->text, r->nr, r->capacity)) {
		free(copy);
		return false;
	}
	r->text[r->nr++] = (struct room_text){ copy, (int64_t)hash_text(copy) };
	return true;
}

static int compare_texts(const void *a, const void *b)
{
	const struct room_text *x = a, *y = b;

	return x->hash != y->hash ? (x->hash < y->hash ? -1 : 1) : strcmp(x->text, y->text);
}

/* Those that the store does not have, each once, by their hash.  Returns their bytes. */
static uint64_t keep_new_texts(struct room *r, struct store *s)
{
	uint64_t bytes = 0;
	uint32_t nr = 0;

	if (r->nr)
		qsort(r->text, r->nr, sizeof(*r->text), compare_texts);
	for (uint32_t i = 0; i < r->nr; i++) {
		struct room_text *t = &r->text[i];

		if ((nr && compare_texts(t, &r->text[nr - 1]) == 0) || names_has_text(s, t->text)) {
			free(t->text);
			continue;
		}
		bytes += strlen(t->text) + TEXT_BYTES;
		r->text[nr++] = *t;
	}
	r->nr = nr;
	return bytes;
}

int room_make(struct room *r, struct store *s, uint32_t nr_rows, bool *with_functions, struct diag *d)
{
	uint64_t cap = store_cap(s), text_bytes = keep_new_texts(r, s), log_most = 2 * pieces_log_most(cap, 0), row_bytes, bytes;
	struct pieces p;
	int ret;

	/* Texts are written in pieces, which may take more of the log than they should; then rows into the log, at once, and into the file. */
	row_bytes = (uint64_t)nr_rows * ROW_BYTES + (uint64_t)r->nr * FUNCTION_BYTES;
	bytes = text_bytes + (2 * row_bytes > log_most ? 2 * row_bytes : log_most) + EPOCH_BYTES + cap / 64;
	*with_functions = bytes <= cap / 2;
	ret = cap_keep(s, *with_functions ? bytes : log_most + EPOCH_BYTES, NULL, d);
	if (ret || !*with_functions)
		return ret;
	pieces_init(&p, s, pieces_log_most(cap, 0));
	for (uint32_t i = 0; i < r->nr && pieces_next(&p); i++)
		names_text(s, r->text[i].text);
	pieces_end(&p); /* where a reader is in the way, the others are added with the epoch */
	return store_failed(s, d);
}

void room_fini(struct room *r)
{
	for (uint32_t i = 0; i < r->nr; i++)
		free(r->text[i].text);
	free(r->text);
	memset(r, 0, sizeof(*r));
}
