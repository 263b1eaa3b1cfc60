/* SPDX-License-Identifier: MIT */
/* Pushing to receivers of OTLP's profiles by HTTP. Context: thread. */
#ifndef TAILOR_FLEET_PUSH_OTLP_H
#define TAILOR_FLEET_PUSH_OTLP_H

#include "analyzer/fleet/fleet.h"

/*
 * url: http[s]://HOST[:PORT][/PATH]. A request that a server may have taken is not sent again, because receivers count a profile twice if
 * they get it twice. Requests that were not sent, and those that the server asks for again (429, 502, 503, 504), are repeated.
 */
int push_otlp(struct store *s, const struct fleet_what *what, const char *url, struct fleet_pushed *p, struct diag *d);

#endif
