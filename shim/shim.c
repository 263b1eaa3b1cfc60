/* SPDX-License-Identifier: MIT */
/* What the agent calls of all this: guest.h's table. */
#include "shim/shim.h"

#include "shim/hosts/hosts.h"

static void start(void)
{
	exec_memory_start();
	images_start();
}

static void in_child(void)
{
	images_in_child();
	exec_memory_in_child();
	hosts_in_child();
}

const struct guest_listeners guest_listeners = { start, images_announce_all, hosts_injected, in_child };
