/* SPDX-License-Identifier: MIT */
#include "analyzer/wire/profiles.h"

#include "jitreg/base/grow.h"

#include <stdlib.h>
#include <string.h>

/* Returns the number of the entry with two keys in a table, which is added if it is missing. If *is_new is set, the caller must fill in the
 * entry. Returns 0 and sets p->failed if memory runs out. */
static uint32_t entry(struct wire_profiles *p, struct wire_table *t, void **array, size_t each, uint64_t a, uint64_t b, bool *is_new)
{
	uint32_t n = hash_map_find(&t->of, a, b);

	*is_new = !n;
	if (n || p->failed)
		return n;
	if ((t->nr == t->capacity && !grow_array(array, &t->capacity, each)) || !hash_map_set(&t->of, a, b, t->nr + 1)) {
		p->failed = true;
		*is_new = false;
		return 0;
	}
	return ++t->nr;
}
#define ENTRY(p, table, array, a, b, is_new) entry(p, &(p)->table, (void **)&(p)->array, sizeof(*(p)->array), a, b, is_new)

uint32_t wire_text(struct wire_profiles *p, const char *text)
{
	uint64_t hash;
	uint32_t n;
	bool is_new;

	if (!text || !*text)
		return 0;
	hash = hash_text(text);
	for (uint64_t other = 0;; other++) { /* another text may have the same hash, so the second key counts such texts */
		n = ENTRY(p, texts, text, hash, other, &is_new);
		if (is_new) {
			p->text[n - 1] = strdup(text);
			p->failed |= !p->text[n - 1];
		}
		if (p->failed || is_new || strcmp(p->text[n - 1], text) == 0)
			return n;
	}
}

const char *wire_text_of(const struct wire_profiles *p, uint32_t text)
{
	return text && p->text[text - 1] ? p->text[text - 1] : "";
}

static uint64_t both(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

uint32_t wire_stack(struct wire_profiles *p, uint32_t caller, const struct wire_frame *frame)
{
	struct wire_function f = { wire_text(p, frame->name), wire_text(p, frame->symbol), wire_text(p, frame->image),
				   wire_text(p, frame->source), frame->start_line };
	uint32_t function, location, stack;
	bool is_new;

	function = ENTRY(p, functions, function, both(f.name, f.symbol), both(f.image, f.source), &is_new);
	if (is_new)
		p->function[function - 1] = f;
	else if (function && !p->function[function - 1].start_line)
		p->function[function - 1].start_line = f.start_line;
	location = ENTRY(p, locations, location, both(function, frame->line), frame->kind, &is_new);
	if (is_new)
		p->location[location - 1] = (struct wire_location){ function, frame->line, frame->kind };
	stack = ENTRY(p, stacks, stack, caller, location, &is_new);
	if (is_new)
		p->stack[stack - 1] = (struct wire_stack){ caller, location };
	return stack;
}

uint32_t wire_process(struct wire_profiles *p, const char *service, const char *name, const char *executable, const char *host,
		      uint32_t pid)
{
	struct wire_process x = { wire_text(p, service), wire_text(p, name), wire_text(p, executable), wire_text(p, host), pid };
	bool is_new;
	uint32_t n = ENTRY(p, processes, process, both(x.service, x.executable), both(x.host, x.pid), &is_new);

	if (is_new)
		p->process[n - 1] = x;
	return n;
}

uint32_t wire_thread(struct wire_profiles *p, const char *name, uint32_t tid)
{
	uint32_t of_name = wire_text(p, name), n;
	bool is_new;

	n = ENTRY(p, threads, thread, of_name, tid, &is_new);
	if (is_new)
		p->thread[n - 1] = (struct wire_thread){ of_name, tid };
	return n;
}

uint32_t wire_profile(struct wire_profiles *p, const struct wire_profile *profile, const char *event, const char *unit)
{
	uint32_t of_event = wire_text(p, event), of_unit = wire_text(p, unit), n;
	bool is_new;

	n = ENTRY(p, profiles, profile, both(profile->process, of_event), profile->begin_ns, &is_new);
	if (is_new) {
		p->profile[n - 1] = *profile;
		p->profile[n - 1].event = of_event;
		p->profile[n - 1].unit = of_unit;
	}
	return n;
}

void wire_sample(struct wire_profiles *p, const struct wire_sample *sample)
{
	bool is_new;
	uint32_t n = ENTRY(p, samples, sample, both(sample->profile, sample->stack),
			   both(sample->thread, sample->component), &is_new);

	if (is_new) {
		p->sample[n - 1] = *sample;
	} else if (n) {
		p->sample[n - 1].samples += sample->samples;
		p->sample[n - 1].weight += sample->weight;
	}
}

void wire_fini(struct wire_profiles *p)
{
	struct wire_table *tables[] = { &p->texts, &p->functions, &p->locations, &p->stacks, &p->processes,
				       &p->threads, &p->profiles, &p->samples };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		hash_map_fini(&tables[i]->of);
	for (uint32_t i = 0; i < p->texts.nr; i++)
		free(p->text[i]);
	free(p->text);
	free(p->function);
	free(p->location);
	free(p->stack);
	free(p->process);
	free(p->thread);
	free(p->profile);
	free(p->sample);
	memset(p, 0, sizeof(*p));
}
