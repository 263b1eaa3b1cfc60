/* SPDX-License-Identifier: MIT */
/*
 * Writes an export request with a resource per process, which has the process's profiles, one per event and beginning. A sample has one
 * value (receivers refuse more), which is in nanoseconds for clocks and waits, and a number of events otherwise. Components and queries are
 * frames of the stack, because every viewer shows frames. The attribute profile.frame.type names the kind of a frame. Attributes of
 * resources have their keys and texts in them, because receivers ignore references to the table of texts there. Each location has a line,
 * since a receiver regards a mapping as unsymbolized if one of its locations has no line.
 */
#include "analyzer/wire/otlp.h"

#include "analyzer/wire/otlp_fields.h"
#include "jitreg/base/weight_unit.h"

#include <stdlib.h>
#include <string.h>

#define FIELD(message, field) OTLP_##message##_##field

static const char *const kinds[NR_WIRE_KINDS] = { [WIRE_NATIVE] = "native",	   [WIRE_KERNEL] = "kernel",
						  [WIRE_GENERATED] = "tailor.jit", [WIRE_COMPONENT] = "tailor.operator",
						  [WIRE_QUERY] = "tailor.query",   [WIRE_UNKNOWN] = "tailor.unknown" };

/* This struct has the state of writing.  Entries of the request's dictionary are written when they are first referred to, so that none is
 * unused.  The arrays text, mapping, location, stack and thread_name have the index of each entry in the dictionary, or 0 if it was not
 * written yet. */
struct writing {
	struct wire_profiles *p;
	struct protobuf *to;
	struct protobuf dictionary, resource, scope, profile, entry, inner, value; /* messages that are being made, outer ones first */
	uint32_t *text, *mapping, *location, *stack, *thread_name;
	/* lists of the samples of each profile: first[profile] and next[sample] are 1 + the index of a sample, or 0 */
	uint32_t *first, *next;
	struct hash_map functions, thread_ids;
	uint32_t nr_texts, nr_mappings, nr_functions, nr_locations, nr_stacks, nr_attributes;
	uint32_t key_kind, key_thread, key_tid, nanoseconds, count, cpu, off_cpu; /* numbers of texts */
	uint32_t kind[NR_WIRE_KINDS];
};

/* ------------------------------------------------------------------------------------------------------- dictionary */

static uint32_t place_of_text(struct writing *w, uint32_t text)
{
	if (!text || w->text[text])
		return text ? w->text[text] : 0;
	protobuf_put_text(&w->dictionary, FIELD(ProfilesDictionary, string_table), wire_text_of(w->p, text));
	return w->text[text] = ++w->nr_texts;
}

static uint32_t place_of_mapping(struct writing *w, uint32_t image)
{
	if (!image || w->mapping[image])
		return image ? w->mapping[image] : 0;
	protobuf_put_number(&w->entry, FIELD(Mapping, filename_strindex), place_of_text(w, image));
	protobuf_put_message(&w->dictionary, FIELD(ProfilesDictionary, mapping_table), &w->entry);
	return w->mapping[image] = ++w->nr_mappings;
}

/* Returns the index of a function in the dictionary.  Functions that differ only in their images have one entry, since in OTLP images
 * belong to locations. */
static uint32_t place_of_function(struct writing *w, uint32_t function)
{
	const struct wire_function *f = &w->p->function[function - 1];
	uint64_t name = (uint64_t)f->name << 32 | f->symbol;
	uint32_t n = hash_map_find(&w->functions, name, f->source);

	if (n)
		return n;
	protobuf_put_number(&w->entry, FIELD(Function, name_strindex), place_of_text(w, f->name));
	protobuf_put_number(&w->entry, FIELD(Function, system_name_strindex), place_of_text(w, f->symbol));
	protobuf_put_number(&w->entry, FIELD(Function, filename_strindex), place_of_text(w, f->source));
	protobuf_put_number(&w->entry, FIELD(Function, start_line), f->start_line);
	protobuf_put_message(&w->dictionary, FIELD(ProfilesDictionary, function_table), &w->entry);
	w->to->failed |= !hash_map_set(&w->functions, name, f->source, ++w->nr_functions);
	return w->nr_functions;
}

/* Add an attribute with a text, or with a number if text is NULL.  Returns its index in the dictionary. */
static uint32_t add_attribute(struct writing *w, uint32_t key, const char *text, uint64_t number)
{
	if (text) {
		protobuf_put_text(&w->value, FIELD(AnyValue, string_value), text);
	} else {
		protobuf_put_varint(&w->value, FIELD(AnyValue, int_value) << 3); /* not by protobuf_put_number(), which leaves out 0 */
		protobuf_put_varint(&w->value, number);
	}
	protobuf_put_number(&w->entry, FIELD(KeyValueAndUnit, key_strindex), place_of_text(w, key));
	protobuf_put_message(&w->entry, FIELD(KeyValueAndUnit, value), &w->value);
	protobuf_put_message(&w->dictionary, FIELD(ProfilesDictionary, attribute_table), &w->entry);
	return ++w->nr_attributes;
}

static uint32_t place_of_location(struct writing *w, uint32_t location)
{
	const struct wire_location *l = &w->p->location[location - 1];
	uint32_t function, mapping;

	if (w->location[location])
		return w->location[location];
	function = place_of_function(w, l->function);
	mapping = place_of_mapping(w, w->p->function[l->function - 1].image);
	if (!w->kind[l->kind])
		w->kind[l->kind] = add_attribute(w, w->key_kind, kinds[l->kind], 0);
	protobuf_put_number(&w->entry, FIELD(Location, mapping_index), mapping);
	protobuf_put_number(&w->inner, FIELD(Line, function_index), function);
	protobuf_put_number(&w->inner, FIELD(Line, line), l->line);
	protobuf_put_message(&w->entry, FIELD(Location, lines), &w->inner);
	protobuf_put_varint(&w->inner, w->kind[l->kind]);
	protobuf_put_message(&w->entry, FIELD(Location, attribute_indices), &w->inner);
	protobuf_put_message(&w->dictionary, FIELD(ProfilesDictionary, location_table), &w->entry);
	return w->location[location] = ++w->nr_locations;
}

static uint32_t place_of_stack(struct writing *w, uint32_t stack)
{
	if (!stack || w->stack[stack])
		return stack ? w->stack[stack] : 0;
	for (uint32_t at = stack; at; at = w->p->stack[at - 1].caller)
		place_of_location(w, w->p->stack[at - 1].location);
	for (uint32_t at = stack; at; at = w->p->stack[at - 1].caller) /* the innermost one is first */
		protobuf_put_varint(&w->inner, place_of_location(w, w->p->stack[at - 1].location));
	protobuf_put_message(&w->entry, FIELD(Stack, location_indices), &w->inner);
	protobuf_put_message(&w->dictionary, FIELD(ProfilesDictionary, stack_table), &w->entry);
	return w->stack[stack] = ++w->nr_stacks;
}

/* Append the indices of two attributes, the thread's name and its number, as packed numbers. */
static void place_thread(struct writing *w, uint32_t thread, struct protobuf *to)
{
	const struct wire_thread *t = &w->p->thread[thread - 1];
	uint32_t id = hash_map_find(&w->thread_ids, t->tid, 0);

	if (!id) {
		id = add_attribute(w, w->key_tid, NULL, t->tid);
		w->to->failed |= !hash_map_set(&w->thread_ids, t->tid, 0, id);
	}
	if (!w->thread_name[t->name])
		w->thread_name[t->name] = add_attribute(w, w->key_thread, wire_text_of(w->p, t->name), 0);
	protobuf_put_varint(to, w->thread_name[t->name]);
	protobuf_put_varint(to, id);
}

/* Entry 0 of each table is empty, so that index 0 means none. */
static void put_first_entries(struct writing *w)
{
	static const enum otlp_field tables[] = { FIELD(ProfilesDictionary, mapping_table), FIELD(ProfilesDictionary, location_table),
						  FIELD(ProfilesDictionary, function_table), FIELD(ProfilesDictionary, link_table),
						  FIELD(ProfilesDictionary, string_table), FIELD(ProfilesDictionary, attribute_table),
						  FIELD(ProfilesDictionary, stack_table) };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		protobuf_put_bytes(&w->dictionary, tables[i], NULL, 0);
}

/* ---------------------------------------------------------------------------------------------------------- profiles */

static void put_value_type(struct writing *w, unsigned field, uint32_t type, uint32_t unit)
{
	protobuf_put_number(&w->entry, FIELD(ValueType, type_strindex), place_of_text(w, type));
	protobuf_put_number(&w->entry, FIELD(ValueType, unit_strindex), place_of_text(w, unit));
	protobuf_put_message(&w->profile, field, &w->entry);
}

static void put_sample(struct writing *w, const struct wire_sample *s)
{
	struct protobuf sample = { 0 };
	uint32_t stack = place_of_stack(w, s->stack);

	protobuf_put_number(&sample, FIELD(Sample, stack_index), stack);
	if (s->thread) {
		place_thread(w, s->thread, &w->inner);
		protobuf_put_message(&sample, FIELD(Sample, attribute_indices), &w->inner);
	}
	protobuf_put_varint(&w->inner, s->weight);
	protobuf_put_message(&sample, FIELD(Sample, values), &w->inner);
	protobuf_put_message(&w->profile, FIELD(Profile, samples), &sample);
	protobuf_fini(&sample);
}

/* Write the profile's identifier of 16 bytes.  It is a hash of what identifies the profile, so it is the same in each export, and receivers
 * can recognise repeated ones. */
static void put_profile_id(struct writing *w, const struct wire_profile *x)
{
	const struct wire_process *process = &w->p->process[x->process - 1];
	uint64_t id[6] = { x->recording,
			   x->number | (uint64_t)x->part << 32,
			   x->begin_ns,
			   process->pid,
			   hash_text(wire_text_of(w->p, process->host)) ^ hash_text(wire_text_of(w->p, x->event)),
			   (hash_text(wire_text_of(w->p, process->executable)) * 3 ^ hash_text(wire_text_of(w->p, process->name))) * 3 ^
				   hash_text(wire_text_of(w->p, process->service)) };
	uint64_t halves[2] = { hash_bytes(id, sizeof(id)), 0 };

	id[0] ^= 0x9e3779b97f4a7c15;
	halves[1] = hash_bytes(id, sizeof(id));
	protobuf_put_bytes(&w->profile, FIELD(Profile, profile_id), halves, sizeof(halves));
}

static bool is_wait(enum weight_unit unit)
{
	return unit == WEIGHT_NS_WAITING || unit == WEIGHT_NS_PREEMPTED || unit == WEIGHT_NS_IN_RUN_QUEUE;
}

/* Writes the types of values and the period. Receivers know the types cpu and off_cpu in nanoseconds, which are used for clocks and for
 * the time that threads waited. Other events and waits have their own names. Without a fixed period, the mean weight of a sample, at least
 * 1, is written. */
static void put_types(struct writing *w, const struct wire_profile *x, double samples, double weight)
{
	const enum weight_unit unit = weight_unit_parse(wire_text_of(w->p, x->unit));
	bool is_time = unit == WEIGHT_NS || is_wait(unit);
	uint32_t type = unit == WEIGHT_NS ? w->cpu : unit == WEIGHT_NS_WAITING ? w->off_cpu : x->event;
	uint64_t period = x->period ? x->period : samples > 0 && weight > samples ? (uint64_t)(weight / samples + 0.5) : 1;

	put_value_type(w, FIELD(Profile, sample_type), type, is_time ? w->nanoseconds : w->count);
	if (is_wait(unit))
		return; /* waits have no period, since each one is measured */
	put_value_type(w, FIELD(Profile, period_type), type, is_time ? w->nanoseconds : w->count);
	protobuf_put_number(&w->profile, FIELD(Profile, period), period);
}

static void put_profile(struct writing *w, uint32_t profile)
{
	const struct wire_profile *x = &w->p->profile[profile];
	double samples = 0, weight = 0;

	for (uint32_t i = w->first[profile]; i; i = w->next[i - 1]) {
		const struct wire_sample *s = &w->p->sample[i - 1];

		if (!s->weight)
			continue;
		samples += (double)s->samples;
		weight += (double)s->weight;
		put_sample(w, s);
	}
	put_types(w, x, samples, weight);
	protobuf_put_fixed64(&w->profile, FIELD(Profile, time_unix_nano), x->begin_ns);
	protobuf_put_number(&w->profile, FIELD(Profile, duration_nano), x->end_ns > x->begin_ns ? x->end_ns - x->begin_ns : 0);
	put_profile_id(w, x);
	protobuf_put_message(&w->scope, FIELD(ScopeProfiles, profiles), &w->profile);
}

/* --------------------------------------------------------------------------------------------------------- resources */

static void put_resource_attribute(struct writing *w, const char *key, const char *text, uint64_t number)
{
	if (text && !*text)
		return;
	if (text)
		protobuf_put_text(&w->value, FIELD(AnyValue, string_value), text);
	else
		protobuf_put_number(&w->value, FIELD(AnyValue, int_value), number);
	protobuf_put_text(&w->entry, FIELD(KeyValue, key), key);
	protobuf_put_message(&w->entry, FIELD(KeyValue, value), &w->value);
	protobuf_put_message(&w->inner, FIELD(Resource, attributes), &w->entry);
}

static void put_process(struct writing *w, uint32_t process)
{
	const struct wire_process *x = &w->p->process[process];
	const char *service = wire_text_of(w->p, x->service), *name = wire_text_of(w->p, x->name);

	put_resource_attribute(w, "service.name", *service ? service : *name ? name : "unknown_service", 0);
	put_resource_attribute(w, "process.executable.name", name, 0);
	put_resource_attribute(w, "process.executable.path", wire_text_of(w->p, x->executable), 0);
	put_resource_attribute(w, "host.name", wire_text_of(w->p, x->host), 0);
	if (x->pid)
		put_resource_attribute(w, "process.pid", NULL, x->pid);
	protobuf_put_message(&w->resource, FIELD(ResourceProfiles, resource), &w->inner);

	protobuf_put_text(&w->inner, FIELD(InstrumentationScope, name), "tailor");
	protobuf_put_text(&w->inner, FIELD(InstrumentationScope, version), TAILOR_VERSION);
	protobuf_put_message(&w->scope, FIELD(ScopeProfiles, scope), &w->inner);
	for (uint32_t i = 0; i < w->p->profiles.nr; i++)
		if (w->p->profile[i].process == process + 1)
			put_profile(w, i);
	protobuf_put_message(&w->resource, FIELD(ResourceProfiles, scope_profiles), &w->scope);
	protobuf_put_message(w->to, FIELD(ExportProfilesServiceRequest, resource_profiles), &w->resource);
}

static uint32_t *numbers(struct writing *w, uint32_t nr)
{
	uint32_t *array = calloc((size_t)nr + 1, sizeof(*array));

	w->to->failed |= !array;
	return array;
}

static void list_samples(struct writing *w)
{
	for (uint32_t i = w->p->samples.nr; i > 0; i--) {
		uint32_t profile = w->p->sample[i - 1].profile - 1;

		w->next[i - 1] = w->first[profile];
		w->first[profile] = i;
	}
}

void otlp_write(struct wire_profiles *p, struct protobuf *to)
{
	struct writing w = { .p = p, .to = to };
	struct protobuf *parts[] = { &w.dictionary, &w.resource, &w.scope, &w.profile, &w.entry, &w.inner, &w.value };

	w.key_kind = wire_text(p, "profile.frame.type");
	w.key_thread = wire_text(p, "thread.name");
	w.key_tid = wire_text(p, "thread.id");
	w.nanoseconds = wire_text(p, "nanoseconds");
	w.count = wire_text(p, "count");
	w.cpu = wire_text(p, "cpu");
	w.off_cpu = wire_text(p, "off_cpu");
	w.text = numbers(&w, p->texts.nr);
	w.mapping = numbers(&w, p->texts.nr);
	w.location = numbers(&w, p->locations.nr);
	w.stack = numbers(&w, p->stacks.nr);
	w.thread_name = numbers(&w, p->texts.nr);
	w.first = numbers(&w, p->profiles.nr);
	w.next = numbers(&w, p->samples.nr);
	to->failed |= p->failed;
	if (!to->failed) {
		put_first_entries(&w);
		list_samples(&w);
		for (uint32_t i = 0; i < p->processes.nr; i++)
			put_process(&w, i);
		protobuf_put_message(to, FIELD(ExportProfilesServiceRequest, dictionary), &w.dictionary);
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		to->failed |= parts[i]->failed;
		protobuf_fini(parts[i]);
	}
	free(w.text);
	free(w.mapping);
	free(w.location);
	free(w.stack);
	free(w.thread_name);
	free(w.first);
	free(w.next);
	hash_map_fini(&w.functions);
	hash_map_fini(&w.thread_ids);
}
