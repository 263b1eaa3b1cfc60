/* SPDX-License-Identifier: MIT */
/* Pushing to ClickHouse. Context: thread. */
#ifndef TAILOR_FLEET_PUSH_CLICKHOUSE_H
#define TAILOR_FLEET_PUSH_CLICKHOUSE_H

#include "analyzer/fleet/fleet.h"

/*
 * Push complete hours and days of the window that the servers do not have, or have with fewer epochs. The next push sends what a failed one
 * did not, and nothing is stored here. All servers are asked for their units, so that a host's hour stays on one of them also after the
 * list of servers has changed.
 */
int push_clickhouse(struct store *s, const struct fleet_what *what, const char *target, struct fleet_pushed *p, struct diag *d);

#endif
