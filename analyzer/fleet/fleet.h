/* SPDX-License-Identifier: MIT */
/* A store's epochs in files and servers of other programs. Context: thread. */
#ifndef TAILOR_FLEET_H
#define TAILOR_FLEET_H

#include "analyzer/store/rows.h"

struct fleet_what {
	struct window window;
	const char *host, *event; /* NULL: all */
};

/* Export a window to a file. format: "otlp", or "pprof" (one event: the given one, or else the one with the most samples). .gz at the end
 * of path compresses. Return 0, or -errno with a sentence. -EINVAL: no such format. */
int fleet_export(struct store *s, const struct fleet_what *what, const char *format, const char *path, struct diag *d);

/* Does the text name a fleet in place of a store: clickhouse[s]://HOST[:PORT][,HOST[:PORT]...]/DATABASE[@WINDOW]? fleet_address_bytes()
 * returns the length of the address in it. */
bool fleet_is_named(const char *text);
size_t fleet_address_bytes(const char *text);
/* Return an address without user and password, for messages. Other texts are returned as they are. */
const char *fleet_shown(const char *text);
/* Read its window into a store: hours (with functions: days) of one host, or of all hosts together. Return 0, or -errno with a sentence. */
int fleet_open(const char *address, const struct window *w, const char *host, bool functions, struct store **out, struct diag *d);

/* The numbers of a push, and the reason if something was not sent. */
struct fleet_pushed {
	unsigned requests, units;
	const char *units_are;
	unsigned had;	   /* units that the server already has */
	unsigned rejected; /* units that the server left out of a request that it accepted */
	unsigned waiting;  /* hours and days that are not over */
	unsigned undated;  /* epochs outside of the dates that the server has */
	char message[256]; /* why some were rejected, or a warning of the server, or "" */
	double bytes;
};
/* Push a window to a server. target: otlp+http[s]://HOST[:PORT][/PATH], or clickhouse[s]://. Return 0, or -errno with a sentence. -EINVAL:
 * no such target. */
int fleet_push(struct store *s, const struct fleet_what *what, const char *target, struct fleet_pushed *p, struct diag *d);

#endif
