/* SPDX-License-Identifier: MIT */
/* Pushes a store to ClickHouse. Context: thread. */
#ifndef TAILOR_FLEET_PUSH_CLICKHOUSE_H
#define TAILOR_FLEET_PUSH_CLICKHOUSE_H

#include "analyzer/fleet/fleet.h"

/*
 * Push the hours and days that are over, and that the servers do not have, or have with fewer epochs. The window is extended to whole days
 * (UTC), and all events are pushed, whatever what->event is. The store keeps no account of this. All servers are asked what they have, so
 * the next push sends what a failed one did not, and an hour of a host stays on its server if servers are added to the list. Return 0, or
 * -errno with the reason in d; p has what was done.
 */
int push_clickhouse(struct store *s, const struct fleet_what *what, const char *target, struct fleet_pushed *p, struct diag *d);

#endif
