/* SPDX-License-Identifier: MIT */
/* Gives PostgreSQL's wait events the names that pg_stat_activity shows.  Context: any. */
#ifndef TAILOR_POSTGRES_WAITS_H
#define TAILOR_POSTGRES_WAITS_H

#include <stddef.h>
#include <stdint.h>

/* Writes the name of a wait event, such as "Timeout:PgSleep".  info: a backend's wait_event_info.  In unknown versions, and for unknown
 * events of a known class, it is like "IO:event 7", and for an unknown class like "event 0xd000007". */
void postgres_wait_text(unsigned major, uint32_t info, char *to, size_t room);

#endif
