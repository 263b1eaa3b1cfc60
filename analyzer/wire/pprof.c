/* SPDX-License-Identifier: MIT */
#include "analyzer/wire/pprof.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/weight_unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* This struct has the state of writing.  more: texts that are not in the table of texts of p, whose numbers follow those of the table. */
struct writing {
	const struct wire_profiles *p;
	uint32_t *mapping; /* by the number of an image's text: id of its mapping; 0: it has none yet */
	uint32_t nr_mappings;
	struct protobuf *to, message, inner;
	ARRAY(char *) more;
};

static uint32_t add_text(struct writing *w, const char *text)
{
	if (!ARRAY_GROW(w->more)) {
		w->to->failed = true;
		return 0;
	}
	w->more.at[w->more.nr] = strdup(text);
	w->to->failed |= !w->more.at[w->more.nr];
	return w->p->texts.nr + ++w->more.nr;
}

static void put_value_type(struct writing *w, unsigned field, uint32_t type, uint32_t unit)
{
	protobuf_put_number(&w->message, 1, type);
	protobuf_put_number(&w->message, 2, unit);
	protobuf_put_message(w->to, field, &w->message);
}

static void put_label(struct writing *w, uint32_t key, uint32_t text)
{
	protobuf_put_number(&w->inner, 1, key);
	protobuf_put_number(&w->inner, 2, text);
	protobuf_put_message(&w->message, 3, &w->inner);
}

static void put_samples(struct writing *w)
{
	const struct wire_profiles *p = w->p;
	uint32_t key_thread = add_text(w, "thread"), key_component = add_text(w, p->component_key ? p->component_key : "component");
	uint32_t *thread = calloc((size_t)p->threads.nr + 1, sizeof(*thread));
	char name[128];

	w->to->failed |= !thread;
	for (uint32_t i = 0; i < p->threads.nr && thread; i++) {
		snprintf(name, sizeof(name), "%.100s %u", wire_text_of(p, p->thread[i].name), p->thread[i].tid);
		thread[i + 1] = add_text(w, name);
	}
	for (uint32_t i = 0; i < p->samples.nr && thread; i++) {
		const struct wire_sample *s = &p->sample[i];

		for (uint32_t at = s->stack; at; at = p->stack[at - 1].caller) /* the innermost one is first */
			protobuf_put_varint(&w->inner, p->stack[at - 1].location);
		protobuf_put_message(&w->message, 1, &w->inner);
		protobuf_put_varint(&w->inner, s->samples);
		protobuf_put_varint(&w->inner, s->weight);
		protobuf_put_message(&w->message, 2, &w->inner);
		if (s->thread)
			put_label(w, key_thread, thread[s->thread]);
		if (s->component)
			put_label(w, key_component, s->component);
		protobuf_put_message(w->to, 2, &w->message);
	}
	free(thread);
}

/*
 * Returns the id of an image's mapping, which is written at the first call. It has no addresses, since locations of a trace have none
 * either. Readers take the names that are there if the mapping says that it has them, instead of looking for the file.
 */
static uint32_t place_of_mapping(struct writing *w, uint32_t image)
{
	enum { ID = 1, FILENAME = 5, HAS_FUNCTIONS = 7, HAS_FILENAMES, HAS_LINE_NUMBERS, HAS_INLINE_FRAMES };

	if (!image || !w->mapping || w->mapping[image])
		return image && w->mapping ? w->mapping[image] : 0;
	protobuf_put_number(&w->message, ID, ++w->nr_mappings);
	protobuf_put_number(&w->message, FILENAME, image);
	for (unsigned has = HAS_FUNCTIONS; has <= HAS_INLINE_FRAMES; has++)
		protobuf_put_number(&w->message, has, 1);
	protobuf_put_message(w->to, 3, &w->message);
	return w->mapping[image] = w->nr_mappings;
}

/* Returns the executable whose processes have the most samples, or 0.  The first process may be the shell that starts the program. */
static uint32_t find_main_executable(const struct wire_profiles *p)
{
	uint64_t *samples = calloc((size_t)p->texts.nr + 1, sizeof(*samples));
	uint32_t most = p->processes.nr ? p->process[0].executable : 0;

	for (uint32_t i = 0; samples && i < p->samples.nr; i++)
		samples[p->process[p->profile[p->sample[i].profile - 1].process - 1].executable] += p->sample[i].samples;
	for (uint32_t i = 0; samples && i < p->processes.nr; i++)
		most = samples[p->process[i].executable] > samples[most] ? p->process[i].executable : most;
	free(samples);
	return most;
}

/* Writes the mapping of the program's executable first, since readers take the first one for the main binary. All its samples may be in
 * libraries. */
static void put_main_mapping(struct writing *w)
{
	place_of_mapping(w, find_main_executable(w->p));
}

static void put_locations_and_functions(struct writing *w)
{
	w->mapping = calloc((size_t)w->p->texts.nr + 1, sizeof(*w->mapping));
	w->to->failed |= !w->mapping;
	put_main_mapping(w);
	for (uint32_t i = 0; i < w->p->locations.nr; i++) {
		uint32_t mapping = place_of_mapping(w, w->p->function[w->p->location[i].function - 1].image);

		protobuf_put_number(&w->inner, 1, w->p->location[i].function);
		protobuf_put_number(&w->inner, 2, w->p->location[i].line);
		protobuf_put_number(&w->message, 1, i + 1u);
		protobuf_put_number(&w->message, 2, mapping);
		protobuf_put_message(&w->message, 4, &w->inner);
		protobuf_put_message(w->to, 4, &w->message);
	}
	for (uint32_t i = 0; i < w->p->functions.nr; i++) {
		const struct wire_function *f = &w->p->function[i];

		protobuf_put_number(&w->message, 1, i + 1u);
		protobuf_put_number(&w->message, 2, f->name);
		protobuf_put_number(&w->message, 3, f->symbol ? f->symbol : f->name);
		protobuf_put_number(&w->message, 4, f->source);
		protobuf_put_number(&w->message, 5, f->start_line);
		protobuf_put_message(w->to, 5, &w->message);
	}
	free(w->mapping);
}

static void put_texts(struct writing *w)
{
	protobuf_put_text(w->to, 6, "");
	for (uint32_t i = 0; i < w->p->texts.nr; i++)
		protobuf_put_text(w->to, 6, w->p->text[i]);
	for (uint32_t i = 0; i < w->more.nr; i++) {
		protobuf_put_text(w->to, 6, w->more.at[i]);
		free(w->more.at[i]);
	}
	free(w->more.at);
}

void pprof_write(const struct wire_profiles *p, struct protobuf *to)
{
	struct writing w = { .p = p, .to = to };
	const struct wire_profile *first = p->profiles.nr ? &p->profile[0] : NULL;
	const char *event_unit = first ? wire_text_of(p, first->unit) : "";
	uint64_t end_ns = 0, begin_ns = UINT64_MAX;
	uint32_t event = first ? first->event : 0, unit;

	for (uint32_t i = 0; i < p->profiles.nr; i++) {
		begin_ns = p->profile[i].begin_ns < begin_ns ? p->profile[i].begin_ns : begin_ns;
		end_ns = p->profile[i].end_ns > end_ns ? p->profile[i].end_ns : end_ns;
	}
	unit = add_text(&w, weight_unit_parse(event_unit) == WEIGHT_NS ? "nanoseconds" : event_unit);
	put_value_type(&w, 1, add_text(&w, "samples"), add_text(&w, "count"));
	put_value_type(&w, 1, event, unit);
	put_samples(&w);
	put_locations_and_functions(&w);
	if (end_ns) {
		protobuf_put_number(to, 9, begin_ns);
		protobuf_put_number(to, 10, end_ns - begin_ns);
	}
	put_value_type(&w, 11, event, unit);
	protobuf_put_number(to, 12, first ? first->period : 0);
	put_texts(&w);
	to->failed |= p->failed | w.message.failed | w.inner.failed;
	protobuf_fini(&w.message);
	protobuf_fini(&w.inner);
}
