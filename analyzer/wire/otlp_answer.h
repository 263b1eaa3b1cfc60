/* SPDX-License-Identifier: MIT */
/*
 * The answer of a receiver of OTLP's profiles: ExportProfilesServiceResponse if it accepted them, google.rpc.Status if it did not, as
 * protocol buffers or as JSON.  The bytes are untrusted.  Context: thread.
 */
#ifndef TAILOR_WIRE_OTLP_ANSWER_H
#define TAILOR_WIRE_OTLP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct otlp_answer {
	uint64_t rejected; /* number of profiles that the receiver rejected */
	char message[256]; /* reason or warning, cut, without control characters; "" if there is none */
};

/* Read an answer.  media_type: its Content-Type, or "".  Returns false if the bytes are not an answer.  An empty answer accepts all. */
bool otlp_answer_read(const void *bytes, size_t nr, const char *media_type, struct otlp_answer *a);
/* Read the message of a refusal into a->message, which is "" if the bytes are not a status. */
void otlp_status_read(const void *bytes, size_t nr, const char *media_type, struct otlp_answer *a);

#endif
