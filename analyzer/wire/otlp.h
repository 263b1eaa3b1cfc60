/* SPDX-License-Identifier: MIT */
/* Writes profiles as OTLP's ExportProfilesServiceRequest (otlp_fields.h has the version).  Context: thread. */
#ifndef TAILOR_WIRE_OTLP_H
#define TAILOR_WIRE_OTLP_H

#include "analyzer/wire/profiles.h"
#include "analyzer/wire/protobuf.h"

/* Write the request, uncompressed.  Adds texts to the profiles.  Sets to->failed if memory runs out. */
void otlp_write(struct wire_profiles *p, struct protobuf *to);

#endif
