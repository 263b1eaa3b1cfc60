/* SPDX-License-Identifier: MIT */
/* Fills the table in guest.h through which the agent calls the hooks. */
#include "shim/shim.h"

#include "shim/hosts/hosts.h"

static void start_shim(void)
{
	exec_memory_find_next_functions();
	images_start();
}

static void reset_shim_in_child(void)
{
	images_reset_in_child();
	exec_memory_reset_in_child();
	hosts_reset_in_child();
}

const struct guest_listeners guest_listeners = { start_shim, images_register_all, hosts_adapt_injected, reset_shim_in_child };
