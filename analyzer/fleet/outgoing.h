/* SPDX-License-Identifier: MIT */
/* Names, rows and the manifest of a host for one ClickHouse server, gathered until there is enough for a request. Context: thread. */
#ifndef TAILOR_FLEET_OUTGOING_H
#define TAILOR_FLEET_OUTGOING_H

#include "analyzer/fleet/clickhouse.h"
#include "analyzer/fleet/fleet.h"
#include "jitreg/base/hash_map.h"

/* A struct of zeros is empty. */
struct outgoing {
	FILE *rows, *manifest, *series, *functions;
	char *text[4];
	size_t bytes[4];
	struct hash_map series_put, functions_put; /* hashes that were put, also by earlier requests */
	unsigned nr_units, nr_partitions;
	int64_t week[2]; /* the last week of each tier that has a partition */
};

/* Return a number of the texts, which is the same on each machine and never 0. */
uint64_t outgoing_hash(const char *const *text, int nr);
/* Does an hour or a day with this beginning need a request of its own? A server refuses an insert into too many partitions. */
bool outgoing_is_full(const struct outgoing *o, enum clickhouse_tier tier, int64_t begin_s);
/* Call this before rows and manifest of an hour or a day are written. Return false without memory. */
bool outgoing_begin_unit(struct outgoing *o, enum clickhouse_tier tier, int64_t begin_s);
/* Put the names of a series or function if they were not put before, and return their hash. Return false without memory. */
bool outgoing_put_series(struct outgoing *o, struct store *s, int64_t id, uint64_t *hash);
bool outgoing_put_function(struct outgoing *o, struct store *s, int64_t id, uint64_t *hash);
/* Send everything: names before the rows that use them, and the manifest last. Return 0, or -errno with a sentence. */
int outgoing_send(struct outgoing *o, const struct clickhouse *to, int server, struct fleet_pushed *p, struct diag *d);
void outgoing_fini(struct outgoing *o);

#endif
