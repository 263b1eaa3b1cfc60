/* SPDX-License-Identifier: MIT */
/* Pushing to ClickHouse.  Context: thread. */
#ifndef TAILOR_FLEET_PUSH_CLICKHOUSE_H
#define TAILOR_FLEET_PUSH_CLICKHOUSE_H

#include "analyzer/fleet/fleet.h"

/*
 * Complete hours and days of the window that the servers have not, or not with as many epochs.  What a failure leaves undone the next push
 * does: nothing is written down here.  All servers are asked what they have, so that a host's hour is on one of them also after their
 * list has changed.
 */
int push_clickhouse(struct store *s, const struct fleet_what *what, const char *target, struct fleet_pushed *p, struct diag *d);

#endif
