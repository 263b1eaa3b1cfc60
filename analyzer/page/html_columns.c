/* SPDX-License-Identifier: MIT */
/* Writes the table's columns as data blocks. A block has planes of the bytes of the column's numbers, or, for times and addresses, of their
 * differences, which are mostly smaller (planes.h). */
#include "analyzer/page/html_block.h"
#include "analyzer/page/html_page.h"
#include "analyzer/table/planes.h"

#include <errno.h>
#include <stdlib.h>

/* maximum number of different weights in a page's list of them; with more, the column has the weights themselves */
#define WEIGHTS_MAX 65536u

static uint32_t bytes_for_number(uint64_t most)
{
	return most < 1u << 8 ? 1 : most < 1u << 16 ? 2 : most <= UINT32_MAX ? 4 : 8;
}

/* Writes a column of the p.nr numbers in c->number, or gives it to c->keep(). An error is kept in c->error, and nothing more is written
 * then. */
static void write_column(struct html_columns *c, const char *name, const char *key_name, struct planes p)
{
	static const char *const kinds[] = { "plain", "delta", "keyed" };
	unsigned char *plane = malloc((size_t)p.nr + 1);
	struct html_column *column = &c->column[c->nr];
	struct html_block *b;
	uint64_t most = 0;
	char id[64];

	if (!plane || c->error || c->nr == HTML_COLUMNS_MAX) {
		c->error = c->error ? c->error : -ENOMEM;
		free(plane);
		return;
	}
	for (uint32_t i = 0; i < p.nr; i++)
		most = c->number[i] > most ? c->number[i] : most;
	*column = (struct html_column){ .name = name, .kind = kinds[p.kind], .key = key_name, .width = bytes_for_number(most) };
	c->nr++;
	if (c->keep) {
		column->kind = kinds[PLANES_PLAIN];
		column->key = "";
		column->planes = most ? column->width : 0;
		c->error = c->keep(c->context, column, c->number, p.nr);
		free(plane);
		return;
	}
	column->planes = planes_transform(&p, c->number);
	snprintf(id, sizeof(id), "tailor-%u-%s", c->trace->number, name);
	b = column->planes ? html_block_begin(c->to, id) : NULL;
	if (column->planes && !b)
		c->error = -ENOMEM;
	for (uint32_t i = 0; b && i < column->planes; i++) {
		planes_put(c->number, p.nr, i, plane);
		html_block_add(b, plane, p.nr);
	}
	if (b && html_block_end(b))
		c->error = -EIO;
	free(plane);
}

static void write_u32_column(struct html_columns *c, const char *name, const uint32_t *numbers, uint32_t nr, enum planes_kind kind)
{
	for (uint32_t i = 0; i < nr && !c->error; i++)
		c->number[i] = numbers[i];
	write_column(c, name, "", (struct planes){ .kind = kind, .nr = nr });
}

/* Writes the addresses of memory accesses, each as the difference to the last one of its place, because an instruction mostly touches
 * memory near its last access. Writes nothing if there are none. */
static void write_addresses(struct html_columns *c, const struct html_rows *r)
{
	uint64_t *last = malloc(((size_t)r->places.nr + 1) * sizeof(*last));
	bool any = false;

	for (size_t i = 0; i < r->nr && last; i++) {
		c->number[i] = r->address[i];
		any |= r->address[i] != 0;
	}
	if (!last)
		c->error = -ENOMEM;
	else if (any)
		write_column(c, "address", "place",
			     (struct planes){ PLANES_KEYED, (uint32_t)r->nr, r->place, r->places.nr, last });
	free(last);
}

/* Returns whether any frame has a caller, so that stacks were recorded. Inlined functions, ends of truncated stacks, and the instruction at
 * which the kernel was entered do not count, because samples without a stack have them, too. */
static bool any_stack(const struct stacks *s)
{
	for (uint32_t i = 1; i < s->nr; i++) {
		const struct stack_node *n = &s->node[i], *caller = &s->node[n->caller];

		if (n->caller && !(caller->flags & STACK_CUT) && (n->flags & STACK_KERNEL) == (caller->flags & STACK_KERNEL) &&
		    !(n->flags & STACK_INLINED))
			return true;
	}
	return false;
}

/* Write the stack of each row, and the tree of stacks, with a column for each field of its nodes. */
static void write_stacks(struct html_columns *c, const struct html_rows *r, const struct stacks *s)
{
#define FIELD_(name, field) \
	do { \
		for (uint32_t i = 0; i < s->nr; i++) \
			c->number[i] = s->node[i].field; \
		write_column(c, name, "", (struct planes){ .kind = PLANES_PLAIN, .nr = s->nr }); \
	} while (0)
	write_u32_column(c, "stack", r->stack, (uint32_t)r->nr, PLANES_PLAIN);
	FIELD_("node-caller", caller);
	FIELD_("node-function", function);
	FIELD_("node-line", line);
	FIELD_("node-component", component);
	FIELD_("node-flags", flags);
#undef FIELD_
}

int html_columns_write(struct html_columns *c, const struct html_trace *t)
{
	const struct html_rows *r = &t->rows;
	const struct stacks *s = &t->report->a->stacks;
	const uint64_t first_ns = t->report->a->first_ns;
	const uint32_t nr = (uint32_t)r->nr;
	const bool stacks = t->stacks && any_stack(s);
	const size_t most = stacks && s->nr > nr ? s->nr : nr;

	c->trace = t;
	c->number = malloc((most + 1) * sizeof(*c->number));
	if (!c->number)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		c->number[i] = r->time_ns[i] > first_ns ? (r->time_ns[i] - first_ns) / HTML_TIME_NS : 0;
	write_column(c, "time", "", (struct planes){ .kind = PLANES_DELTA, .nr = nr });
	write_u32_column(c, "thread", r->thread, nr, PLANES_PLAIN);
	write_u32_column(c, "cpu", r->cpu, nr, PLANES_PLAIN);
	write_u32_column(c, "event", r->event, nr, PLANES_PLAIN);
	write_u32_column(c, "way", r->way, nr, PLANES_PLAIN);
	write_u32_column(c, "place", r->place, nr, PLANES_PLAIN);
	write_u32_column(c, "phase", r->phase, nr, PLANES_PLAIN);
	for (uint32_t i = 0; i < nr; i++)
		c->number[i] = r->weights.nr > WEIGHTS_MAX ? r->weights.at[r->weight[i]] : r->weight[i];
	write_column(c, "weight", "", (struct planes){ .kind = PLANES_PLAIN, .nr = nr });
	if (c->nr)
		c->column[c->nr - 1].numbers = r->weights.nr > WEIGHTS_MAX;
	if (t->addresses) {
		write_u32_column(c, "memory", r->memory, nr, PLANES_PLAIN);
		write_addresses(c, r);
	}
	if (stacks)
		write_stacks(c, r, s);
	free(c->number);
	c->number = NULL;
	return c->error;
}
