/* SPDX-License-Identifier: MIT */
/* Reads a window from ClickHouse into a store. Context: thread. */
#ifndef TAILOR_FLEET_READ_CLICKHOUSE_H
#define TAILOR_FLEET_READ_CLICKHOUSE_H

#include "analyzer/store/rows.h"

/*
 * Read a window into a new store, of which an epoch is an hour, or with functions a day, of all hosts together or of the given host. The
 * servers make the sums. Return 0 and *out, which the caller closes, or -errno with the reason in d.
 */
int read_clickhouse(const char *address, const struct window *w, const char *host, bool functions, struct store **out, struct diag *d);

#endif
