/* SPDX-License-Identifier: MIT */
#include "analyzer/listing/stalls.h"

#include "analyzer/listing/best_case.h"
#include "analyzer/symbols/insn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 64u
/* maximum number of bytes of a loop that stays in the first-level cache, which is half of the smallest such cache */
#define LOOP_BYTES_MAX (16u << 10)
#define STEPS_MAX 20000 /* maximum number of instructions of a function that is simulated */

bool stalls_are_measured(const struct report *r)
{
	return report_weighs(r) == WEIGHT_CYCLES;
}

/* ---------------------------------------------------------------------------------------------------------- best case */

struct best_case_state {
	struct best_cases *cases;
};

static void destroy_best_cases(void *state)
{
	best_cases_destroy(((struct best_case_state *)state)->cases);
}

static struct best_cases *get_best_cases(struct report *r)
{
	struct best_case_state *s = r->best_cases;

	if (!s) {
		s = r->best_cases = report_add_state(r, sizeof(*s), destroy_best_cases);
		if (s)
			s->cases = best_cases_create();
	}
	return s ? s->cases : NULL;
}

static const unsigned char *code_bytes_of_step(const struct hot *h, const struct step *s)
{
	return h->place.bytes + (s->address - h->place.start);
}

/* Copy the bytes of a block without its calls and returns. The caller frees out->bytes. Return false if memory runs out. */
static bool copy_block_bytes(const struct hot *h, const struct graph *f, const struct block *b, struct best_case_block *out)
{
	unsigned char *bytes = malloc((size_t)b->nr * 15 + 1);

	*out = (struct best_case_block){ .bytes = bytes, .cycles = -1 };
	for (int i = b->first; bytes && i < b->first + b->nr; i++) {
		const struct insn *insn = &f->step[i].insn;

		if (insn->kind == INSN_CALL || insn->kind == INSN_RETURN)
			continue;
		memcpy(bytes + out->nr_bytes, code_bytes_of_step(h, &f->step[i]), insn->bytes);
		out->nr_bytes += insn->bytes;
		out->nr++;
	}
	return bytes != NULL;
}

struct best {
	double cycles, floor; /* cycles of one execution, as in struct best_case_block; cycles < 0: not known */
};

static bool block_has_samples(const struct report *r, const struct block *b, bool any)
{
	for (uint32_t e = 0; any && e < VIEW_EVENTS_MAX; e++)
		if (b->sum[e].samples > 0)
			return true;
	return b->sum[r->event].samples > 0;
}

/* Simulate each block that has samples of the report's event (any: of any event). The caller frees the result. Return NULL if memory runs
 * out. */
static struct best *simulate_blocks(struct report *r, const struct hot *h, const struct graph *f, bool any)
{
	struct best_case_block *block = calloc((size_t)f->nr_blocks + 1, sizeof(*block));
	struct best *best = calloc((size_t)f->nr_blocks + 1, sizeof(*best));
	struct best_cases *cases = get_best_cases(r);

	for (uint32_t i = 0; block && best && i < f->nr_blocks; i++) {
		best[i].cycles = -1;
		if (block_has_samples(r, &f->block[i], any) && f->nr_steps <= STEPS_MAX)
			copy_block_bytes(h, f, &f->block[i], &block[i]);
	}
	if (block && best && cases)
		best_cases_find(cases, r->processor, block, f->nr_blocks);
	for (uint32_t i = 0; block && i < f->nr_blocks; i++) {
		if (best && block[i].nr && cases)
			best[i] = (struct best){ block[i].cycles, block[i].floor };
		free((void *)block[i].bytes);
	}
	free(block);
	return best;
}

const char *stalls_about_simulator(const struct report *r, bool *known)
{
	const struct best_case_state *s = r->best_cases;

	*known = false;
	return s && s->cases ? best_cases_about(s->cases, known) : NULL;
}

void stalls_print_simulator(const struct report *r, struct page *p)
{
	bool known;
	const char *about = stalls_about_simulator(r, &known);

	if (about && known)
		page_sentence(p, "(best case: %s, first-level hits; --processor names another processor)", about);
	else if (about)
		page_sentence(p, "(best case: %d instructions a cycle, because %s; where a block runs one a cycle, no cause is named)",
			      ISSUE_WIDTH, about);
}

/* ----------------------------------------------------------------------------------------------------------- evidence */

/* This struct is the work that one execution of a block does, by its instructions. */
struct work {
	double loads, stores, divisions, latency;
	bool calls, repeats;
};

static struct work *read_work_of_blocks(const struct hot *h, const struct graph *f)
{
	struct work *code = calloc((size_t)f->nr_blocks + 1, sizeof(*code));

	for (uint32_t i = 0; code && i < f->nr_blocks; i++)
		for (int s = f->block[i].first; s < f->block[i].first + f->block[i].nr; s++) {
			const struct step *step = &f->step[s];
			struct insn_work w;

			code[i].calls |= step->insn.kind == INSN_CALL || (step->insn.kind == INSN_JUMP && step->to < 0);
			if (!insn_read_work(code_bytes_of_step(h, step), step->insn.bytes, &w))
				continue;
			code[i].loads += w.loads;
			code[i].stores += w.stores;
			code[i].divisions += w.divides;
			code[i].latency += w.latency;
			code[i].repeats |= w.repeats;
		}
	return code;
}

static uint64_t end_address_of_block(const struct graph *f, uint32_t block)
{
	const struct step *last = &f->step[f->block[block].first + f->block[block].nr - 1];

	return last->address + last->insn.bytes;
}

/* Find the blocks between a jump backwards and its target, if they are few bytes and none of them calls. The code of such a loop is fetched
 * once. own_loop: the jump leads to the block that it ends. */
static void find_small_loops(const struct graph *f, const struct work *code, bool *fetched_once, bool *own_loop)
{
	for (uint32_t n = 0; n < f->nr_arcs; n++) {
		const struct class_arc *a = &f->arc[n];
		bool calls = false;

		if (a->from >= f->nr_blocks || a->to > a->from ||
		    end_address_of_block(f, a->from) - f->step[f->block[a->to].first].address > LOOP_BYTES_MAX)
			continue;
		for (uint32_t i = a->to; i <= a->from && !calls; i++)
			calls = code[i].calls;
		for (uint32_t i = a->to; i <= a->from && !calls; i++)
			fetched_once[i] = true;
		own_loop[a->from] |= a->from == a->to;
	}
}

/* Find the blocks that are reached by a branch, or from outside. If the function has a jump through a register, all blocks may be reached
 * by it. */
static void find_mispredictable_blocks(const struct graph *f, bool *mispredicts)
{
	mispredicts[0] = true;
	for (uint32_t n = 0; n < f->nr_arcs; n++) {
		const struct class_arc *a = &f->arc[n];

		if (a->to >= f->nr_blocks)
			continue;
		mispredicts[a->to] |= f->is_indirect || a->from >= f->nr_blocks ||
				      f->step[f->block[a->from].first + f->block[a->from].nr - 1].insn.kind == INSN_BRANCH;
	}
}

static double period_of_event(const struct report *r, const struct group_sum *total, uint32_t event)
{
	if (r->model->event[event].period)
		return (double)r->model->event[event].period;
	return total[event].samples > 0 ? total[event].weight / total[event].samples : 0;
}

struct block_code *stalls_read_code(struct report *r, const struct hot *h, const struct graph *f, bool any_event)
{
	struct block_code *out = calloc((size_t)f->nr_blocks + 1, sizeof(*out));
	struct work *code = read_work_of_blocks(h, f);
	bool *mark = calloc(3 * ((size_t)f->nr_blocks + 1), sizeof(*mark));
	bool *fetched_once = mark, *own_loop = mark + f->nr_blocks + 1, *mispredicts = own_loop + f->nr_blocks + 1;
	struct best *best = simulate_blocks(r, h, f, any_event);

	if (!out || !code || !mark || !best) {
		free(out);
		free(code);
		free(mark);
		free(best);
		return NULL;
	}
	find_small_loops(f, code, fetched_once, own_loop);
	find_mispredictable_blocks(f, mispredicts);
	for (uint32_t i = 0; i < f->nr_blocks; i++) {
		const struct block *b = &f->block[i];
		struct block_code *c = &out[i];

		c->simulated = best[i].cycles >= 0;
		/* llvm-mca adds the limits of the processor's units below, but for blocks with divisions this would count their waits as
		 * work */
		c->floor = (double)b->nr / ISSUE_WIDTH;
		c->best = c->simulated ? fmax(best[i].cycles, c->floor) : c->floor;
		if (c->simulated && code[i].divisions <= 0)
			c->floor = fmin(fmax(best[i].floor, c->floor), c->best);
		c->accesses = code[i].loads + code[i].stores;
		c->loads = code[i].loads;
		c->divisions = code[i].divisions;
		c->lines = ceil((double)(end_address_of_block(f, i) - f->step[b->first].address) / LINE_BYTES) + 1;
		/* A loop of one block was simulated with all that its rounds wait for. Any other block may wait for results of the blocks
		 * before it. */
		c->latency = c->simulated && own_loop[i] ? 0 : code[i].repeats ? INFINITY : code[i].latency;
		c->mispredicts = mispredicts[i];
		c->forwards = code[i].loads > 0 && code[i].stores > 0;
		c->fetched_once = fetched_once[i];
	}
	free(code);
	free(mark);
	free(best);
	return out;
}

static void count_stall_events(const struct report *r, const struct group_sum *total, const struct block *b,
			       struct stall_count count[NR_STALL_EVENTS])
{
	memset(count, 0, NR_STALL_EVENTS * sizeof(*count));
	for (uint32_t i = 0; i < r->model->nr_events && i < VIEW_EVENTS_MAX; i++) {
		enum stall_event what = stall_event_of(r->model->event[i].name);
		const double period = what < NR_STALL_EVENTS ? period_of_event(r, total, i) : 0;
		const struct group_sum *s = &b->sum[i];

		if (period > 0)
			stall_count_add(&count[what], s->weight, s->samples, s->weight_squares, period);
	}
}

struct block_stalls *stalls_of_blocks(struct report *r, const struct group_sum total[VIEW_EVENTS_MAX], const struct hot *h,
				      const struct graph *f)
{
	struct block_stalls *out = calloc((size_t)f->nr_blocks + 1, sizeof(*out));
	struct block_code *code = out ? stalls_read_code(r, h, f, false) : NULL;

	for (uint32_t i = 0; code && i < f->nr_blocks; i++) {
		struct stall_count count[NR_STALL_EVENTS];
		struct block_frequency n;

		if (!block_executions(f, &f->block[i], &n))
			continue;
		count_stall_events(r, total, &f->block[i], count);
		culprits_bound_block(&code[i], f->block[i].sum[r->event].weight, n.executions, count, &out[i]);
	}
	free(code);
	return out;
}

/* ------------------------------------------------------------------------------------------------------------ showing */

const char *stalls_name_of_evidence(const struct report *r, const struct group_sum total[VIEW_EVENTS_MAX], enum culprit c)
{
	for (uint32_t i = 0; i < r->model->nr_events && i < VIEW_EVENTS_MAX; i++) {
		enum stall_event what = stall_event_of(r->model->event[i].name);

		if (stall_event_bounds(what, c) && period_of_event(r, total, i) > 0)
			return r->model->event[i].name;
	}
	return c == CULPRIT_KERNEL ? "samples" : "code";
}

void stalls_show_blocks(const struct hot *h, const struct graph *f, const struct block_stalls *b, struct page *p)
{
	struct grid *g = grid_create("stalls", "%s: stalled blocks and their causes", h->name);
	int function = grid_column(g, "function", "", CELL_TEXT, GRID_HIDDEN, 0);
	int offset = grid_column(g, "offset", "block", CELL_HEX, 0, 0);
	int cpi = grid_column(g, "per_instruction", "CPI", CELL_NUMBER, 0, 0);
	int best = grid_column(g, "best", "best", CELL_NUMBER, 0, 0);
	int stalled = grid_column(g, "stalled", "stalled", CELL_PERCENT, 0, 0);
	int low = grid_column(g, "at_least", "at least", CELL_PERCENT, 0, 0);
	int high = grid_column(g, "at_most", "at most", CELL_PERCENT, 0, 0);
	int key = grid_column(g, "culprit", "", CELL_TEXT, GRID_HIDDEN, 0);
	int cause = grid_column(g, "cause", "cause", CELL_TEXT, GRID_TEXT_ONLY, 0);
	bool any = false;

	grid_show_all_rows(g);
	for (uint32_t i = 0; i < f->nr_blocks; i++) {
		enum culprit order[NR_CULPRITS];
		int nr = b[i].cycles >= 0.01 * h->measure ? culprits_rank_block(&b[i], order) : 0;
		const double insns = f->block[i].nr * b[i].executions;

		for (int n = 0; n < nr + (nr && b[i].bounds.unexplained >= 0.1 * b[i].bounds.stall); n++) {
			grid_row(g);
			grid_set_text(g, function, h->name);
			if (n == 0 || p->form != PAGE_TEXT) {
				grid_set_address(g, offset, f->step[f->block[i].first].address - h->place.start);
				grid_set(g, cpi, b[i].cycles / insns);
				grid_set(g, best, b[i].best / insns);
				grid_set(g, stalled, b[i].bounds.stall / b[i].cycles);
			} else {
				grid_set_blank(g, offset);
				grid_set_blank(g, cpi);
				grid_set_blank(g, best);
				grid_set_blank(g, stalled);
			}
			grid_set(g, low, (n < nr ? b[i].bounds.low[order[n]] : b[i].bounds.unexplained) / b[i].cycles);
			grid_set(g, high, (n < nr ? b[i].bounds.high[order[n]] : b[i].bounds.unexplained) / b[i].cycles);
			grid_set_text(g, key, n < nr ? culprit_key(order[n]) : "unexplained");
			grid_set_text(g, cause, n < nr ? culprit_name(order[n]) : "unexplained");
			any = true;
		}
	}
	if (any)
		grid_show(g, p);
	else
		grid_discard(g);
}
