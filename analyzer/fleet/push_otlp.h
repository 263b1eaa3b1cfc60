/* SPDX-License-Identifier: MIT */
/* Pushing to receivers of OTLP's profiles by HTTP.  Context: thread. */
#ifndef TAILOR_FLEET_PUSH_OTLP_H
#define TAILOR_FLEET_PUSH_OTLP_H

#include "analyzer/fleet/fleet.h"

/*
 * url: http[s]://HOST[:PORT][/PATH].  Each request is sent at most once, as far as a server may have taken it: receivers count a profile
 * twice that they get twice.  Tried again is what was not sent, and what the server asks for again (429, 502, 503, 504).
 */
int push_otlp(struct store *s, const struct fleet_what *what, const char *url, struct fleet_pushed *p, struct diag *d);

#endif
