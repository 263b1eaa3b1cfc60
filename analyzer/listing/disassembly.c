/* SPDX-License-Identifier: MIT */
#include "analyzer/listing/disassembly.h"

#include "jitreg/base/sorted.h"

#include <stdlib.h>
#include <string.h>

#define FUNCTION_BYTES_MAX (1u << 20)
/* maximum number of instructions of a function whose jumps have arrows, because the time for these grows with the square of the number */
#define ARROWS_MAX 8000

static int compare_hot_measures(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	if (x->measure < y->measure || x->measure > y->measure)
		return x->measure > y->measure ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static int compare_hit_addresses(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	if (x->code != y->code)
		return x->code < y->code ? -1 : 1;
	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

/* Give a hit in a file the code object that was the first of the file, so that a function of a file is one function, however many processes
 * mapped it. file_code: by file: 1 + number of that code object; 0: none yet. */
static void move_hit_to_file(const struct report *r, uint32_t *file_code, struct hit *hit)
{
	const struct code *c = hit->code && hit->code <= r->model->codes.nr ? r->model->codes.at[hit->code - 1] : NULL;
	uint64_t at;

	if (!c || c->kind != CODE_IMAGE || !c->file || !code_file_address(c, hit->ip, &at))
		return;
	if (!file_code[c->file->number])
		file_code[c->file->number] = hit->code;
	hit->code = file_code[c->file->number] | HIT_OF_FILE;
	hit->ip = at;
}

/* Merge the hits of one place and event. sum: room for a sum of each hit. Return how many remain. */
static uint32_t merge_equal_hits(struct hit *hit, struct group_sum *sum, uint32_t nr)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < nr; i++) {
		if (kept && compare_hit_addresses(&hit[kept - 1], &hit[i]) == 0) {
			group_sum_add(&sum[kept - 1], hit[i].sum);
			continue;
		}
		sum[kept] = *hit[i].sum;
		hit[kept] = hit[i];
		hit[kept].sum = &sum[kept];
		kept++;
	}
	return kept;
}

struct report_group *hits_ask_group(struct report *r, unsigned flags)
{
	return report_add_group(r, flags, TABLE_CODE, GROUP_IP_HIGH, GROUP_IP_LOW, TABLE_EVENT, -1);
}

struct report_group *hits_ask_group_by_level(struct report *r, unsigned flags, uint32_t level)
{
	return report_add_group(r, flags, TABLE_CODE, GROUP_IP_HIGH, GROUP_IP_LOW, TABLE_EVENT, TABLE_LEVEL_0 + (int)level, -1);
}

/* Return the hits of a component, followed by room for a sum of each. Return NULL if memory runs out. */
static struct hit *collect_hits(const struct report *r, const struct report_group *by, uint32_t component, uint32_t *nr, double *all)
{
	struct hit *hit = calloc((size_t)by->g.nr + 1, sizeof(*hit) + sizeof(struct group_sum));

	*all = 0;
	*nr = 0;
	for (uint32_t i = 0; hit && i < by->g.nr; i++) {
		struct hit *h = &hit[*nr];

		if (component != HITS_OF_ALL && report_value(by, i, HITS_COMPONENT) != component)
			continue;
		*h = (struct hit){ report_value(by, i, 0), report_value(by, i, HITS_EVENT),
				    (uint64_t)report_value(by, i, 1) << 32 | report_value(by, i, 2), &by->g.sum[i] };
		*all += h->event == r->event ? report_measure(r, h->sum) : 0;
		(*nr)++;
	}
	return hit;
}

static void sort_hits(struct hit *hit, uint32_t nr)
{
	if (hit && nr)
		qsort(hit, nr, sizeof(*hit), compare_hit_addresses);
}

struct hit *hits_make_of_component(const struct report *r, const struct report_group *by, uint32_t component, uint32_t *nr, double *all)
{
	struct hit *hit = collect_hits(r, by, component, nr, all);
	uint32_t *file_code = calloc((size_t)r->model->files.nr + 1, sizeof(*file_code));

	if (!hit || !file_code) {
		*nr = 0;
		free(hit);
		free(file_code);
		return NULL;
	}
	for (uint32_t i = 0; i < *nr; i++)
		move_hit_to_file(r, file_code, &hit[i]);
	free(file_code);
	sort_hits(hit, *nr);
	*nr = merge_equal_hits(hit, (struct group_sum *)(hit + by->g.nr + 1), *nr);
	return hit;
}

struct hit *hits_make_all(const struct report *r, const struct report_group *by, uint32_t *nr, double *all)
{
	return hits_make_of_component(r, by, HITS_OF_ALL, nr, all);
}

#define SHOWN_PART 0.01 /* share of all samples from which text shows a function */

uint32_t hot_count_shown(const struct hot *hot, uint32_t nr, double all, const struct page *p)
{
	uint32_t shown = 0;

	for (; shown < nr && shown < DISASSEMBLY_FUNCTIONS_MAX; shown++)
		if (p->form == PAGE_TEXT && p->top && shown && hot[shown].measure < SHOWN_PART * all)
			break;
	return shown;
}

void hot_read_code_bytes(struct report *r, struct hot *hot, uint32_t nr)
{
	struct code_bytes *places = calloc((size_t)nr + 1, sizeof(*places));

	for (uint32_t i = 0; places && i < nr; i++)
		places[i] = hot[i].place;
	if (places)
		code_bytes_read(r, places, nr);
	for (uint32_t i = 0; places && i < nr; i++)
		hot[i].place = places[i];
	free(places);
}

char *step_text(const struct report *r, const struct hot *h, const struct step *s, char text[STEP_TEXT_MAX])
{
	char *refers = s->refers ? attribution_name_of_symbol(r->a, s->refers) : NULL;

	if (refers && (s->insn.kind == INSN_CALL || s->insn.kind == INSN_JUMP))
		snprintf(text, STEP_TEXT_MAX, "%.*s %s", (int)strcspn(s->insn.text, " "), s->insn.text, refers);
	else if (s->to >= 0)
		snprintf(text, STEP_TEXT_MAX, "%.*s +%#llx", (int)strcspn(s->insn.text, " "), s->insn.text,
			 (unsigned long long)(s->insn.target - h->place.start));
	else
		snprintf(text, STEP_TEXT_MAX, "%s%s%s", s->insn.text, refers ? "  ; " : "", refers ? refers : "");
	free(refers);
	return text;
}

uint32_t step_component(const struct report *r, const struct hot *h, const struct step *s)
{
	const struct code *code = h->place.code;
	const struct source *source = NULL;

	if (s->file && s->line)
		source = model_find_source(r->model, r->model->numbered.at[code->process], s->file, code->from_ns);
	if (!source || source->level >= LEVELS_MAX)
		return COMPONENT_NONE;
	return dictionary_find_component(&r->model->dictionary, source->process, source->level, source->first_component + s->line);
}

bool step_executions(const struct report *r, const struct frequencies *counts, const struct hot *h, const struct step *s,
		     struct frequency *out)
{
	const uint64_t *counted = counts ? frequencies_count_at_address(counts, h->place.code->process, s->address) : NULL;
	const struct frequency *f = counts && !counted ? frequency_of_component(counts, step_component(r, h, s)) : NULL;

	if (counted)
		*out = (struct frequency){ *counted, FLOW_COUNTED };
	else if (f)
		*out = *f;
	return counted || f;
}

#define PAGE_BYTES 4096u
#define REGION_REST 16u

static void set_hot_name(const struct report *r, const char *symbol, struct hot *h)
{
	char *name = attribution_name_of_symbol(r->a, symbol);

	snprintf(h->name, sizeof(h->name), "%s", name ? name : "");
	free(name);
}

static struct elf_object *elf_object_of_code(const struct code *c)
{
	return c->kind == CODE_ELF ? c->elf : c->kind == CODE_IMAGE && c->file ? c->file->elf : NULL;
}

static bool elf_has_text_at(struct elf_object *elf, uint64_t address)
{
	struct elf_section text;

	for (size_t i = 0; elf && elf_get_text(elf, i, &text); i++)
		if (text.data && address - text.address < text.bytes)
			return true;
	return false;
}

/* Find the function around an address of a file: a symbol, or code without a symbol that the recorder stored. Return false if there is
 * neither, or if the trace has no bytes of the code. */
static bool find_file_function(const struct report *r, const struct code *c, uint64_t at, struct hot *h)
{
	const struct function_code *known = function_codes_find(c->file->code, at);
	struct elf_object *elf = c->file->elf;
	struct elf_function f;

	h->image = basename(c->file->path);
	if (elf && elf_find_function(elf, at, &f) && f.bytes) {
		h->place.start = f.address;
		h->place.end = f.address + f.bytes;
		set_hot_name(r, f.name, h);
		return known || elf_has_text_at(elf, at);
	}
	if (!known)
		return false;
	h->place.start = known->address;
	h->place.end = known->address + known->bytes;
	snprintf(h->name, sizeof(h->name), "%s+%#llx", h->image, (unsigned long long)known->address);
	h->image = NULL; /* the name contains the image already */
	return true;
}

/* Find the function around a hit: the code object itself, or a function in its ELF file or image. An anonymous region has no functions, so
 * the rest of the page from the hit on stands for one. Return false if there is none. */
static bool find_hot_function_at(const struct report *r, const struct code *c, const struct hit *hit, struct hot *h)
{
	const uint64_t ip = hit->ip;
	struct elf_function f;

	memset(h, 0, sizeof(*h));
	h->place.code = c;
	if (c->kind == CODE_IMAGE)
		return hit->code & HIT_OF_FILE && find_file_function(r, c, ip, h);
	if (c->kind == CODE_LOAD) {
		h->place.start = c->address;
		h->place.end = c->address + c->bytes;
		set_hot_name(r, c->name ? c->name : "", h);
		return true;
	}
	if (c->kind == CODE_REGION) {
		h->place.start = ip;
		h->place.end = (ip | (PAGE_BYTES - 1)) + 1;
		snprintf(h->name, sizeof(h->name), "%s", c->name ? c->name : "");
		return ip < h->place.end;
	}
	if (c->kind != CODE_ELF || !elf_find_function(c->elf, ip, &f) || f.bytes == 0)
		return false;
	h->place.start = f.address;
	h->place.end = f.address + f.bytes;
	set_hot_name(r, f.name, h);
	return true;
}

void hot_title(const struct hot *h, char *text, size_t bytes)
{
	snprintf(text, bytes, "%s%s%s at %#llx", h->name, h->image ? " of " : "", h->image ? h->image : "",
		 (unsigned long long)h->place.start);
}

uint32_t hot_find(const struct report *r, const struct hit *hit, uint32_t nr, struct hot **out)
{
	struct hot *list = calloc((size_t)nr + 1, sizeof(*list));
	uint32_t n = 0;

	for (uint32_t i = 0; list && i < nr; i++) {
		const uint32_t number = hit[i].code & ~HIT_OF_FILE;
		const struct code *c = number && number <= r->model->codes.nr ? r->model->codes.at[number - 1] : NULL;
		struct hot *last = n ? &list[n - 1] : NULL;

		if (!c)
			continue;
		if (!last || last->place.code != c || hit[i].ip < last->place.start || hit[i].ip >= last->place.end) {
			struct hot h;

			if (!find_hot_function_at(r, c, &hit[i], &h) || h.place.end - h.place.start > FUNCTION_BYTES_MAX)
				continue;
			h.first = i;
			list[n++] = h;
			last = &list[n - 1];
		}
		last->nr = i + 1 - last->first;
		if (hit[i].event == r->event) {
			last->measure += report_measure(r, hit[i].sum);
			last->samples += hit[i].sum->samples;
		}
	}
	for (uint32_t i = 0; i < n; i++) { /* the bytes of a region behind its last sample may be anything, so only a few are shown */
		uint64_t last = hit[list[i].first + list[i].nr - 1].ip;

		if (list[i].place.code->kind == CODE_REGION && list[i].place.end - last > REGION_REST)
			list[i].place.end = last + REGION_REST;
	}
	if (n)
		qsort(list, n, sizeof(*list), compare_hot_measures);
	*out = list;
	return n;
}

/* ------------------------------------------------------------------------------------------------------ instructions */

static void set_step_line(const struct code *c, struct step *s)
{
	const struct code_line *row = NULL;
	struct elf_line l;

	if (elf_object_of_code(c)) {
		if (elf_find_line(elf_object_of_code(c), s->address, &l)) {
			s->file = l.file;
			s->line = l.line;
		}
		return;
	}
	for (size_t i = 0; i < c->nr_lines && c->address + c->lines[i].offset <= s->address; i++)
		row = &c->lines[i];
	if (row) {
		s->file = row->file;
		s->line = row->line;
	}
}

/* Return the name of the function in the file that a call, or a jump out of the function, leads to, or NULL. The name is also known if the
 * call leads there by the PLT. */
static const char *name_of_called_function(const struct hot *h, const struct insn *i)
{
	struct elf_object *elf = elf_object_of_code(h->place.code);
	struct elf_function f;
	const char *plt;

	if (h->place.code->kind != CODE_IMAGE || !i->target || (i->kind != INSN_CALL && i->kind != INSN_JUMP) ||
	    (i->kind == INSN_JUMP && i->target >= h->place.start && i->target < h->place.end))
		return NULL;
	if (elf && elf_find_function(elf, i->target, &f) && f.address == i->target)
		return f.name;
	return elf && elf_find_plt(elf, i->target, &plt) ? plt : NULL;
}

static int find_step(const struct step *s, int nr, uint64_t address)
{
	int up_to = SORTED_COUNT(nr, i, s[i].address < address);

	return up_to < nr && s[up_to].address == address ? up_to : -1;
}

static bool lane_is_free(const struct step *s, int nr, int from, int to, unsigned lane)
{
	for (int i = 0; i < nr; i++) {
		int low = i < s[i].to ? i : s[i].to, high = i < s[i].to ? s[i].to : i;

		if (s[i].to >= 0 && s[i].lane == lane && low <= to && high >= from)
			return false;
	}
	return true;
}

/* Give each jump a lane, which is a column for its arrow. Short jumps come first, and get lanes near the instructions. A jump for which no
 * lane is free has no arrow. */
static void give_lanes(struct step *s, int nr)
{
	for (int length = 1; length < nr; length *= 2)
		for (int i = 0; i < nr; i++) {
			int low = i < s[i].to ? i : s[i].to, high = i < s[i].to ? s[i].to : i;

			if (s[i].to < 0 || s[i].lane || high - low >= 2 * length)
				continue;
			for (unsigned lane = 1; lane <= DISASSEMBLY_LANES && !s[i].lane; lane++)
				if (lane_is_free(s, nr, low, high, lane))
					s[i].lane = (unsigned char)lane;
		}
}

static const struct group_sum none;

/* Add a hit to the instruction around it. Its address may be inside of the instruction, if data before it was disassembled as code. *spare
 * is room for a sum, and moves on when it is used. */
static void add_hit_to_step(struct step *s, const struct hit *hit, struct group_sum **spare)
{
	const struct group_sum **sum = &s->sum[hit->event];

	if (*sum == &none) {
		*sum = hit->sum;
		return;
	}
	**spare = **sum;
	group_sum_add(*spare, hit->sum);
	*sum = (*spare)++;
}

struct step *disassemble_hot_function(const struct hot *h, const struct hit *hit, int *nr_steps)
{
	uint64_t bytes = h->place.end - h->place.start;
	struct step *s = calloc(1, (bytes + 1) * sizeof(*s) + h->nr * sizeof(struct group_sum));
	struct group_sum *spare = s ? (struct group_sum *)(s + bytes + 1) : NULL;
	uint32_t at_hit = h->first;
	int nr = 0;

	for (uint64_t at = 0; s && at < bytes; at += s[nr++].insn.bytes) {
		struct step *step = &s[nr];

		step->address = h->place.start + at;
		insn_decode(h->place.bytes + at, bytes - at, step->address, &step->insn);
		step->to = -1;
		set_step_line(h->place.code, step);
		if (h->place.code->kind == CODE_ELF)
			elf_find_reference(h->place.code->elf, step->address, step->insn.bytes, &step->refers);
		else
			step->refers = name_of_called_function(h, &step->insn);
		for (int e = 0; e < VIEW_EVENTS_MAX; e++)
			step->sum[e] = &none;
		for (; at_hit < h->first + h->nr && hit[at_hit].ip < step->address + step->insn.bytes; at_hit++)
			if (hit[at_hit].event < VIEW_EVENTS_MAX)
				add_hit_to_step(step, &hit[at_hit], &spare);
	}
	for (int i = 0; i < nr; i++)
		if ((s[i].insn.kind == INSN_JUMP || s[i].insn.kind == INSN_BRANCH) && !s[i].refers)
			s[i].to = find_step(s, nr, s[i].insn.target);
	if (s && nr <= ARROWS_MAX)
		give_lanes(s, nr);
	*nr_steps = nr;
	return s;
}

void disassembly_arrows(const struct step *s, int nr, int i, bool between, bool utf8, char text[4 * (DISASSEMBLY_LANES + 2)])
{
	const char *cell[DISASSEMBLY_LANES + 1];
	char *at = text;
	int reach = 0; /* number of the lanes that horizontal lines of this row cross */
	bool arrives = false;

	for (int lane = 0; lane <= DISASSEMBLY_LANES; lane++)
		cell[lane] = NULL;
	for (int n = 0; n < nr && nr <= ARROWS_MAX; n++) {
		int low = n < s[n].to ? n : s[n].to, high = n < s[n].to ? s[n].to : n;

		if (!s[n].lane || i < low || i > high || (between && i == low))
			continue;
		if (!between && (i == low || i == high)) {
			cell[s[n].lane] = i == low ? (utf8 ? "╭" : ".") : utf8 ? "╰" : "`";
			reach = s[n].lane > reach ? s[n].lane : reach;
			arrives |= i == s[n].to;
		} else if (!cell[s[n].lane]) {
			cell[s[n].lane] = utf8 ? "│" : "|";
		}
	}
	for (int lane = DISASSEMBLY_LANES; lane > 0; lane--)
		at = stpcpy(at, cell[lane] ? cell[lane] : lane < reach ? (utf8 ? "─" : "-") : " ");
	stpcpy(at, !reach ? " " : arrives ? ">" : utf8 ? "─" : "-");
}
