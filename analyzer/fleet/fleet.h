/* SPDX-License-Identifier: MIT */
/* Exports a store's epochs to files, pushes them to servers of other programs, and reads them back. Context: thread. */
#ifndef TAILOR_FLEET_H
#define TAILOR_FLEET_H

#include "analyzer/store/rows.h"

struct fleet_what {
	struct window window;
	const char *host, *event; /* NULL: all */
};

/* Export a window to a file. format: "otlp", or "pprof", which has only one event, the given one or that of store_profiles_main_event(). If
 * path ends with .gz, the file is compressed. Return 0, or -errno with the reason in d; -EINVAL if there is no such format, -ENODATA if the
 * window has no samples. */
int fleet_export(struct store *s, const struct fleet_what *what, const char *format, const char *path, struct diag *d);

/* Return whether the text names servers in place of a store, as clickhouse[s]://HOST[:PORT][,HOST[:PORT]...]/DATABASE[@WINDOW] does.
 * fleet_address_bytes() returns the length of the address in such a text. */
bool fleet_is_named(const char *text);
size_t fleet_address_bytes(const char *text);
/* Return an address without its scheme, user and password, for messages, or any other text as it is. */
const char *fleet_shown(const char *text);
/* Read a window from such servers into a new store: hours (or, with functions, days) of one host, or of all hosts together. Return 0 and
 * *out, which the caller closes, or -errno with the reason in d. */
int fleet_open(const char *address, const struct window *w, const char *host, bool functions, struct store **out, struct diag *d);

/* fleet_push() fills this in with what was sent, and why something was not. */
struct fleet_pushed {
	unsigned requests, units; /* requests that were sent (OTLP: and accepted), and profiles, or hours and days, in accepted ones */
	const char *units_are;	  /* text that says what units are, for messages */
	unsigned had;	   /* units that the server has already */
	unsigned rejected; /* units that the server did not take, from requests that it accepted */
	unsigned waiting;  /* hours and days that are not sent yet, because they are not over */
	unsigned undated;  /* epochs that cannot be sent, because they are before or after the dates that the server can store */
	char message[256]; /* why units were rejected, or a warning of the server, or "" */
	double bytes; /* bytes of data in the requests that were sent, compressed if the requests are */
};
/* Push a window to a server. target: otlp+http[s]://HOST[:PORT][/PATH], or an address as of fleet_is_named(). Return 0, or -errno with the
 * reason in d; -EINVAL if it is no such target. *p has what was done, also after an error. */
int fleet_push(struct store *s, const struct fleet_what *what, const char *target, struct fleet_pushed *p, struct diag *d);

#endif
