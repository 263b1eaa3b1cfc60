/* SPDX-License-Identifier: MIT */
#include "analyzer/query/warnings.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *kind, *sentence;
} losses[] = {
#define LOSS_(NAME, kind, sentence) { kind, sentence },
	LOSS_REASONS(LOSS_)
#undef LOSS_
};

static void take(struct warnings *w, struct warning x)
{
	for (uint32_t i = 0; i < w->nr; i++)
		if (strcmp(w->list[i].sentence, x.sentence) == 0)
			return;
	w->list[w->nr++] = x;
}

void warnings_make(const struct report *r, struct warnings *w)
{
	const struct model *m = r->model;

	*w = (struct warnings){ .list = calloc((size_t)m->nr_notices + m->nr_losses + 1, sizeof(*w->list)) };
	for (uint32_t i = 0; w->list && i < m->nr_notices; i++)
		take(w, (struct warning){ m->notice[i].kind, m->notice[i].sentence, 0 });
	for (size_t n = 0; w->list && n < sizeof(losses) / sizeof(losses[0]); n++)
		for (uint32_t i = 0; i < m->nr_losses; i++)
			if (strcmp(m->loss[i].kind, losses[n].kind) == 0)
				take(w, (struct warning){ losses[n].kind, losses[n].sentence, m->loss[i].count });
	if (w->list && r->a->bad_blocks)
		take(w, (struct warning){ "blocks", "blocks of samples that could not be decoded", r->a->bad_blocks });
}

void warnings_fini(struct warnings *w)
{
	free(w->list);
}
