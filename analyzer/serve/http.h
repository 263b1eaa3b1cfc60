/* SPDX-License-Identifier: MIT */
/*
 * The server of `tailor serve`: HTTP on the loopback interface, for requests with the random token of its address.  The one door to
 * libmicrohttpd, which is loaded when it is needed: it comes with a library for TLS, which no other command should wait for.
 *
 *   GET  /TOKEN/                  the page
 *   GET  /TOKEN/facts/TRACE       what the numbers of trace 0 or 1 stand for, as JSON
 *   GET  /TOKEN/column/TRACE/NAME a column, as it is in memory
 *   POST /TOKEN/sums/TRACE        questions.h
 *
 * Context: thread.
 */
#ifndef TAILOR_HTTP_H
#define TAILOR_HTTP_H

#include "analyzer/serve/served.h"
#include "jitreg/base/diag.h"

#include <stdio.h>

struct http_page {
	const char *title;
	struct served *trace;
	uint32_t nr_traces;
};

/* Is libmicrohttpd here, at build time and now?  0, or -ENOSYS or -ENOENT and a sentence. */
int http_ready(struct diag *d);
/* Print the address to `to`, and serve until SIGINT, SIGTERM or SIGHUP.  port 0: a free one.  0 or -errno. */
int http_serve(const struct http_page *page, uint16_t port, FILE *to, struct diag *d);

#endif
