/* SPDX-License-Identifier: MIT */
/* Pushes a store to receivers of OTLP's profiles by HTTP. Context: thread. */
#ifndef TAILOR_FLEET_PUSH_OTLP_H
#define TAILOR_FLEET_PUSH_OTLP_H

#include "analyzer/fleet/fleet.h"

/*
 * Push a window. url: http[s]://HOST[:PORT][/PATH]. A request that the server may have taken is not sent again, because receivers count a
 * profile twice if they get it twice. Requests that were not sent, or that the server asks for again (429, 502, 503, 504), are repeated a
 * few times. Return 0, or -errno with the reason in d; p has what was done.
 */
int push_otlp(struct store *s, const struct fleet_what *what, const char *url, struct fleet_pushed *p, struct diag *d);

#endif
