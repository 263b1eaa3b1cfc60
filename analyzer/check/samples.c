/* SPDX-License-Identifier: MIT */
#include "analyzer/check/samples.h"

#include "jitreg/trace/sample_stream.h"
#include "jitreg/trace/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_MOST 400000u /* maximum number of samples that are checked; if there are more, one in 2, 3, ... is */
#define PAGE_BITS 12

enum { SPEAKS = 1, KNOWS_START = 2, ASKED = 4 };

struct samples {
	struct check *check;
	struct attribution a; /* a separate attribution, which numbers functions and lines for these checks alone */
	struct locator locator;
	struct sample_world world;
	struct sample_tags tags;
	struct pair_sums pages; /* sums by (page, process); wrong[0]: samples in unregistered code; wrong[1]: in code after its unload */
	/* samples by (line, process); wrong[0] is 1 if the line is behind the end of its text, wrong[1] is 1 if it has no text */
	struct pair_sums lines;
	struct pair_sums late;  /* samples by (component, 0) from before the component was linked */
	struct pair_sums costs; /* samples by (process, 0); wrong[0]: those in the agent */
	/* flags of each process, which are computed when they are needed: SPEAKS (has host data), KNOWS_START (was recorded from its
	 * start), ASKED (the flags are known) */
	unsigned char *about;
	uint32_t nr_about;
	bool failed;
};

static unsigned char process_facts(struct samples *s, const struct process *p)
{
	if (p->number >= s->nr_about) {
		uint32_t nr = s->check->m->processes.nr;
		unsigned char *bigger = p->number < nr ? realloc(s->about, nr) : NULL;

		if (!bigger) {
			s->failed = true;
			return 0;
		}
		memset(bigger + s->nr_about, 0, nr - s->nr_about);
		s->about = bigger;
		s->nr_about = nr;
	}
	if (!s->about[p->number])
		s->about[p->number] =
			(unsigned char)(ASKED | (check_has_host_data(p) ? SPEAKS : 0) | (check_saw_process_start(p) ? KNOWS_START : 0));
	return s->about[p->number];
}

/* Return whether registered code at the sample's address was unloaded, and there is no newer code since. */
static bool sample_is_in_unloaded_code(const struct process *p, const struct sample *s, const struct code *now)
{
	const struct code_fact *free = code_map_ask(&p->code, s->user_ip, s->time_ns).fact, *before;
	const struct code *code;

	if (!free || free->owner || !free->from_ns || (now && now->from_ns >= free->from_ns))
		return false;
	before = code_map_ask(&p->code, s->user_ip, free->from_ns - 1).fact;
	code = before ? before->owner : NULL;
	return code && code->kind == CODE_LOAD;
}

static void count_page_without_code(struct samples *all, const struct sample *s, const struct process *p, const struct sample_place *at,
				    bool knows_start)
{
	struct pair_sum *page;
	bool unloaded;

	if (at->code && at->code->kind != CODE_REGION)
		return;
	unloaded = sample_is_in_unloaded_code(p, s, at->code);
	if (!unloaded && (!at->code || !knows_start || !all->check->complete))
		return;
	page = pair_sums_get(&all->pages, s->user_ip >> PAGE_BITS, p->number);
	if (!page) {
		all->failed = true;
		return;
	}
	page->wrong[unloaded]++;
	page->example = s->user_ip;
}

/* Count a line of a sample, and see whether its text is there and long enough. Only processes that announced texts whose lines are
 * components are checked. */
static void count_line_of_text(struct samples *all, const struct process *p, uint32_t location, uint64_t time_ns)
{
	const struct location *l = &all->locator.location[location];
	struct pair_sum *line;

	if (!p->has_line_components || !l->jit || !l->line)
		return;
	line = pair_sums_get(&all->lines, l->line, p->number);
	if (!line) {
		all->failed = true;
		return;
	}
	if (!line->samples++) {
		const struct line *row = &all->a.line[l->line];
		const struct source *text = model_find_source(all->check->m, p, row->file, time_ns);

		line->wrong[0] = text && row->number > text->nr_lines;
		line->wrong[1] = !text;
	}
}

/* Count a sample of a component all of whose links to a level above are of a later time. */
static void count_late_link(struct samples *all, uint32_t location, uint64_t time_ns)
{
	const struct dictionary *d = &all->check->m->dictionary;
	uint32_t component = all->locator.location[location].component;
	const struct component *c = &d->components.at[component];
	struct pair_sum *late;

	if (!component || !c->links.nr || c->older || !all->check->complete)
		return;
	for (uint32_t i = 0; i < c->links.nr; i++)
		if (c->links.at[i].from_ns <= time_ns || c->links.at[i].same)
			return;
	late = pair_sums_get(&all->late, component, 0);
	if (late)
		late->samples++;
	all->failed |= !late;
}

static bool is_agent_library(const struct code *code)
{
	return code && code->kind == CODE_IMAGE && code->path && strcmp(basename(code->path), "libtailor.so") == 0;
}

static void count_agent_cost(struct samples *all, const struct process *p, const struct code *code)
{
	struct pair_sum *cost = pair_sums_get(&all->costs, p->number, 0);

	if (cost) {
		cost->samples++;
		cost->wrong[0] += is_agent_library(code);
	}
	all->failed |= !cost;
}

static void check_one_sample(struct samples *all, struct sample_block *b, uint32_t i)
{
	const struct process *p;
	struct sample_place at;
	unsigned char known;
	struct sample s;

	sample_read(b, i, &s);
	if (!s.user_ip)
		return;
	p = model_get_process(all->world.model, s.pid, s.time_ns);
	known = p ? process_facts(all, p) : 0;
	if (!(known & SPEAKS))
		return;
	at = sample_find_place(&all->world, p, s.user_ip, s.time_ns);
	count_agent_cost(all, p, at.code);
	if (s.mode != SAMPLE_MODE_USER)
		return;
	if (known & KNOWS_START)
		count_late_link(all, at.location, s.time_ns);
	count_page_without_code(all, &s, p, &at, known & KNOWS_START);
	count_line_of_text(all, p, at.location, s.time_ns);
	sample_tags_check_sample(&all->tags, &s, p, &at);
}

static int check_every_nth_sample(struct samples *all, struct trace_reader *t, uint64_t each)
{
	const struct sample_columns unwanted = { { 1ull << SAMPLE_COLUMN_DATA_SOURCE | 1ull << SAMPLE_COLUMN_LATENCY } };
	const struct model *m = all->check->m;
	struct sample_stream *stream;
	struct sample_block *b;
	uint64_t nr = 0;
	int ret = sample_stream_open(t, &unwanted, 1, &stream), got;

	if (ret)
		return ret;
	while (!all->failed && !all->tags.failed && (got = sample_stream_next(stream, &b)) != 0) {
		if (got < 0 || (b->event < m->nr_events && (m->event[b->event].is_switch || b->event == m->leaving)))
			continue;
		for (uint32_t i = 0; i < b->nr; i++)
			if (nr++ % each == 0)
				check_one_sample(all, b, i);
	}
	sample_stream_close(stream);
	return all->failed || all->tags.failed ? -ENOMEM : 0;
}

static void report_pages_without_code(struct samples *all, double each)
{
	static const enum finding_kind kinds[] = { FINDING_CODE_UNREGISTERED, FINDING_CODE_UNLOADED };

	for (uint32_t i = 0; i < all->pages.nr; i++)
		for (int n = 0; n < 2; n++) {
			const struct pair_sum *page = &all->pages.at[i];

			/* A record of another thread may come a little late, which concerns one or two samples. */
			if (page->wrong[n] >= SITE_SAMPLES &&
			    check_count_finding(all->check, kinds[n], (uint64_t)((double)page->wrong[n] * each),
						(double)page->wrong[n] * each))
				check_set_example(all->check, kinds[n], "%#llx, process %u", (unsigned long long)page->example,
						  check_pid(all->check, (uint32_t)page->b));
		}
}

static void report_lines_of_texts(struct samples *all, double each)
{
	struct check *c = all->check;
	const uint32_t nr = c->m->processes.nr;
	bool *matches = calloc(nr + 1, sizeof(*matches)); /* for each process: some sampled line of it has a text */

	for (uint32_t i = 0; matches && i < all->lines.nr; i++)
		matches[all->lines.at[i].b] |= !all->lines.at[i].wrong[1];
	for (uint32_t i = 0; matches && i < all->lines.nr; i++) {
		const struct pair_sum *l = &all->lines.at[i];
		const struct line *row = &all->a.line[l->a];

		if (l->wrong[0])
			FOUND(c, FINDING_LINE_BEYOND, (double)l->samples * each, "%.80s:%u, process %u", row->file, row->number,
			      check_pid(c, (uint32_t)l->b));
		if (l->wrong[1] && !matches[l->b] && c->complete)
			FOUND(c, FINDING_SOURCE_UNKNOWN, (double)l->samples * each, "%.80s, process %u", row->file,
			      check_pid(c, (uint32_t)l->b));
	}
	free(matches);
}

#define COST_SAMPLES 100u
#define COST_SHARE 20u /* share of a process's samples in the agent from which it is reported, as 1 / COST_SHARE */
/* least number of records of all processes; fewer take only a millisecond, and in a short run the agent's samples are those of its own
 * start */
#define COST_RECORDS 1000u

/* Report the processes that spend much of their time in the agent, with the most frequent kind of record. */
static void report_agent_costs(struct samples *all, double each)
{
	struct check *c = all->check;
	uint64_t records = 0;
	uint32_t most = 0;

	for (uint32_t id = 0; id < MODEL_RECORD_IDS; id++) {
		records += c->m->nr_records[id];
		most = c->m->nr_records[id] > c->m->nr_records[most] ? id : most;
	}
	if (records < COST_RECORDS)
		return;
	for (uint32_t i = 0; i < all->costs.nr; i++) {
		const struct pair_sum *cost = &all->costs.at[i];
		const struct schema_record *s = schema_find(most);

		if (cost->wrong[0] >= COST_SAMPLES && cost->wrong[0] * COST_SHARE >= cost->samples)
			FOUND(c, FINDING_COST, (double)cost->wrong[0] * each,
			      "process %u: %.0f %% in the agent; %llu records, %llu of them %s", check_pid(c, (uint32_t)cost->a),
			      100 * (double)cost->wrong[0] / (double)cost->samples, (unsigned long long)records,
			      (unsigned long long)c->m->nr_records[most], s ? s->name : "");
	}
}

static void report_late_links(struct samples *all, double each)
{
	struct check *c = all->check;
	char name[CHECK_NAME];

	for (uint32_t i = 0; i < all->late.nr; i++)
		if (all->late.at[i].samples >= SITE_SAMPLES)
			FOUND(c, FINDING_LINK_LATE, (double)all->late.at[i].samples * each, "%s",
			      check_component_name(c, (uint32_t)all->late.at[i].a, name));
}

int check_samples(struct check *c, const struct report *r)
{
	uint64_t each = r->a->nr_samples / SAMPLES_MOST + 1;
	struct samples *all = calloc(1, sizeof(*all));
	int ret;

	if (!all)
		return -ENOMEM;
	all->check = c;
	all->a.model = r->model;
	all->a.no_demangle = r->a->no_demangle;
	ret = locator_init(&all->locator, &all->a);
	all->locator.without_host_levels = true;
	ret = ret ? ret : stacks_init(&all->a.stacks);
	all->world = (struct sample_world){ r->model, &all->locator, NULL, UNWIND_MEMO, "run", false };
	ret = ret ? ret : unwinder_create(UNWIND_MEMO, &all->world.unwinder, NULL);
	sample_tags_init(&all->tags, c, &all->world, report_find_level(r, NULL));
	ret = ret ? ret : check_every_nth_sample(all, r->reader, each);
	if (ret == 0) {
		report_pages_without_code(all, (double)each);
		report_lines_of_texts(all, (double)each);
		report_late_links(all, (double)each);
		report_agent_costs(all, (double)each);
		sample_tags_report(&all->tags, (double)each);
	}
	sample_tags_fini(&all->tags);
	if (all->world.unwinder)
		unwinder_destroy(all->world.unwinder);
	locator_fini(&all->locator);
	attribution_fini(&all->a);
	pair_sums_fini(&all->pages);
	pair_sums_fini(&all->lines);
	pair_sums_fini(&all->late);
	pair_sums_fini(&all->costs);
	free(all->about);
	free(all);
	return ret;
}
