/* SPDX-License-Identifier: MIT */
/* A store's epochs, in files and servers of other programs.  Context: thread. */
#ifndef TAILOR_FLEET_H
#define TAILOR_FLEET_H

#include "analyzer/store/rows.h"

struct fleet_what {
	struct window window;
	const char *host, *event; /* NULL: all */
};

/* format: "otlp", or "pprof" (of one event: the one with the most samples, unless one is named); .gz at the end of path compresses.  0, or
 * -errno with a sentence: -EINVAL: no such format. */
int fleet_export(struct store *s, const struct fleet_what *what, const char *format, const char *path, struct diag *d);

/* In place of a store: clickhouse[s]://HOST[:PORT][,HOST[:PORT]...]/DATABASE[@WINDOW].  How much of it is the address. */
bool fleet_is_named(const char *text);
size_t fleet_address_bytes(const char *text);
/* As it may be printed: an address without user and password; what is none as it is. */
const char *fleet_shown(const char *text);
/* Its window as a store: hours (functions: days) of all hosts together, or of one.  0, or -errno with a sentence. */
int fleet_open(const char *address, const struct window *w, const char *host, bool functions, struct store **out, struct diag *d);

/* What was sent, or why not. */
struct fleet_pushed {
	unsigned requests, units;
	const char *units_are;
	unsigned had;	   /* units that the server has */
	unsigned rejected; /* of units: the server took the request without them */
	unsigned waiting;  /* hours and days that are not over */
	unsigned undated;  /* epochs outside of the dates that the server has */
	char message[256]; /* why some were rejected, or a warning of the server; "": it had none */
	double bytes;
};
/* target: otlp+http[s]://HOST[:PORT][/PATH], or clickhouse[s]://.  0, or -errno with a sentence: -EINVAL: no such target. */
int fleet_push(struct store *s, const struct fleet_what *what, const char *target, struct fleet_pushed *p, struct diag *d);

#endif
