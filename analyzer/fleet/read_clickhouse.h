/* SPDX-License-Identifier: MIT */
/* A window of ClickHouse in place of a store's window. Context: thread. */
#ifndef TAILOR_FLEET_READ_CLICKHOUSE_H
#define TAILOR_FLEET_READ_CLICKHOUSE_H

#include "analyzer/store/rows.h"

/*
 * Read a window. The servers make the sums: an epoch of the store is an hour of all hosts together (or of the given host), and with
 * functions a day. Return 0, or -errno with a sentence.
 */
int read_clickhouse(const char *address, const struct window *w, const char *host, bool functions, struct store **out, struct diag *d);

#endif
