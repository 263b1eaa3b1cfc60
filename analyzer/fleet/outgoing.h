/* SPDX-License-Identifier: MIT */
/* Names, rows and the manifest of a host for one ClickHouse server, gathered until there is enough for a request.  Context: thread. */
#ifndef TAILOR_FLEET_OUTGOING_H
#define TAILOR_FLEET_OUTGOING_H

#include "analyzer/fleet/clickhouse.h"
#include "analyzer/fleet/fleet.h"
#include "jitreg/base/hash_map.h"

/* Zeros: there is nothing. */
struct outgoing {
	FILE *rows, *manifest, *series, *functions;
	char *text[4];
	size_t bytes[4];
	struct hash_map series_put, functions_put; /* hashes that were put, also by earlier requests */
	unsigned nr_units, nr_partitions;
	int64_t week[2]; /* the last one, by tier, where there is a partition */
};

/* A number of these texts, the same on each machine; never 0. */
uint64_t outgoing_hash(const char *const *text, int nr);
/* Does an hour or a day of that begin need a request of its own?  A server refuses an insert into too many partitions. */
bool outgoing_is_full(const struct outgoing *o, enum clickhouse_tier tier, int64_t begin_s);
/* Before rows and manifest of an hour or a day are written.  false: no memory. */
bool outgoing_begin_unit(struct outgoing *o, enum clickhouse_tier tier, int64_t begin_s);
/* Their hashes.  false: no memory. */
bool outgoing_put_series(struct outgoing *o, struct store *s, int64_t id, uint64_t *hash);
bool outgoing_put_function(struct outgoing *o, struct store *s, int64_t id, uint64_t *hash);
/* All that there is: names before the rows that have them, the manifest last.  0, or -errno with a sentence. */
int outgoing_send(struct outgoing *o, const struct clickhouse *to, int server, struct fleet_pushed *p, struct diag *d);
void outgoing_fini(struct outgoing *o);

#endif
