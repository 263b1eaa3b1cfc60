/* SPDX-License-Identifier: MIT */
#include "analyzer/check/samples.h"

#define ANCESTORS_MAX 64
#define MARKS_BACK 64u
enum { MISSING, OTHER };

/* Return the component of the innermost mark around a time that has a component, among the innermost MARKS_BACK marks. Only marks that
 * cover threads or tasks count. Return COMPONENT_NONE if there is none. */
static uint32_t marked_component(const struct sample_tags *t, const struct process *p, uint32_t tid, uint64_t time_ns)
{
	const struct model *m = t->check->m;
	uint64_t until_ns = UINT64_MAX;
	const struct mark_piece *x = model_find_mark_piece(m, p, tid, time_ns, &until_ns);

	for (uint32_t back = 0; x && back < MARKS_BACK; back++) {
		if (m->marks.at[x->mark].component && x->to_ns > time_ns)
			return m->marks.at[x->mark].component;
		x = x->outer ? &m->marks.pieces.at[x->outer - 1] : NULL;
	}
	return COMPONENT_NONE;
}

void sample_tags_init(struct sample_tags *t, struct check *c, const struct sample_world *w, uint32_t plan_level)
{
	const struct model *m = c->m;

	*t = (struct sample_tags){ .check = c, .with_tags = *w, .by_stack = *w, .plan_level = plan_level };
	t->by_stack.stack_only = true;
	for (uint32_t i = 0; i < m->dictionary.edges.nr; i++)
		t->has_edges[m->dictionary.components.at[m->dictionary.edges.at[i].from].level] = true;
}

void sample_tags_fini(struct sample_tags *t)
{
	pair_sums_fini(&t->calls);
	pair_sums_fini(&t->ids);
	pair_sums_fini(&t->tasks);
}

/* -------------------------------------------------------------------------------------------------------------- samples */

static bool tag_is_preserved_at(const struct tag *t, uint64_t address)
{
	for (uint32_t i = 0; i < t->nr_preserving_ranges; i++)
		if (address - t->preserving_range[i].start < t->preserving_range[i].end - t->preserving_range[i].start)
			return true;
	return false;
}

static uint64_t tag_field_id(const struct tag *t, uint32_t field, uint64_t value)
{
	uint64_t id = value >> t->field[field].shift;

	return t->field[field].bits < 64 ? id & ((1ull << t->field[field].bits) - 1) : id;
}

static bool component_is_announced(const struct sample_tags *t, const struct process *p, uint32_t level, uint64_t id)
{
	for (int i = 0; p && i < ANCESTORS_MAX; i++, p = p->parent)
		if (dictionary_find_component(&t->check->m->dictionary, p->number, level, id))
			return true;
	return false;
}

/* Count the ids in a tag that name no component. The caller has found the check bits of the tag right. Return true if there is such an
 * id. */
static bool count_unknown_tag_ids(struct sample_tags *t, const struct tag *tag, const struct process *p, uint64_t value)
{
	bool unknown = false;

	for (uint32_t i = 0; i < tag->nr_fields; i++) {
		uint64_t id = tag_field_id(tag, i, value);
		struct pair_sum *of;

		if (!id || component_is_announced(t, p, tag->field[i].level, id))
			continue;
		unknown = true;
		of = pair_sums_get(&t->ids, id, (uint64_t)p->number << 32 | tag->field[i].level);
		if (of)
			of->samples++;
		t->failed |= !of;
	}
	return unknown;
}

static bool expansion_has_component(const struct expansion *e, uint32_t level, uint32_t component)
{
	for (uint32_t i = 0; i < e->nr; i++)
		if (component ? e->row[i].component[level] == component : e->row[i].component[level] != COMPONENT_NONE)
			return true;
	return false;
}

/* Return whether both have components of the level, but none in common. */
static bool expansions_disagree(const struct expansion *a, const struct expansion *b, uint32_t level)
{
	if (!expansion_has_component(a, level, COMPONENT_NONE) || !expansion_has_component(b, level, COMPONENT_NONE))
		return false;
	for (uint32_t i = 0; i < a->nr; i++)
		if (a->row[i].component[level] && expansion_has_component(b, level, a->row[i].component[level]))
			return false;
	return true;
}

/*
 * Compare the tag with the generated code that called the shared code, which the call stack shows. If there is a plan, only its level
 * counts, because shared code may set a tag of its own for a part of the same operator. Without a plan, the levels of the tag's fields
 * count.
 */
static void compare_tag_with_stack(struct sample_tags *t, const struct sample *s, const struct tag *tag, const struct sample_answer *by_tag,
				   const struct sample_answer *by_stack)
{
	const struct dictionary *d = &t->check->m->dictionary;
	struct expansion tags, calls;
	bool missing = by_tag->method != METHOD_TAG, could = false, other = t->plan_level != LEVELS_MAX;
	struct pair_sum *site;

	sample_expand_components(d, &by_stack->deciding, s->time_ns, &calls);
	for (uint32_t i = 0; i < tag->nr_fields; i++)
		could |= expansion_has_component(&calls, tag->field[i].level, COMPONENT_NONE);
	if (!could)
		return;
	if (!missing) {
		sample_expand_components(d, &by_tag->deciding, s->time_ns, &tags);
		if (other)
			other = expansions_disagree(&tags, &calls, t->plan_level);
		for (uint32_t i = 0; t->plan_level == LEVELS_MAX && i < tag->nr_fields; i++)
			other |= expansions_disagree(&tags, &calls, tag->field[i].level);
	}
	site = pair_sums_get(&t->calls, by_stack->deciding.component[0], by_stack->caller_function);
	if (!site) {
		t->failed = true;
		return;
	}
	site->samples++;
	site->wrong[MISSING] += missing;
	site->wrong[OTHER] += !missing && other;
	if (!missing && other)
		site->example = by_tag->deciding.component[0];
}

/* Compare the tag with the component of the mark around the sample. On levels with edges this is not done, because one of the two
 * components may be a part of the other. */
static void compare_tag_with_mark(struct sample_tags *t, const struct sample *s, const struct process *p,
				  const struct sample_answer *by_tag)
{
	const struct dictionary *d = &t->check->m->dictionary;
	uint32_t marked = marked_component(t, p, s->tid, s->time_ns);
	uint32_t level = marked ? d->components.at[marked].level : LEVELS_MAX;

	for (uint32_t i = 0; marked && !t->has_edges[level] && i < by_tag->deciding.nr; i++) {
		uint32_t component = by_tag->deciding.component[i];
		struct pair_sum *task;

		if (d->components.at[component].level != level)
			continue;
		task = pair_sums_get(&t->tasks, marked, 0);
		if (!task) {
			t->failed = true;
			return;
		}
		task->samples++;
		task->wrong[OTHER] += component != marked;
		if (component != marked)
			task->example = component;
	}
}

/* Read the value of the tag's register or word. Return false if it is not known. A register counts only in code that preserves it. */
static bool read_tag_value(const struct tag *tag, const struct sample *s, uint64_t *value)
{
	if (tag->where == JITREG_TAG_MEMORY) {
		*value = s->tag_word;
		return s->has_tag_word;
	}
	if (!tag_is_preserved_at(tag, s->user_ip) || !(s->input.registers.known & (1u << tag->where)))
		return false;
	*value = s->input.registers.value[tag->where];
	return true;
}

/*
 * Count calls without a tag from generated code that preserves the tag's register to code that does not, where the sample is. The frame of
 * the generated code has no tag, or one without a component, and no other frame of the stack decides. An unknown id in the tag is counted
 * instead.
 */
static void check_untagged_frame(struct sample_tags *t, const struct sample *s, const struct process *p, const struct sample_place *at,
				 const struct tag *tag)
{
	struct sample_answer by_tag;
	const struct location *l;
	struct pair_sum *site;

	sample_decide_components(&t->with_tags, s, p, at, &by_tag);
	if (by_tag.method != METHOD_NONE || !by_tag.untagged)
		return;
	l = &t->with_tags.locator->location[by_tag.untagged - 1];
	if (!l->jit)
		return;
	if ((by_tag.untagged_value & tag->check_mask) == tag->check_value && t->check->heard_all &&
	    count_unknown_tag_ids(t, tag, p, by_tag.untagged_value))
		return;
	site = pair_sums_get(&t->calls, COMPONENT_NONE, l->function);
	if (!site) {
		t->failed = true;
		return;
	}
	site->samples++;
	site->wrong[MISSING]++;
}

void sample_tags_check_sample(struct sample_tags *t, const struct sample *s, const struct process *p, const struct sample_place *at)
{
	const struct tag *tag = model_find_tag(p, s->time_ns);
	struct sample_answer by_tag, by_stack;
	uint64_t value;
	bool in_word;

	if (!tag || !check_is_sound_tag(t->check, tag))
		return;
	if (!read_tag_value(tag, s, &value)) {
		if (tag->where != JITREG_TAG_MEMORY)
			check_untagged_frame(t, s, p, at, tag);
		return;
	}
	in_word = tag->where == JITREG_TAG_MEMORY;
	sample_decide_components(&t->by_stack, s, p, at, &by_stack);
	if (by_stack.method == METHOD_IP) /* generated code that belongs to a component itself needs no tag */
		return;
	if ((value & tag->check_mask) == tag->check_value && t->check->heard_all && (in_word || by_stack.method == METHOD_STACK) &&
	    count_unknown_tag_ids(t, tag, p, value))
		return;
	sample_decide_components(&t->with_tags, s, p, at, &by_tag);
	if (by_tag.method == METHOD_TAG)
		compare_tag_with_mark(t, s, p, &by_tag);
	/* If the tag's word has no tag, a call from generated code is no mistake, because the call stack decides then, as in libc. */
	if (by_stack.method == METHOD_STACK && by_stack.deciding.nr && (!in_word || by_tag.method == METHOD_TAG))
		compare_tag_with_stack(t, s, tag, &by_tag, &by_stack);
}

/* --------------------------------------------------------------------------------------------------------- what was found */

static void report_wrong_call_tags(struct sample_tags *t, double each)
{
	const struct attribution *a = t->by_stack.locator->a;
	struct check *c = t->check;
	char x[CHECK_NAME], y[CHECK_NAME];

	for (uint32_t i = 0; i < t->calls.nr; i++) {
		const struct pair_sum *site = &t->calls.at[i];
		const char *function = a->function[site->b].name;

		/* Only what holds for nine of ten samples is reported, because calls that an optimizer merged belong to several components,
		 * and may have the tag of either. */
		if (site->samples < SITE_SAMPLES)
			continue;
		if (site->wrong[MISSING] * 10 >= site->samples * 9)
			FOUND(c, FINDING_TAG_MISSING, (double)site->wrong[MISSING] * each, "%s%scalled in %.50s",
			      site->a ? check_component_name(c, (uint32_t)site->a, x) : "", site->a ? ", " : "", function);
		else if (site->wrong[OTHER] * 10 >= site->samples * 9)
			FOUND(c, FINDING_TAG_OTHER, (double)site->wrong[OTHER] * each, "%s in %.30s has the tag of %s",
			      check_component_name(c, (uint32_t)site->a, x), function, check_component_name(c, (uint32_t)site->example, y));
	}
}

void sample_tags_report(struct sample_tags *t, double each)
{
	struct check *c = t->check;
	char x[CHECK_NAME], y[CHECK_NAME];

	report_wrong_call_tags(t, each);
	for (uint32_t i = 0; i < t->ids.nr; i++)
		FOUND(c, FINDING_TAG_ID, (double)t->ids.at[i].samples * each, "%s %llu, process %u",
		      check_level_name(c, (uint32_t)t->ids.at[i].b), (unsigned long long)t->ids.at[i].a,
		      check_pid(c, (uint32_t)(t->ids.at[i].b >> 32)));
	for (uint32_t i = 0; i < t->tasks.nr; i++) {
		const struct pair_sum *task = &t->tasks.at[i];

		if (task->samples >= SITE_SAMPLES && task->wrong[OTHER] * 2 >= task->samples)
			FOUND(c, FINDING_TAG_TASK, (double)task->wrong[OTHER] * each, "%s runs with the tag of %s",
			      check_component_name(c, (uint32_t)task->a, x), check_component_name(c, (uint32_t)task->example, y));
	}
}
