/* SPDX-License-Identifier: MIT */
/*
 * Serves pages by HTTP on the loopback interface, for `tailor serve`, to requests with the random token of its address. Only http.c
 * uses libmicrohttpd. The library is loaded when it is needed, since it brings a library for TLS that no other command should wait for.
 *
 *   GET  /TOKEN/                  the page
 *   GET  /TOKEN/facts/TRACE       names for the numbers in columns of trace 0 or 1, as JSON
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

/* Loads libmicrohttpd.  Returns 0, or with the reason in d -ENOSYS if it was missing at build time, or -ENOENT if it cannot be loaded or
 * lacks a function. */
int http_ready(struct diag *d);
/* Prints the address to `to`, and serves until SIGINT, SIGTERM or SIGHUP. port 0: a free one.  Returns 0, or -errno with the reason in
 * d. */
int http_serve(const struct http_page *page, uint16_t port, FILE *to, struct diag *d);

#endif
