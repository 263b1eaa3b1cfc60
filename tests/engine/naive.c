/* SPDX-License-Identifier: MIT */
/*
 * The queries once more, each written down by hand with sorted arrays and nested loops of its own, sharing nothing with the
 * compiler or the runtime but the data: what their results are compared with.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#define V(which, row) (d->column[which][row])

static void add(struct result *r, const int64_t *row, int nr)
{
	r->nr_rows++;
	r->checksum += row_hash(row, nr);
}

/* Lineitems lie in the order of their orders, as the generator made them: a merge join needs no table. */
static struct result fig9(const struct data *d)
{
	struct result r = { 0 };
	uint64_t line = 0;

	for (uint64_t o = 0; o < d->rows[ORDERS]; o++) {
		int64_t row[3] = { V(o_orderkey, o), 0, 0 };

		for (; line < d->rows[LINEITEM] && V(l_orderkey, line) == row[0]; line++) {
			row[1] += V(l_extendedprice, line);
			row[2]++;
		}
		if (V(o_orderdate, o) < data_day(1995, 4, 1) && row[2]) {
			row[1] /= row[2];
			add(&r, row, 2);
		}
	}
	return r;
}

static struct result q1(const struct data *d)
{
	static const char flags[] = "ANR", states[] = "FO";
	struct result r = { 0 };

	for (int f = 0; f < 3; f++)
		for (int s = 0; s < 2; s++) {
			int64_t row[8] = { flags[f], states[s] };

			for (uint64_t l = 0; l < d->rows[LINEITEM]; l++) {
				int64_t discounted;

				if (V(l_shipdate, l) > data_day(1998, 9, 2) || V(l_returnflag, l) != flags[f] ||
				    V(l_linestatus, l) != states[s])
					continue;
				discounted = V(l_extendedprice, l) * (100 - V(l_discount, l));
				row[2] += V(l_quantity, l);
				row[3] += V(l_extendedprice, l);
				row[4] += discounted;
				row[5] += discounted * (100 + V(l_tax, l));
				row[6] += V(l_discount, l);
				row[7]++;
			}
			if (row[7])
				add(&r, row, 8);
		}
	return r;
}

static int by_revenue(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	if (x[1] != y[1])
		return x[1] > y[1] ? -1 : 1;
	if (x[2] != y[2])
		return x[2] < y[2] ? -1 : 1;
	return x[0] < y[0] ? -1 : x[0] > y[0];
}

static struct result q3(const struct data *d)
{
	int64_t day = data_day(1995, 3, 15), (*rows)[4] = malloc(d->rows[ORDERS] * sizeof(*rows));
	struct result r = { 0 };
	uint64_t line = 0, nr = 0;

	for (uint64_t o = 0; rows && o < d->rows[ORDERS]; o++) {
		int64_t revenue = 0, key = V(o_orderkey, o);
		uint64_t customer = (uint64_t)V(o_custkey, o) - 1; /* keys are 1, 2, 3, ... */
		bool any = false;

		for (; line < d->rows[LINEITEM] && V(l_orderkey, line) == key; line++)
			if (V(l_shipdate, line) > day) {
				revenue += V(l_extendedprice, line) * (100 - V(l_discount, line));
				any = true;
			}
		if (any && V(o_orderdate, o) < day && memcmp((const char *)(intptr_t)V(c_mktsegment, customer), "BUILDING", 8) == 0) {
			rows[nr][0] = key;
			rows[nr][1] = revenue;
			rows[nr][2] = V(o_orderdate, o);
			rows[nr++][3] = V(o_shippriority, o);
		}
	}
	if (nr)
		qsort(rows, nr, sizeof(*rows), by_revenue);
	for (uint64_t i = 0; i < nr && i < 10; i++)
		add(&r, rows[i], 4);
	free(rows);
	return r;
}

static struct result q6(const struct data *d)
{
	struct result r = { 0 };
	int64_t sum = 0;

	for (uint64_t l = 0; l < d->rows[LINEITEM]; l++)
		if (V(l_shipdate, l) >= data_day(1994, 1, 1) && V(l_shipdate, l) < data_day(1995, 1, 1) && V(l_discount, l) >= 5 &&
		    V(l_discount, l) <= 7 && V(l_quantity, l) < 24)
			sum += V(l_extendedprice, l) * V(l_discount, l);
	add(&r, &sum, 1);
	return r;
}

static int by_four(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	for (int i = 0; i < 4; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/* Four lines of partsupp for each part, in the order of the parts; keys are 1, 2, 3, ... */
static struct result q16(const struct data *d)
{
	static const bool wanted[51] = { [49] = true, [14] = true, [23] = true, [45] = true, [19] = true, [3] = true, [36] = true,
					 [9] = true };
	int64_t (*rows)[4] = malloc(d->rows[PARTSUPP] * sizeof(*rows)), polished = data_type("MEDIUM", "POLISHED") / 5;
	struct result r = { 0 };
	uint64_t nr = 0;

	for (uint64_t n = 0; rows && n < d->rows[PARTSUPP]; n++) {
		uint64_t part = n / 4, supplier = (uint64_t)V(ps_suppkey, n) - 1;
		const char *customer = strstr((const char *)(intptr_t)V(s_comment, supplier), "Customer");

		if (!wanted[V(p_size, part)] || V(p_brand, part) == 45 || V(p_type, part) / 5 == polished ||
		    (customer && strstr(customer + 8, "Complaints")))
			continue;
		rows[nr][0] = V(p_brand, part);
		rows[nr][1] = V(p_type, part);
		rows[nr][2] = V(p_size, part);
		rows[nr++][3] = V(ps_suppkey, n);
	}
	if (nr)
		qsort(rows, nr, sizeof(*rows), by_four);
	for (uint64_t i = 0, from = 0, distinct = 0; i < nr; i++) {
		if (i == from || rows[i][3] != rows[i - 1][3])
			distinct++;
		if (i + 1 == nr || memcmp(rows[i + 1], rows[i], 3 * sizeof(rows[0][0])) != 0) {
			rows[i][3] = (int64_t)distinct;
			add(&r, rows[i], 4);
			from = i + 1;
			distinct = 0;
		}
	}
	free(rows);
	return r;
}

static struct result fig10(const struct data *d)
{
	int64_t sum = 0, half = (int64_t)d->rows[ORDERS] * 2;
	struct result r = { 0 };

	for (uint64_t l = 0; l < d->rows[LINEITEM]; l++)
		if (V(l_orderkey, l) <= half && V(p_size, V(l_partkey, l) - 1) <= 25)
			sum += V(l_extendedprice, l);
	add(&r, &sum, 1);
	return r;
}

static int by_price(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	if (x[3] != y[3])
		return x[3] > y[3] ? -1 : 1;
	if (x[2] != y[2])
		return x[2] < y[2] ? -1 : 1;
	return x[1] < y[1] ? -1 : x[1] > y[1];
}

static struct result q18(const struct data *d)
{
	int64_t (*rows)[5] = malloc(d->rows[ORDERS] * sizeof(*rows));
	struct result r = { 0 };
	uint64_t line = 0, nr = 0;

	for (uint64_t o = 0; rows && o < d->rows[ORDERS]; o++) {
		int64_t quantity = 0;

		for (; line < d->rows[LINEITEM] && V(l_orderkey, line) == V(o_orderkey, o); line++)
			quantity += V(l_quantity, line);
		if (quantity <= 300)
			continue;
		rows[nr][0] = V(o_custkey, o);
		rows[nr][1] = V(o_orderkey, o);
		rows[nr][2] = V(o_orderdate, o);
		rows[nr][3] = V(o_totalprice, o);
		rows[nr++][4] = quantity;
	}
	if (nr)
		qsort(rows, nr, sizeof(*rows), by_price);
	for (uint64_t i = 0; i < nr && i < 100; i++)
		add(&r, rows[i], 5);
	free(rows);
	return r;
}

static int64_t work(int64_t units, int64_t seed)
{
	int64_t steps = units ? 500 * units : seed & 8191;
	uint64_t x = (uint64_t)seed | 1;

	for (int64_t i = 0; i < steps; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return (int64_t)x;
}

static struct result calibrate(const struct data *d)
{
	struct result r = { 0 };
	uint64_t sum = 0;
	int64_t row;

	for (uint64_t c = 0; c < d->rows[CUSTOMER]; c++)
		sum += (uint64_t)work(0, work(8, work(4, work(2, work(1, V(c_custkey, c))))));
	row = (int64_t)sum;
	add(&r, &row, 1);
	return r;
}

/* What inline.c's rounds compute. */
static struct result calibrate_inline(const struct data *d)
{
	struct result r = { 0 };
	int64_t row = 0;

	for (uint64_t c = 0; c < d->rows[CUSTOMER]; c++) {
		uint64_t x = (uint64_t)V(c_custkey, c);

		for (uint64_t units = 1; units <= 4; units *= 2)
			for (uint64_t i = 0; i < WORK_ROUNDS * units; i++) {
				x *= 0x1e3779b97f4a7c14 + 2 * i + 1;
				x ^= x >> 29;
			}
		row += (int64_t)(x & 65535);
	}
	add(&r, &row, 1);
	return r;
}

static int by_rank(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return x[1] != y[1] ? (x[1] > y[1] ? -1 : 1) : (x[0] > y[0]) - (x[0] < y[0]);
}

static struct result pagerank(const struct data *d)
{
	uint64_t nr = d->rows[PART];
	int64_t (*rows)[2] = malloc(nr * sizeof(*rows)), *sum = malloc(nr * sizeof(*sum));
	struct result r = { 0 };
	bool changed = rows && sum;

	for (uint64_t i = 0; changed && i < nr; i++) {
		rows[i][0] = (int64_t)i + 1;
		rows[i][1] = RANK_UNIT;
	}
	for (int iteration = 0; changed && iteration < ITERATIONS_MAX; iteration++) {
		memset(sum, 0, nr * sizeof(*sum));
		for (uint64_t n = 0; n < d->rows[PARTSUPP]; n++)
			sum[V(ps_suppkey, n) - 1] += rows[V(ps_partkey, n) - 1][1];
		changed = false;
		for (uint64_t i = 0; i < nr; i++) {
			int64_t rank = RANK_OF(sum[i]);

			changed |= rank != rows[i][1];
			rows[i][1] = rank;
		}
	}
	if (rows && sum)
		qsort(rows, nr, sizeof(*rows), by_rank);
	for (uint64_t i = 0; rows && sum && i < nr && i < 10; i++)
		add(&r, rows[i], 2);
	free(rows);
	free(sum);
	return r;
}

struct result naive(const char *query, const struct data *d)
{
	static const struct {
		const char *name;
		struct result (*evaluate)(const struct data *d);
	} queries[] = { { "fig9", fig9 }, { "fig10a", fig10 }, { "fig10b", fig10 }, { "q1", q1 }, { "q3", q3 }, { "q3-groupjoin", q3 },
			{ "q6", q6 }, { "q16", q16 }, { "q18", q18 }, { "pagerank", pagerank },
			{ "calibrate-inline", calibrate_inline } };

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
		if (strcmp(queries[i].name, query) == 0)
			return queries[i].evaluate(d);
	return calibrate(d);
}
