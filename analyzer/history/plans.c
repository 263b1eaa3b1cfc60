/* SPDX-License-Identifier: MIT */
/*
 * Each query has a matrix of samples by node and by column.  A column is an epoch, or one of two windows.  For each column the samples
 * before it are compared with those from it on, and the new plan begins where new nodes have the largest share.
 *
 * A query that was cheap with its old plan may have few samples, so no least number is asked for. If the plan was the same, n samples are
 * in none of the new nodes with a chance of (1 - share)^n.
 */
#include "analyzer/history/plans.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ALPHA 0.01
#define NEW_SHARE 0.2	/* least share of a query's samples in nodes that are new */
#define OLD_SHARE 0.01	/* a new node had a smaller share before */
#define GONE 0.2	/* an old node is gone if its share is less than this part of what it was */
#define SAMPLES_LEAST 25 /* least samples of a query with the new plan */
#define COLUMNS_LEAST 2 /* epochs with samples of the query, before and with the new plan */
#define NODES_MAX 4	/* maximum number of names in plan_change.nodes */
#define QUERY_CHARACTERS 96 /* maximum number of a query's characters in a sentence */

struct node {
	char *name;
	double *of; /* effective samples, by column */
	double before, after;
};

struct planned {
	char *text;
	ARRAY(struct node) nodes;
};

struct plans {
	ARRAY(struct planned) queries;
	uint32_t nr_columns;
	struct hash_map query_at, node_at; /* hash of the text -> 1 + index; (query, hash of the node) -> 1 + index in its query */
	int64_t *begin_ns; /* by column; NULL: columns are windows */
};

static void free_plans(struct plans *p)
{
	for (uint32_t i = 0; i < p->queries.nr; i++) {
		for (uint32_t n = 0; n < p->queries.at[i].nodes.nr; n++) {
			free(p->queries.at[i].nodes.at[n].name);
			free(p->queries.at[i].nodes.at[n].of);
		}
		free(p->queries.at[i].nodes.at);
		free(p->queries.at[i].text);
	}
	free(p->queries.at);
	free(p->begin_ns);
	hash_map_fini(&p->query_at);
	hash_map_fini(&p->node_at);
}

static struct planned *find_query(struct plans *p, const char *text)
{
	const uint64_t hash = hash_text(text);
	uint32_t at = hash_map_find(&p->query_at, hash, 0);
	char *copy;

	if (at)
		return &p->queries.at[at - 1];
	copy = strdup(text);
	if (!copy || !ARRAY_GROW(p->queries) || !hash_map_set(&p->query_at, hash, 0, p->queries.nr + 1)) {
		free(copy);
		return NULL;
	}
	p->queries.at[p->queries.nr] = (struct planned){ .text = copy };
	return &p->queries.at[p->queries.nr++];
}

static struct node *find_node(struct plans *p, struct planned *q, const struct sums_names *n)
{
	const uint64_t key = (uint64_t)(q - p->queries.at);
	const uint64_t hash = hash_pair(hash_pair(hash_text(n->level), hash_text(n->label)),
					hash_pair(hash_text(n->place), hash_text(n->detail)));
	uint32_t at = hash_map_find(&p->node_at, hash, key);
	struct node new;

	if (at)
		return &q->nodes.at[at - 1];
	new = (struct node){ .name = strdup(n->name), .of = calloc(p->nr_columns, sizeof(*new.of)) };
	if (!new.name || !new.of || !ARRAY_GROW(q->nodes) || !hash_map_set(&p->node_at, hash, key, q->nodes.nr + 1)) {
		free(new.name);
		free(new.of);
		return NULL;
	}
	q->nodes.at[q->nodes.nr] = new;
	return &q->nodes.at[q->nodes.nr++];
}

/* Work that is in no plan is called "(planning)" and the like. */
static bool is_node(const struct sums_names *n)
{
	return *n->query && *n->name && *n->name != '(';
}

static double samples_per_weight(const struct sums *s)
{
	double samples = 0, effective = 0;

	for (uint32_t e = 0; e < s->epochs.nr; e++) {
		samples += s->epochs.at[e].samples;
		effective += s->epochs.at[e].effective;
	}
	return s->weight > 0 && samples > 0 ? s->samples / s->weight * effective / samples : 0;
}

/* Adds the samples of all lines, to the columns of their epochs, or to the given one. */
static int add_sums(struct plans *p, struct store *store, const struct sums *s, uint32_t column, struct diag *d)
{
	const double per_weight = samples_per_weight(s);
	int ret = 0;

	for (uint32_t i = 0; i < s->lines.nr && ret == 0; i++) {
		struct sums_names n;
		struct planned *q;
		struct node *node = NULL;

		ret = sums_names(store, SUMS_COMPONENT, &s->lines.at[i], &n, d);
		if (ret == 0 && is_node(&n)) {
			q = find_query(p, n.query);
			node = q ? find_node(p, q, &n) : NULL;
			ret = node ? 0 : diag_fail(d, ENOMEM, "out of memory");
		}
		sums_names_fini(&n);
		if (node && !s->lines.at[i].of_epoch)
			node->of[column] += s->lines.at[i].weight * per_weight;
		for (uint32_t e = 0; node && s->lines.at[i].of_epoch && e < s->epochs.nr; e++)
			node->of[e] += s->lines.at[i].of_epoch[e] * per_weight;
	}
	return ret;
}

/* ----------------------------------------------------------------------------------------------------------- one query */

/* before, after: samples of the query in the columns before the one that is judged, and from it on; new: those of the latter that are in
 * new nodes; nr_before: columns with samples before */
struct split {
	double before, after, new;
	uint32_t nr_before;
};

static bool is_new(const struct node *n, const struct split *s)
{
	return n->after > 0 && n->before < OLD_SHARE * s->before;
}

static double samples_of_column(const struct planned *q, uint32_t column)
{
	double all = 0;

	for (uint32_t i = 0; i < q->nodes.nr; i++)
		all += q->nodes.at[i].of[column];
	return all;
}

/* Moves a column from "after" to "before", so that the next one is judged. */
static void move_column(struct planned *q, uint32_t column, struct split *s)
{
	const double all = samples_of_column(q, column);

	s->before += all;
	s->after -= all;
	s->nr_before += all > 0;
	s->new = 0;
	for (uint32_t i = 0; i < q->nodes.nr; i++) {
		q->nodes.at[i].before += q->nodes.at[i].of[column];
		q->nodes.at[i].after -= q->nodes.at[i].of[column];
	}
	for (uint32_t i = 0; i < q->nodes.nr; i++)
		s->new += is_new(&q->nodes.at[i], s) ? q->nodes.at[i].after : 0;
}

static struct split begin_splitting(const struct plans *p, struct planned *q)
{
	struct split s = { 0 };

	for (uint32_t i = 0; i < q->nodes.nr; i++) {
		struct node *n = &q->nodes.at[i];

		n->before = n->after = 0;
		for (uint32_t c = 0; c < p->nr_columns; c++)
			n->after += n->of[c];
		s.after += n->after;
	}
	return s;
}

static struct split split_at(const struct plans *p, struct planned *q, uint32_t column)
{
	struct split s = begin_splitting(p, q);

	for (uint32_t c = 0; c < column; c++)
		move_column(q, c, &s);
	return s;
}

/* Does the query have its new nodes in as many epochs as are asked for, or in all that there are from this one on? */
static bool is_repeated(const struct plans *p, const struct planned *q, const struct split *s, uint32_t column)
{
	uint32_t nr_new = 0, nr_after = 0;

	for (uint32_t c = column; c < p->nr_columns && nr_new < COLUMNS_LEAST; c++) {
		double all = samples_of_column(q, c), new = 0;

		for (uint32_t i = 0; i < q->nodes.nr; i++)
			new += is_new(&q->nodes.at[i], s) ? q->nodes.at[i].of[c] : 0;
		nr_after += all > 0;
		nr_new += all > 0 && new >= NEW_SHARE * all;
	}
	return nr_new >= COLUMNS_LEAST || (nr_new && nr_new == nr_after);
}

/* Returns the first column from this one on that has samples in the largest of the nodes that are new there.  A cheap query may have no
 * samples for a while, and those of its old plan may be in a node that had none before. */
static uint32_t first_column_with_new(const struct plans *p, struct planned *q, uint32_t column)
{
	const struct split s = split_at(p, q, column);
	const struct node *largest = NULL;

	for (uint32_t i = 0; i < q->nodes.nr; i++)
		if (is_new(&q->nodes.at[i], &s) && (!largest || q->nodes.at[i].after > largest->after))
			largest = &q->nodes.at[i];
	while (largest && column + 1 < p->nr_columns && largest->of[column] <= 0)
		column++;
	return column;
}

static bool is_change(const struct plans *p, const struct planned *q, const struct split *s, uint32_t column)
{
	const double share = s->after > 0 ? s->new / s->after : 0;

	if (s->before < 1 || s->after < SAMPLES_LEAST || share < NEW_SHARE)
		return false;
	if (share < 1 && s->before * log1p(-share) > log(ALPHA / p->queries.nr))
		return false;
	return !p->begin_ns || (s->nr_before >= COLUMNS_LEAST && is_repeated(p, q, s, column));
}

static int by_samples_after(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return x->after > y->after ? -1 : x->after < y->after ? 1 : strcmp(x->name, y->name);
}

static char *names_of_new_nodes(const struct planned *q, const struct split *s)
{
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);
	int nr = 0;

	for (uint32_t i = 0; f && i < q->nodes.nr && nr < NODES_MAX; i++)
		if (is_new(&q->nodes.at[i], s))
			fprintf(f, "%s%s", nr++ ? ", " : "", q->nodes.at[i].name);
	if (f)
		fclose(f);
	return text;
}

static int tell(const struct plans *p, struct planned *q, uint32_t column, struct plan_changes *out, struct diag *d)
{
	const struct split s = split_at(p, q, column);
	const struct node *now = NULL, *before = NULL;
	struct plan_change *c;

	if (!ARRAY_GROW(*out))
		return diag_fail(d, ENOMEM, "out of memory");
	qsort(q->nodes.at, q->nodes.nr, sizeof(*q->nodes.at), by_samples_after);
	for (uint32_t i = 0; i < q->nodes.nr; i++) {
		const struct node *n = &q->nodes.at[i];

		if (is_new(n, &s) && !now)
			now = n;
		if (n->before > 0 && n->after / s.after < GONE * n->before / s.before && (!before || n->before > before->before))
			before = n;
	}
	c = &out->at[out->nr++];
	*c = (struct plan_change){ .since_ns = p->begin_ns ? p->begin_ns[column] : 0,
				   .share = s.new / s.after,
				   .samples = s.after,
				   .nr_before = s.nr_before,
				   .query = strdup(q->text),
				   .now = strdup(now ? now->name : ""),
				   .before = strdup(before ? before->name : ""),
				   .nodes = names_of_new_nodes(q, &s) };
	return c->query && c->now && c->before && c->nodes ? 0 : diag_fail(d, ENOMEM, "out of memory");
}

static int judge_query(struct store *store, const struct plans *p, struct planned *q, struct plan_changes *out, struct diag *d)
{
	struct split s = begin_splitting(p, q);
	uint32_t best = 0;
	double most = 0;

	if (!store_spend(store, 1 + (uint64_t)q->nodes.nr * p->nr_columns / 8))
		return store_failed(store, d);
	for (uint32_t column = 1; column < p->nr_columns; column++) {
		double share;

		move_column(q, column - 1, &s);
		share = s.after > 0 ? s.new / s.after : 0;
		/* a later column must have clearly more, since samples of both plans may be in one epoch */
		if (share > most + OLD_SHARE && is_change(p, q, &s, column)) {
			most = share;
			best = column;
		}
	}
	return best ? tell(p, q, first_column_with_new(p, q, best), out, d) : 0;
}

static int by_samples(const void *a, const void *b)
{
	const struct plan_change *x = a, *y = b;

	return x->samples > y->samples ? -1 : x->samples < y->samples;
}

static int judge_queries(struct store *store, struct plans *p, struct plan_changes *out, struct diag *d)
{
	int ret = 0;

	for (uint32_t i = 0; i < p->queries.nr && ret == 0; i++)
		ret = judge_query(store, p, &p->queries.at[i], out, d);
	if (out->nr)
		qsort(out->at, out->nr, sizeof(*out->at), by_samples);
	return ret;
}

int plans_find(struct store *s, const struct sums_question *q, struct plan_changes *out, struct diag *d)
{
	struct sums_question asked = *q;
	struct plans p = { 0 };
	struct sums sums;
	int ret;

	*out = (struct plan_changes){ 0 };
	asked.by = SUMS_COMPONENT;
	asked.is_total = asked.per_service = false;
	ret = sums_make(s, &asked, &sums, d);
	if (ret)
		return ret;
	p.nr_columns = sums.epochs.nr;
	p.begin_ns = calloc((size_t)p.nr_columns + 1, sizeof(*p.begin_ns));
	for (uint32_t e = 0; p.begin_ns && e < sums.epochs.nr; e++)
		p.begin_ns[e] = sums.epochs.at[e].begin_ns;
	ret = p.begin_ns ? 0 : diag_fail(d, ENOMEM, "out of memory");
	if (ret == 0 && p.nr_columns > 1)
		ret = add_sums(&p, s, &sums, 0, d);
	if (ret == 0)
		ret = judge_queries(s, &p, out, d);
	sums_fini(&sums);
	free_plans(&p);
	return ret;
}

int plans_compare(struct store *const s[2], const struct sums_question q[2], struct plan_changes *out, struct diag *d)
{
	struct plans p = { .nr_columns = 2 };
	int ret = 0;

	*out = (struct plan_changes){ 0 };
	for (uint32_t side = 0; side < 2 && ret == 0; side++) {
		struct sums_question asked = q[side];
		struct sums sums;

		asked.by = SUMS_COMPONENT;
		asked.is_total = true;
		asked.per_service = false;
		ret = sums_make(s[side], &asked, &sums, d);
		if (ret == 0) {
			ret = add_sums(&p, s[side], &sums, side, d);
			sums_fini(&sums);
		}
	}
	if (ret == 0)
		ret = judge_queries(s[1], &p, out, d);
	free_plans(&p);
	return ret;
}

void plans_fini(struct plan_changes *c)
{
	for (uint32_t i = 0; i < c->nr; i++) {
		free(c->at[i].query);
		free(c->at[i].now);
		free(c->at[i].before);
		free(c->at[i].nodes);
	}
	free(c->at);
	*c = (struct plan_changes){ 0 };
}

/* ------------------------------------------------------------------------------------------------------------ sentences */

/* Writes a text with at most so many bytes, of which "..." in the middle stands for those that are left out. */
static void print_shortened(FILE *f, const char *text, size_t most)
{
	size_t bytes = strlen(text), first = bytes, last = bytes;

	if (bytes > most) {
		first = most * 2 / 3;
		last = bytes - (most - first - 3);
		while (first && (text[first] & 0xc0) == 0x80)
			first--;
		while (last < bytes && (text[last] & 0xc0) == 0x80)
			last++;
	}
	fprintf(f, "%.*s%s%s", (int)first, text, first < bytes ? "..." : "", first < bytes ? text + last : "");
}

char *plans_sentence(const struct plan_change *c)
{
	char *text = NULL, when[32];
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	if (!f)
		return NULL;
	fputs("query \"", f);
	print_shortened(f, c->query, QUERY_CHARACTERS);
	fputs("\" has another plan", f);
	if (c->since_ns)
		fprintf(f, " since %s", window_format_time(c->since_ns, when));
	fprintf(f, ": %s", c->now);
	if (*c->before)
		fprintf(f, " in place of %s", c->before);
	return fclose(f) == 0 ? text : NULL;
}
