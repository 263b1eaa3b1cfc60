/* SPDX-License-Identifier: MIT */
#include "analyzer/serve/peer.h"

#include "jitreg/base/grow.h"

#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct connection {
	unsigned from, to, state, uid;
};

/* false: no such line. */
static bool read_connection(const char *line, struct connection *out)
{
	/* number, local address and port, remote ones, state, queues, timer, retransmissions, user */
	return sscanf(line, " %*u: %*8x:%x %*8x:%x %x %*x:%*x %*x:%*x %*x %u", &out->from, &out->to, &out->state, &out->uid) == 4;
}

unsigned peer_nr_connections(uint16_t server_port, uint16_t peer_port)
{
	FILE *f = fopen("/proc/net/tcp", "re");
	unsigned *uid = NULL, peer = 0, of_peer = 0;
	size_t nr = 0, capacity = 0, line_bytes = 0;
	struct connection c;
	bool found = false;
	char *line = NULL;

	while (f && getline(&line, &line_bytes, f) > 0) {
		if (!read_connection(line, &c) || c.to != server_port || c.state != TCP_ESTABLISHED)
			continue;
		if (!GROW(uid, nr, capacity))
			break;
		uid[nr++] = c.uid;
		if (c.from == peer_port) {
			peer = c.uid;
			found = true;
		}
	}
	for (size_t i = 0; i < nr && found; i++)
		of_peer += uid[i] == peer;
	free(line);
	free(uid);
	if (f)
		fclose(f);
	return of_peer;
}
