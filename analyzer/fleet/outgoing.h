/* SPDX-License-Identifier: MIT */
/* Gathers names, rows and the manifest of a host for one ClickHouse server until there is enough for a request. Context: thread. */
#ifndef TAILOR_FLEET_OUTGOING_H
#define TAILOR_FLEET_OUTGOING_H

#include "analyzer/fleet/clickhouse.h"
#include "analyzer/fleet/fleet.h"
#include "jitreg/base/hash_map.h"

/* A struct outgoing has the data that are to be sent to one server. A struct of zeros is empty. */
struct outgoing {
	FILE *rows, *manifest, *series, *functions;
	char *text[4];
	size_t bytes[4];
	struct hash_map series_put, functions_put; /* hashes of names that were put, also into earlier requests */
	unsigned nr_units, nr_partitions;
	int64_t week[2]; /* [tier - 1]: number of the week that was begun last; 0: none in this request */
};

/* Return a hash of the texts, which is the same on each machine. If memory runs out, it is 0 or 1. */
uint64_t outgoing_hash(const char *const *text, int nr);
/* Return whether the request must be sent before an hour or a day with this beginning is added. It must if its rows have enough bytes, or
 * if the unit would need one partition too many, because a server refuses such an insert. */
bool outgoing_is_full(const struct outgoing *o, enum clickhouse_tier tier, int64_t begin_s);
/* Begin an hour or a day, before its rows and its line of the manifest are written to o. Return false if memory runs out. */
bool outgoing_begin_unit(struct outgoing *o, enum clickhouse_tier tier, int64_t begin_s);
/* Put the names of a series or function of the store, unless they have been put, and set *hash to their hash, which is the id in the
 * tables. For function 0, it is 0. Return false if memory runs out. */
bool outgoing_put_series(struct outgoing *o, struct store *s, int64_t id, uint64_t *hash);
bool outgoing_put_function(struct outgoing *o, struct store *s, int64_t id, uint64_t *hash);
/* Send everything that was gathered: names before the rows that use them, and the manifest last. Add what was sent to p, with a request
 * that failed, but without its hours and days. Return 0, or -errno with the reason in d. */
int outgoing_send(struct outgoing *o, const struct clickhouse *to, int server, struct fleet_pushed *p, struct diag *d);
void outgoing_fini(struct outgoing *o);

#endif
