/* SPDX-License-Identifier: MIT */
/* A window of ClickHouse in place of a store's.  Context: thread. */
#ifndef TAILOR_FLEET_READ_CLICKHOUSE_H
#define TAILOR_FLEET_READ_CLICKHOUSE_H

#include "analyzer/store/rows.h"

/*
 * The servers sum up: an epoch of the store is an hour of all hosts together (or of the one), and with functions a day.  0, or -errno with
 * a sentence.
 */
int read_clickhouse(const char *address, const struct window *w, const char *host, bool functions, struct store **out, struct diag *d);

#endif
