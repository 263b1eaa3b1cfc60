/* SPDX-License-Identifier: MIT */
/* Sends requests to a server by libcurl, which is loaded at the first request. Context: thread. */
#ifndef TAILOR_FLEET_HTTP_H
#define TAILOR_FLEET_HTTP_H

#include "jitreg/base/diag.h"

#include <stdbool.h>
#include <stddef.h>

struct http_request {
	const char *url; /* http:// or https://; user and password may be in it, or in ~/.netrc */
	const char *headers[4]; /* "name: value"; NULL ends them */
	const void *body;
	size_t nr;
	size_t answer_max; /* maximum number of bytes of the answer's body; -EFBIG is returned for a larger one */
	unsigned limit_s;  /* seconds for the whole request with its answer; 0: 300 s */
};

struct http_answer {
	long status;	    /* HTTP status */
	long retry_after_s; /* seconds after which the server asks for a repetition; 0: it gives no number */
	char media_type[64]; /* Content-Type, with '?' for characters that are not printable; "": the server does not say */
	char *body;	    /* ends with a 0 byte, after nr bytes; may be NULL after an error */
	size_t nr;
};

/*
 * Send a POST. Return 0 if there is an answer, of whatever status, or -errno with the reason in d: -ECONNREFUSED if nothing was sent,
 * because there was no connection; -ELIBACC if libcurl cannot be loaded; -EFBIG if the body or the headers of the answer are too large;
 * -ETIMEDOUT if it was not complete in time; -EINVAL if the address is malformed. After -EFBIG, -ETIMEDOUT, -EIO and -ENOMEM it is not
 * known whether the server has taken the request. Memory and time are limited whatever the server sends. The caller calls
 * http_answer_fini() in any case.
 */
int http_post(const struct http_request *r, struct http_answer *a, struct diag *d);
void http_answer_fini(struct http_answer *a);
/* Return the address without its scheme, user and password, for a message. */
const char *http_shown_url(const char *url);
/* Return the first line of the answer, at most 200 bytes of it, for a message, with '?' for bytes that are not printable. The body of the
 * answer is changed. */
const char *http_first_line(struct http_answer *a);

#endif
