/* SPDX-License-Identifier: MIT */
/* The queries, as an optimizer would hand them over.  Cardinalities are estimated from uniform distributions. */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct expression *expression(enum expression_kind kind, int64_t value, struct expression *a, struct expression *b)
{
	struct expression *e = calloc(1, sizeof(*e));

	if (!e)
		abort();
	*e = (struct expression){ kind, value, NULL, a, b };
	return e;
}

static struct expression *col(enum column_id c)
{
	return expression(E_COLUMN, c, NULL, NULL);
}

static struct expression *num(int64_t n)
{
	return expression(E_CONSTANT, n, NULL, NULL);
}

static struct expression *bin(enum expression_kind kind, struct expression *a, struct expression *b)
{
	return expression(kind, 0, a, b);
}

static struct expression *text(const char *t)
{
	struct expression *e = expression(E_TEXT, 0, NULL, NULL);

	e->text = t;
	return e;
}

static struct operator *operator(struct plan *p, enum operator_kind kind, struct operator *input, double rows, const char *name,
				 const char *detail)
{
	struct operator *o = calloc(1, sizeof(*o));

	if (!o || p->nr_operators == OPERATORS_MAX)
		abort();
	p->operators[p->nr_operators++] = o;
	o->id = p->nr_operators;
	o->kind = kind;
	o->input = input;
	if (input)
		input->parent = o;
	o->estimated_rows = rows;
	snprintf(o->name, sizeof(o->name), "%s", name);
	snprintf(o->detail, sizeof(o->detail), "%s", detail);
	return o;
}

static struct operator *scan(struct plan *p, const struct data *d, enum table_id t)
{
	char name[64];
	struct operator *o;

	snprintf(name, sizeof(name), "scan %s", table_names[t]);
	o = operator(p, OP_SCAN, NULL, (double)d->rows[t], name, "");
	o->table = t;
	return o;
}

static struct operator *selection(struct plan *p, struct operator *in, double selectivity, struct expression *e, const char *detail)
{
	struct operator *o = operator(p, OP_SELECT, in, in->estimated_rows * selectivity, "select", detail);

	o->predicate = e;
	return o;
}

/* The build side's key is unique. */
static struct operator *join(struct plan *p, struct operator *build, struct operator *probe, enum column_id key,
			     enum column_id probe_key, double rows)
{
	char detail[128];
	struct operator *o;

	snprintf(detail, sizeof(detail), "%s = %s", column_names[key], column_names[probe_key]);
	o = operator(p, OP_JOIN, build, rows, "hash join", detail);
	o->probe = probe;
	probe->parent = o;
	o->key = key;
	o->probe_key = probe_key;
	return o;
}

static void sum(struct operator *o, struct expression *e)
{
	o->sums[o->nr_sums].of = e;
	o->sums[o->nr_sums].as = x_sum0 + (unsigned)o->nr_sums;
	o->nr_sums++;
}

static void count_rows(struct operator *o)
{
	o->sums[o->nr_sums].as = x_count;
	o->nr_sums++;
}

static struct operator *output(struct plan *p, struct operator *in, int nr, const enum column_id *columns)
{
	struct operator *o = operator(p, OP_OUTPUT, in, in->estimated_rows, "output", "");

	o->nr_columns = nr;
	memcpy(o->columns, columns, (size_t)nr * sizeof(*columns));
	return o;
}

#define OUTPUT(p, in, ...) \
	output(p, in, sizeof((enum column_id[]){ __VA_ARGS__ }) / sizeof(enum column_id), (enum column_id[]){ __VA_ARGS__ })

/* A date column over seven years, cut at a day. */
static double part_of_dates(int64_t day)
{
	return (double)(day - data_day(1992, 1, 1)) / (double)(data_day(1998, 12, 1) - data_day(1992, 1, 1));
}

static struct operator *fig9(struct plan *p, const struct data *d)
{
	int64_t day = data_day(1995, 4, 1);
	struct operator *o, *g, *j;

	p->sql = "select l_orderkey, avg(l_extendedprice)\nfrom lineitem, orders\nwhere o_orderdate < '1995-04-01'\n"
		 "  and o_orderkey = l_orderkey\ngroup by l_orderkey\n";
	o = selection(p, scan(p, d, ORDERS), part_of_dates(day), bin(E_LT, col(o_orderdate), num(day)),
		      "o_orderdate < '1995-04-01'");
	j = join(p, o, scan(p, d, LINEITEM), o_orderkey, l_orderkey, (double)d->rows[LINEITEM] * part_of_dates(day));
	g = operator(p, OP_GROUP, j, o->estimated_rows, "group by", "l_orderkey; avg(l_extendedprice)");
	g->keys[g->nr_keys++] = l_orderkey;
	sum(g, col(l_extendedprice));
	count_rows(g);
	g->average = true;
	return OUTPUT(p, g, l_orderkey, x_average);
}

/* Exact: in hundredths of a cent; times (1 + tax) in millionths of the currency. */
static struct expression *discounted(void)
{
	return bin(E_MUL, col(l_extendedprice), bin(E_SUB, num(100), col(l_discount)));
}

static struct operator *q1(struct plan *p, const struct data *d)
{
	int64_t day = data_day(1998, 9, 2);
	struct operator *g;

	p->sql = "select l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),\n  sum(l_extendedprice * (1 - l_discount)),\n"
		 "  sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), sum(l_discount), count(*)\nfrom lineitem\n"
		 "where l_shipdate <= '1998-09-02'\ngroup by l_returnflag, l_linestatus\n";
	g = operator(p, OP_GROUP, selection(p, scan(p, d, LINEITEM), part_of_dates(day), bin(E_LE, col(l_shipdate), num(day)),
					    "l_shipdate <= '1998-09-02'"), 6, "group by", "l_returnflag, l_linestatus");
	g->keys[g->nr_keys++] = l_returnflag;
	g->keys[g->nr_keys++] = l_linestatus;
	sum(g, col(l_quantity));
	sum(g, col(l_extendedprice));
	sum(g, discounted());
	sum(g, bin(E_MUL, discounted(), bin(E_ADD, num(100), col(l_tax))));
	sum(g, col(l_discount));
	count_rows(g);
	return OUTPUT(p, g, l_returnflag, l_linestatus, x_sum0, x_sum1, x_sum2, x_sum3, x_sum4, x_count);
}

static struct operator *top(struct plan *p, struct operator *in, uint64_t nr, const char *name, const char *detail)
{
	struct operator *t = operator(p, OP_TOP, in, (double)nr, name, detail);

	t->units = nr;
	return t;
}

/* Fused: what joins lineitem and what groups the result by the same key share one hash table. */
static struct operator *q3_plan(struct plan *p, const struct data *d, bool fused)
{
	int64_t day = data_day(1995, 3, 15);
	struct operator *c, *o, *l, *j, *g, *t;

	p->sql = "select l_orderkey, sum(l_extendedprice * (1 - l_discount)) as revenue, o_orderdate, o_shippriority\n"
		 "from customer, orders, lineitem\nwhere c_mktsegment = 'BUILDING' and c_custkey = o_custkey\n"
		 "  and l_orderkey = o_orderkey and o_orderdate < '1995-03-15' and l_shipdate > '1995-03-15'\n"
		 "group by l_orderkey, o_orderdate, o_shippriority\norder by revenue desc, o_orderdate\nlimit 10\n";
	c = selection(p, scan(p, d, CUSTOMER), 0.2, bin(E_SAME_TEXT, col(c_mktsegment), text("BUILDING  ")),
		      "c_mktsegment = 'BUILDING'");
	o = selection(p, scan(p, d, ORDERS), part_of_dates(day), bin(E_LT, col(o_orderdate), num(day)),
		      "o_orderdate < '1995-03-15'");
	j = join(p, c, o, c_custkey, o_custkey, o->estimated_rows * 0.2);
	l = selection(p, scan(p, d, LINEITEM), 1 - part_of_dates(day), bin(E_GT, col(l_shipdate), num(day)),
		      "l_shipdate > '1995-03-15'");
	g = j = join(p, j, l, o_orderkey, l_orderkey, l->estimated_rows * 0.2 * part_of_dates(day));
	if (fused) {
		j->kind = OP_GROUPJOIN;
		snprintf(j->name, sizeof(j->name), "groupjoin");
		j->estimated_rows /= 3;
	} else {
		g = operator(p, OP_GROUP, j, j->estimated_rows / 3, "group by", "l_orderkey, o_orderdate, o_shippriority");
		g->keys[g->nr_keys++] = l_orderkey;
		g->keys[g->nr_keys++] = o_orderdate;
		g->keys[g->nr_keys++] = o_shippriority;
	}
	sum(g, discounted());
	t = top(p, g, 10, "top 10", "revenue desc, o_orderdate");
	t->columns[t->nr_columns++] = x_sum0;
	t->columns[t->nr_columns++] = o_orderdate;
	t->columns[t->nr_columns++] = l_orderkey;
	t->columns[t->nr_columns++] = o_shippriority;
	return OUTPUT(p, t, l_orderkey, x_sum0, o_orderdate, o_shippriority);
}

static struct operator *q3(struct plan *p, const struct data *d)
{
	return q3_plan(p, d, false);
}

static struct operator *q3_groupjoin(struct plan *p, const struct data *d)
{
	return q3_plan(p, d, true);
}

static struct operator *q6(struct plan *p, const struct data *d)
{
	int64_t from = data_day(1994, 1, 1), to = data_day(1995, 1, 1);
	struct expression *e;
	struct operator *a;

	p->sql = "select sum(l_extendedprice * l_discount)\nfrom lineitem\nwhere l_shipdate >= '1994-01-01' and l_shipdate < '1995-01-01'\n"
		 "  and l_discount between 5 and 7 and l_quantity < 24\n";
	e = bin(E_AND, bin(E_GE, col(l_shipdate), num(from)), bin(E_LT, col(l_shipdate), num(to)));
	e = bin(E_AND, e, bin(E_AND, bin(E_GE, col(l_discount), num(5)), bin(E_LE, col(l_discount), num(7))));
	e = bin(E_AND, e, bin(E_LT, col(l_quantity), num(24)));
	a = operator(p, OP_AGGREGATE, selection(p, scan(p, d, LINEITEM), (part_of_dates(to) - part_of_dates(from)) * 0.27 * 0.46, e,
						"l_shipdate in 1994, l_discount 5 to 7, l_quantity < 24"), 1, "aggregate",
		     "sum(l_extendedprice * l_discount)");
	sum(a, bin(E_MUL, col(l_extendedprice), col(l_discount)));
	return OUTPUT(p, a, x_sum0);
}

static struct operator *q16(struct plan *p, const struct data *d)
{
	static const int sizes[] = { 14, 23, 45, 19, 3, 36, 9 };
	struct expression *type, *size = bin(E_EQ, col(p_size), num(49)), *e;
	int64_t polished = data_type("MEDIUM", "POLISHED");
	struct operator *part, *supplier, *j, *g;

	p->sql = "select p_brand, p_type, p_size, count(distinct ps_suppkey)\nfrom partsupp, part\nwhere p_partkey = ps_partkey\n"
		 "  and p_brand <> 'Brand#45' and p_type not like 'MEDIUM POLISHED%'\n  and p_size in (49, 14, 23, 45, 19, 3, 36, 9)\n"
		 "  and ps_suppkey not in (select s_suppkey from supplier where s_comment like '%Customer%Complaints%')\n"
		 "group by p_brand, p_type, p_size\n";
	type = bin(E_OR, bin(E_LT, col(p_type), num(polished)), bin(E_GE, col(p_type), num(polished + 5)));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		size = bin(E_OR, size, bin(E_EQ, col(p_size), num(sizes[i])));
	e = bin(E_AND, bin(E_NE, col(p_brand), num(45)), bin(E_AND, type, size));
	part = selection(p, scan(p, d, PART), 24 / 25.0 * 29 / 30.0 * 8 / 50.0, e,
			 "p_brand <> 'Brand#45', p_type not like 'MEDIUM POLISHED%', p_size in (49, …)");
	j = join(p, part, scan(p, d, PARTSUPP), p_partkey, ps_partkey, 4 * part->estimated_rows);
	supplier = selection(p, scan(p, d, SUPPLIER), 0.01, bin(E_LIKE, col(s_comment), text("%Customer%Complaints%")),
			     "s_comment like '%Customer%Complaints%'");
	j = join(p, supplier, j, s_suppkey, ps_suppkey, 0.99 * j->estimated_rows);
	j->anti = true;
	snprintf(j->name, sizeof(j->name), "anti join");
	/* count(distinct ...): first the distinct ones, then their number */
	g = operator(p, OP_GROUP, j, j->estimated_rows, "distinct", "p_brand, p_type, p_size, ps_suppkey");
	g->keys[g->nr_keys++] = p_brand;
	g->keys[g->nr_keys++] = p_type;
	g->keys[g->nr_keys++] = p_size;
	g->keys[g->nr_keys++] = ps_suppkey;
	g = operator(p, OP_GROUP, g, 24 * 145 * 8, "group by", "p_brand, p_type, p_size; count(distinct ps_suppkey)");
	g->keys[g->nr_keys++] = p_brand;
	g->keys[g->nr_keys++] = p_type;
	g->keys[g->nr_keys++] = p_size;
	count_rows(g);
	return OUTPUT(p, g, p_brand, p_type, p_size, x_count);
}

static struct operator *q18(struct plan *p, const struct data *d)
{
	double nr = (double)d->rows[ORDERS] / 20000;
	struct operator *g, *j, *t;

	p->sql = "select o_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity)\nfrom customer, orders, lineitem\n"
		 "where o_orderkey in (select l_orderkey from lineitem group by l_orderkey having sum(l_quantity) > 300)\n"
		 "  and c_custkey = o_custkey and o_orderkey = l_orderkey\ngroup by o_custkey, o_orderkey, o_orderdate, o_totalprice\n"
		 "order by o_totalprice desc, o_orderdate\nlimit 100\n";
	g = operator(p, OP_GROUP, scan(p, d, LINEITEM), (double)d->rows[ORDERS], "group by", "l_orderkey; sum(l_quantity)");
	g->keys[g->nr_keys++] = l_orderkey;
	sum(g, col(l_quantity));
	g = selection(p, g, nr / g->estimated_rows, bin(E_GT, col(x_sum0), num(300)), "sum(l_quantity) > 300");
	j = join(p, g, scan(p, d, ORDERS), l_orderkey, o_orderkey, nr);
	j = join(p, scan(p, d, CUSTOMER), j, c_custkey, o_custkey, nr);
	j = join(p, j, scan(p, d, LINEITEM), o_orderkey, l_orderkey, 7 * nr);
	g = operator(p, OP_GROUP, j, nr, "group by", "o_custkey, o_orderkey, o_orderdate, o_totalprice; sum(l_quantity)");
	g->keys[g->nr_keys++] = o_custkey;
	g->keys[g->nr_keys++] = o_orderkey;
	g->keys[g->nr_keys++] = o_orderdate;
	g->keys[g->nr_keys++] = o_totalprice;
	sum(g, col(l_quantity));
	g->sums[0].as = x_sum1;
	t = top(p, g, 100, "top 100", "o_totalprice desc, o_orderdate");
	t->columns[t->nr_columns++] = o_totalprice;
	t->columns[t->nr_columns++] = o_orderdate;
	t->columns[t->nr_columns++] = o_orderkey;
	t->columns[t->nr_columns++] = o_custkey;
	t->columns[t->nr_columns++] = x_sum1;
	return OUTPUT(p, t, o_custkey, o_orderkey, o_orderdate, o_totalprice, x_sum1);
}

/*
 * One query, two plans with equally large intermediate results.  Half of the parts and the first half of the orders are wanted, and
 * lineitem lies in the order of its orders: whoever probes orders first drops nothing, and from the middle on everything.
 */
static struct operator *fig10(struct plan *p, const struct data *d, bool orders_first)
{
	int64_t half = (int64_t)d->rows[ORDERS] * 2;
	struct operator *o, *part, *j = scan(p, d, LINEITEM);
	double rows = j->estimated_rows;

	p->sql = "select sum(l_extendedprice)\nfrom lineitem, orders, part\n"
		 "where l_orderkey = o_orderkey and o_orderkey <= (half of the keys)\n  and l_partkey = p_partkey and p_size <= 25\n";
	o = selection(p, scan(p, d, ORDERS), 0.5, bin(E_LE, col(o_orderkey), num(half)), "o_orderkey <= (half of the keys)");
	part = selection(p, scan(p, d, PART), 0.5, bin(E_LE, col(p_size), num(25)), "p_size <= 25");
	for (int i = 0; i < 2; i++) {
		bool on_orders = (i == 0) == orders_first;

		rows /= 2;
		j = on_orders ? join(p, o, j, o_orderkey, l_orderkey, rows) : join(p, part, j, p_partkey, l_partkey, rows);
		snprintf(j->name, sizeof(j->name), "join %s", on_orders ? "orders" : "part");
	}
	j = operator(p, OP_AGGREGATE, j, 1, "aggregate", "sum(l_extendedprice)");
	sum(j, col(l_extendedprice));
	return OUTPUT(p, j, x_sum0);
}

static struct operator *fig10a(struct plan *p, const struct data *d)
{
	return fig10(p, d, false);
}

static struct operator *fig10b(struct plan *p, const struct data *d)
{
	return fig10(p, d, true);
}

/*
 * A fix-point: parts are nodes, and partsupp holds edges from each part to four others (a supplier's number read as a part's).  An
 * iteration joins the ranks with the edges and groups by where they lead.
 */
static struct operator *pagerank(struct plan *p, const struct data *d)
{
	struct operator *o = operator(p, OP_RANKS, NULL, (double)d->rows[PART], "ranks", "of the iteration before"), *t;
	struct operator *ranks = o;

	p->sql = "with recursive rank(node, rank) as (\n  select ps_suppkey, 0.15 + 0.85 * sum(rank) / 4\n"
		 "  from rank, partsupp where node = ps_partkey group by ps_suppkey)  -- again until no rank changes\n"
		 "select node, rank from rank order by rank desc limit 10\n";
	o = join(p, o, scan(p, d, PARTSUPP), x_node, ps_partkey, (double)d->rows[PARTSUPP]);
	o = operator(p, OP_GROUP, o, (double)d->rows[SUPPLIER], "group by", "ps_suppkey; sum(rank)");
	o->keys[o->nr_keys++] = ps_suppkey;
	sum(o, col(x_rank));
	o = operator(p, OP_ITERATE, o, (double)d->rows[PART], "iterate", "until no rank changes, 20 times at most");
	o->key = ps_suppkey;
	o->units = ranks->units = d->rows[PART];
	t = top(p, o, 10, "top 10", "rank desc");
	t->columns[t->nr_columns++] = x_rank;
	t->columns[t->nr_columns++] = x_node;
	return OUTPUT(p, t, x_node, x_rank);
}

/*
 * Operators that all call the same function, for work in known proportions; and one whose work is of another length for each row, since
 * samples at even distances would come at the same places of rows that all take as long as that or half of it.
 */
static struct operator *calibrate(struct plan *p, const struct data *d)
{
	struct operator *o = scan(p, d, CUSTOMER);

	p->sql = "select sum(work(work8(work4(work2(work1(c_custkey))))))\nfrom customer\n";
	for (uint64_t units = 1; units <= 8; units *= 2) {
		char name[32];

		snprintf(name, sizeof(name), "work %d", (int)units);
		o = operator(p, OP_WORK, o, o->estimated_rows, name, "");
		o->units = units;
	}
	o = operator(p, OP_WORK, o, o->estimated_rows, "work at random", "");
	o = operator(p, OP_AGGREGATE, o, 1, "aggregate", "sum(work)");
	sum(o, col(x_work));
	return OUTPUT(p, o, x_sum0);
}

/* The same in generated code: each unit as many instructions, each of which waits for the one before it. */
static struct operator *calibrate_inline(struct plan *p, const struct data *d)
{
	struct operator *o = scan(p, d, CUSTOMER);

	p->sql = "select sum(work4(work2(work1(c_custkey))) & 65535)\nfrom customer\nwhere 2 * 50 > 99\n";
	o = selection(p, o, 1, bin(E_GT, bin(E_MUL, num(2), num(50)), num(99)), "2 * 50 > 99");
	for (uint64_t units = 1; units <= 4; units *= 2) {
		char name[32];

		snprintf(name, sizeof(name), "work %d", (int)units);
		o = operator(p, OP_WORK, o, o->estimated_rows, name, "");
		o->units = units;
		o->inlined = true;
	}
	o = operator(p, OP_AGGREGATE, o, 1, "aggregate", "sum(work & 65535)");
	sum(o, bin(E_AND, col(x_work), num(65535)));
	return OUTPUT(p, o, x_sum0);
}

static void mark_columns(struct plan *p, const struct expression *e)
{
	if (!e)
		return;
	if (e->kind == E_COLUMN)
		p->needs[e->value] = true;
	mark_columns(p, e->a);
	mark_columns(p, e->b);
}

static void mark_needs(struct plan *p)
{
	for (uint32_t i = 0; i < p->nr_operators; i++) {
		const struct operator *o = p->operators[i];

		mark_columns(p, o->predicate);
		for (int k = 0; k < o->nr_keys; k++)
			p->needs[o->keys[k]] = true;
		for (int s = 0; s < o->nr_sums; s++)
			mark_columns(p, o->sums[s].of);
		for (int c = 0; c < o->nr_columns; c++)
			p->needs[o->columns[c]] = true;
		if (o->kind == OP_JOIN || o->kind == OP_GROUPJOIN)
			p->needs[o->key] = p->needs[o->probe_key] = true;
		if (o->kind == OP_ITERATE)
			p->needs[o->key] = p->needs[x_sum0] = true;
		if (o->kind == OP_WORK)
			p->needs[c_custkey] = p->needs[x_work] = true;
	}
}

struct plan *plan_make(const char *query, const struct data *d)
{
	static const struct {
		const char *name;
		struct operator *(*make)(struct plan *p, const struct data *d);
	} queries[] = { { "fig9", fig9 }, { "fig10a", fig10a }, { "fig10b", fig10b }, { "q1", q1 }, { "q3", q3 },
		      { "q3-groupjoin", q3_groupjoin }, { "q6", q6 }, { "q16", q16 }, { "q18", q18 }, { "pagerank", pagerank },
		      { "calibrate", calibrate }, { "calibrate-inline", calibrate_inline } };

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
		if (strcmp(queries[i].name, query) == 0) {
			struct plan *p = calloc(1, sizeof(*p));

			if (!p)
				return NULL;
			p->name = queries[i].name;
			p->root = queries[i].make(p, d);
			mark_needs(p);
			return p;
		}
	return NULL;
}

bool plan_slow(struct plan *p, const char *what)
{
	const char *equals = strrchr(what, '=');
	long percent;
	char *end;

	if (!equals)
		return false;
	percent = strtol(equals + 1, &end, 10);
	if (end == equals + 1 || *end || percent < 0 || percent > 1000)
		return false;
	for (uint32_t i = 0; i < p->nr_operators; i++) {
		struct operator *o = p->operators[i];

		if (o->kind == OP_WORK && !o->inlined && strlen(o->name) == (size_t)(equals - what) &&
		    strncmp(o->name, what, strlen(o->name)) == 0) {
			o->slower = (uint64_t)percent;
			return true;
		}
	}
	return false;
}

static void print_operator(const struct operator *o, int depth)
{
	printf("%*s%s%s%s%s  (operator %u, %.0f rows expected)\n", 2 * depth, "", o->name, *o->detail ? " [" : "", o->detail,
	       *o->detail ? "]" : "", o->id, o->estimated_rows);
	if (o->input)
		print_operator(o->input, depth + 1);
	if (o->probe)
		print_operator(o->probe, depth + 1);
}

void plan_print(const struct plan *p)
{
	printf("%s\n", p->sql);
	print_operator(p->root, 0);
}
