/* SPDX-License-Identifier: MIT */
/* Profiles as OTLP's ExportProfilesServiceRequest (otlp_fields.h says of which version).  Context: thread. */
#ifndef TAILOR_WIRE_OTLP_H
#define TAILOR_WIRE_OTLP_H

#include "analyzer/wire/profiles.h"
#include "analyzer/wire/protobuf.h"

/* Uncompressed.  Also texts are added to the profiles.  Without memory to->failed. */
void otlp_write(struct wire_profiles *p, struct protobuf *to);

#endif
