/* SPDX-License-Identifier: MIT */
/*
 * The generator: TPC-H's shapes (specification, clause 4.2) for the columns that the queries use; each value is a hash of
 * its place, so any part can be made alone and every machine makes the same.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#define NAME_(table, name) #name,
const char *const column_names[] = { COLUMNS(NAME_) "sum0", "sum1", "sum2", "sum3", "sum4", "count", "avg", "work", "entry", "node",
				     "rank" };
#undef NAME_
#define TABLE_(table, name) table,
const enum table_id column_tables[] = { COLUMNS(TABLE_) };
#undef TABLE_
const char *const table_names[] = { "customer", "orders", "lineitem", "part", "partsupp", "supplier" };

static const char segments[5][11] = { "AUTOMOBILE", "BUILDING  ", "FURNITURE ", "HOUSEHOLD ", "MACHINERY " };

/* A type is one syllable of each list: 150 of them, kept as numbers in this order, a dictionary that keeps prefixes together. */
static const char *const syllables[2][6] = {
	{ "STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO" },
	{ "ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED", "" },
};
#define TYPES_THIRD 5 /* TIN, NICKEL, BRASS, STEEL, COPPER */

/* splitmix64 (S. Vigna, https://prng.di.unimi.it/splitmix64.c, public domain) */
static uint64_t value(uint64_t column, uint64_t row)
{
	uint64_t x = (column + 1) * 0x9e3779b97f4a7c15ull + row * 0xd1342543de82ef95ull;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static int64_t uniform(uint64_t column, uint64_t row, int64_t low, int64_t high)
{
	return low + (int64_t)(value(column, row) % (uint64_t)(high - low + 1));
}

/* H. Hinnant, https://howardhinnant.github.io/date_algorithms.html */
int64_t data_day(int year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year, era = y / 400, yoe = y - era * 400;
	int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

int64_t data_type(const char *first, const char *second)
{
	for (int i = 0; i < 6; i++)
		for (int j = 0; j < 5; j++)
			if (strcmp(first, syllables[0][i]) == 0 && strcmp(second, syllables[1][j]) == 0)
				return (i * 5 + j) * TYPES_THIRD;
	return -1;
}

/* One supplier in a hundred has complaints: more than in TPC-H, so that small scales have them too. */
static const char *comment(uint64_t supplier)
{
	static const char *const comments[] = {
		"slyly bold instructions wake furiously among the final, silent Customer accounts",
		"quickly ironic packages haggle. Complaints are few; each Customer is pending",
		"carefully regular deposits integrate above the blithely express requests",
		"furiously even Customer theodolites Recommend the special, unusual foxes",
	};

	return value(s_comment, supplier) % 100 == 0 ? "even deposits sleep. Customer pinto beans nag; the Complaints are bold" :
						       comments[value(s_comment, supplier) % 4];
}

/* Clause 4.2.3: four suppliers a part. */
static void generate_parts(struct data *d)
{
	int64_t nr_suppliers = (int64_t)d->rows[SUPPLIER];

	for (uint64_t p = 0; p < d->rows[PART]; p++) {
		d->column[p_partkey][p] = (int64_t)p + 1;
		d->column[p_brand][p] = uniform(p_brand, p, 1, 5) * 10 + uniform(103, p, 1, 5);
		d->column[p_type][p] = uniform(p_type, p, 0, 6 * 5 * TYPES_THIRD - 1);
		d->column[p_size][p] = uniform(p_size, p, 1, 50);
		for (int64_t i = 0; i < 4; i++) {
			d->column[ps_partkey][4 * p + (uint64_t)i] = (int64_t)p + 1;
			d->column[ps_suppkey][4 * p + (uint64_t)i] =
				((int64_t)p + 1 + i * (nr_suppliers / 4 + (int64_t)p / nr_suppliers)) % nr_suppliers + 1;
		}
	}
	for (uint64_t s = 0; s < d->rows[SUPPLIER]; s++) {
		d->column[s_suppkey][s] = (int64_t)s + 1;
		d->column[s_comment][s] = (int64_t)(intptr_t)comment(s);
	}
}

static uint64_t lines_of(uint64_t order)
{
	return (uint64_t)uniform(100, order, 1, 7);
}

int data_generate(struct data *d, double scale)
{
	int64_t first = data_day(1992, 1, 1), last = data_day(1998, 8, 2), current = data_day(1995, 6, 17);
	uint64_t line = 0;

	d->rows[CUSTOMER] = (uint64_t)(150000 * scale) + 1;
	d->rows[ORDERS] = (uint64_t)(1500000 * scale) + 1;
	d->rows[PART] = (uint64_t)(200000 * scale) + 1;
	d->rows[PARTSUPP] = 4 * d->rows[PART];
	d->rows[SUPPLIER] = (uint64_t)(10000 * scale) + 1;
	d->rows[LINEITEM] = 0;
	for (uint64_t o = 0; o < d->rows[ORDERS]; o++)
		d->rows[LINEITEM] += lines_of(o);
	for (int c = 0; c < NR_STORED; c++) {
		d->column[c] = malloc(d->rows[column_tables[c]] * sizeof(int64_t));
		if (!d->column[c])
			return -1;
	}
	for (uint64_t c = 0; c < d->rows[CUSTOMER]; c++) {
		d->column[c_custkey][c] = (int64_t)c + 1;
		d->column[c_mktsegment][c] = (int64_t)(intptr_t)segments[value(c_mktsegment, c) % 5];
	}
	for (uint64_t o = 0; o < d->rows[ORDERS]; o++) {
		int64_t key = (int64_t)((o / 8) * 32 + o % 8 + 1); /* a quarter of the key space, as in TPC-H */
		int64_t date = uniform(o_orderdate, o, first, last);

		d->column[o_orderkey][o] = key;
		d->column[o_custkey][o] = uniform(o_custkey, o, 1, (int64_t)d->rows[CUSTOMER]);
		d->column[o_orderdate][o] = date;
		d->column[o_shippriority][o] = 0;
		d->column[o_totalprice][o] = 0;
		for (uint64_t n = lines_of(o); n > 0; n--, line++) {
			int64_t quantity = uniform(l_quantity, line, 1, 50);
			int64_t ship = date + uniform(l_shipdate, line, 1, 121), receipt = ship + uniform(101, line, 1, 30);

			d->column[l_orderkey][line] = key;
			d->column[l_quantity][line] = quantity;
			d->column[l_extendedprice][line] = quantity * uniform(l_extendedprice, line, 90000, 209900) / 100;
			d->column[l_discount][line] = uniform(l_discount, line, 0, 10);
			d->column[l_tax][line] = uniform(l_tax, line, 0, 8);
			d->column[l_shipdate][line] = ship;
			d->column[l_returnflag][line] = receipt > current ? 'N' : value(102, line) % 2 ? 'R' : 'A';
			d->column[l_linestatus][line] = ship > current ? 'O' : 'F';
			d->column[l_partkey][line] = uniform(l_partkey, line, 1, (int64_t)d->rows[PART]);
			d->column[o_totalprice][o] += d->column[l_extendedprice][line] * (100 + d->column[l_tax][line]) *
						      (100 - d->column[l_discount][line]) / 10000;
		}
	}
	generate_parts(d);
	return 0;
}
