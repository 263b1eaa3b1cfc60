/* SPDX-License-Identifier: MIT */
/* Whose the connections to a server on the loopback interface are, by /proc/net/tcp.  Context: any thread. */
#ifndef TAILOR_PEER_H
#define TAILOR_PEER_H

#include <stdint.h>

/* How many established connections to server_port of 127.0.0.1 the user has to whom the one from peer_port belongs, itself included;
 * 0: it is unknown. */
unsigned peer_nr_connections(uint16_t server_port, uint16_t peer_port);

#endif
