/* SPDX-License-Identifier: MIT */
/* Registers what a backend needs to register once, which is levels, classes of work, and its session. */
#include "shim/engines/postgres.h"

#include "agent/guest/sys.h"
#include "jitreg/engines/postgres_classes.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#define TITLE_BYTES 512
#define CLASS_FUNCTIONS 24

bool postgres_is_worker(void)
{
	return pg.worker_number && *pg.worker_number >= 0;
}

bool postgres_is_registered(uint64_t id)
{
	return pg.said[id % POSTGRES_SAID] == id;
}

void postgres_mark_registered(uint64_t id)
{
	pg.said[id % POSTGRES_SAID] = id;
}

static uint32_t add_class_function(struct jitreg_function *to, uint32_t nr, uint64_t address)
{
	if (address && nr < CLASS_FUNCTIONS)
		to[nr++].address = address;
	return nr;
}

static uint64_t address_of_symbol(const struct object *o, const char *name)
{
	return name ? (uint64_t)(uintptr_t)object_find_symbol(o, name) : 0;
}

/* Static functions receive a query's rows. They are found in the code of these exported functions, which take their addresses. */
#define RECEIVERS(X) \
	X(ROWS_TO_LEADER, "CreateTupleQueueDestReceiver") \
	X(ROWS_TO_CLIENT, "printtup_create_DR") \
	X(ROWS_TO_TABLE, "CreateIntoRelDestReceiver") \
	X(ROWS_TO_TABLE, "CreateTransientRelDestReceiver") \
	X(ROWS_TO_FUNCTION, "CreateTuplestoreDestReceiver") \
	X(ROWS_TO_FUNCTION, "CreateSQLFunctionDestReceiver")
struct class_symbol {
	enum postgres_class class;
	const char *name;
};
#define ENTRY(NAME, symbol) { POSTGRES_CLASS_##NAME, symbol },
static const struct class_symbol class_symbols[] = { POSTGRES_CLASS_SYMBOLS(ENTRY) }, llvm_symbols[] = { POSTGRES_LLVM_SYMBOLS(ENTRY) },
				 receivers[] = { RECEIVERS(ENTRY) };
#undef ENTRY
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

uint64_t postgres_base_of_object(const struct object *o)
{
	const Elf64_Phdr *segment = o->headers;
	uint64_t base = UINT64_MAX;

	for (int i = 0; i < o->nr_headers; i++)
		if (segment[i].p_type == PT_LOAD && segment[i].p_vaddr < base)
			base = segment[i].p_vaddr & ~(uint64_t)(SYS_PAGE_BYTES - 1);
	return base == UINT64_MAX ? 0 : o->bias + base;
}

/* Finds functions of llvmjit.so that it does not export. */
static uint32_t find_llvm_functions(uint64_t *to, uint32_t room)
{
	static struct postgres_code code;
	struct postgres_reader r = postgres_memory_reader();
	uint64_t base = postgres_base_of_object(&pg.llvm);

	r.code = &code;
	return base ? postgres_code_llvm_functions(&r, base, address_of_symbol(&pg.llvm, POSTGRES_LLVM_INIT), to, room) : 0;
}

/* Returns 0, or the error of a jitreg call. */
static int register_class(const struct postgres_reader *r, enum postgres_class class)
{
	struct jitreg_object_component component = { POSTGRES_LEVEL_NODE, class + 1 };
	struct jitreg_function functions[CLASS_FUNCTIONS];
	uint64_t found[CLASS_FUNCTIONS];
	uint32_t nr = 0, nr_found = 0;

	for (size_t i = 0; i < COUNT(class_symbols); i++)
		if (class_symbols[i].class == class)
			nr = add_class_function(functions, nr, address_of_symbol(pg.program, class_symbols[i].name));
	for (size_t i = 0; i < COUNT(llvm_symbols) && pg.llvm.name; i++)
		if (llvm_symbols[i].class == class)
			nr = add_class_function(functions, nr, address_of_symbol(&pg.llvm, llvm_symbols[i].name));
	for (size_t i = 0; i < COUNT(receivers); i++)
		if (receivers[i].class == class)
			nr_found = postgres_code_addresses_taken(r, address_of_symbol(pg.program, receivers[i].name), found, nr_found,
								 CLASS_FUNCTIONS);
	if (class == POSTGRES_CLASS_LLVM && pg.llvm.name && !nr)
		nr_found = find_llvm_functions(found, CLASS_FUNCTIONS);
	for (uint32_t i = 0; i < nr_found; i++)
		nr = add_class_function(functions, nr, found[i]);
	if (class == POSTGRES_CLASS_ROWS_TO_FUNCTION)
		nr = add_class_function(functions, nr, address_of_symbol(pg.program, "spi_printtup"));
	if (!nr)
		return 0;
	if (!postgres_is_registered(component.component)) {
		int ret = jitreg_component(POSTGRES_LEVEL_NODE, component.component, postgres_class_name(class), NULL,
					   POSTGRES_CLASS_FLAGS);

		if (ret)
			return ret;
		postgres_mark_registered(component.component);
	}
	return jitreg_object(component.component, 0, JITREG_OBJECT_CLASS, functions, nr, &component, 1);
}

int postgres_register_classes(void)
{
	struct postgres_reader r = postgres_memory_reader();
	int ret;

	postgres_memory_reset_cache();
	ret = jitreg_level(POSTGRES_LEVEL_SESSION, "session", 0, 0);
	ret = ret ? ret : jitreg_level(POSTGRES_LEVEL_QUERY, "query", 0, 0);
	ret = ret ? ret : jitreg_level(POSTGRES_LEVEL_NODE, "node", POSTGRES_LEVEL_QUERY, JITREG_LEVEL_PLAN);
	for (int class = 0; class < POSTGRES_NR_CLASSES && !ret; class++)
		ret = register_class(&r, (enum postgres_class) class);
	return ret;
}

/* Reads the title that the server sets for ps, such as "postgres: 15/main: alice shop [local] SELECT". */
static void read_process_title(char *to, size_t room)
{
	int fd = sys_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	long nr = fd >= 0 ? sys_call(SYS_read, fd, (long)to, (long)room - 1, 0, 0, 0) : 0;

	if (fd >= 0)
		sys_close(fd);
	to[nr > 0 ? nr : 0] = 0;
}

static size_t count_word_bytes(const char *at)
{
	return strcspn(at, " ");
}

/* Formats the session's name as "user@database application client", or as "user pid N" if the title does not contain the user ("pid N" if
 * the user is unknown). A worker's name is the part of its title from "parallel worker" on. */
static void format_session_name(char *to, size_t room)
{
	const char *user = pg.setting("session_authorization", true, false), *application = pg.setting("application_name", true, false);
	char title[TITLE_BYTES], quoted[128];
	const char *at = NULL, *client;

	read_process_title(title, sizeof(title));
	if (postgres_is_worker()) {
		at = strstr(title, "parallel worker");
		snprintf(to, room, "%s", at ? at : "parallel worker");
		to[strcspn(to, "\n")] = 0;
		for (size_t n = strlen(to); n && to[n - 1] == ' ';)
			to[--n] = 0;
		return;
	}
	if (user && *user && snprintf(quoted, sizeof(quoted), ": %s ", user) < (int)sizeof(quoted))
		at = strstr(title, quoted);
	if (!at) {
		snprintf(to, room, "%s%spid %u", user ? user : "", user && *user ? " " : "", pg.pid);
		return;
	}
	at += strlen(quoted);
	client = at + count_word_bytes(at);
	client += *client == ' ';
	snprintf(to, room, "%s@%.*s%s%s %.*s", user, (int)count_word_bytes(at), at, application && *application ? " " : "",
		 application ? application : "", (int)count_word_bytes(client), client);
}

static void register_session(void)
{
	const struct jitreg_object_component session = { POSTGRES_LEVEL_SESSION, pg.pid };
	char name[256];

	if (pg.session)
		return;
	format_session_name(name, sizeof(name));
	if (jitreg_component(POSTGRES_LEVEL_SESSION, pg.pid, name, NULL, 0) == 0 &&
	    jitreg_object(POSTGRES_OBJECT_SESSION, 0, JITREG_OBJECT_CLASS | JITREG_OBJECT_EVERYWHERE, NULL, 0, &session, 1) == 0)
		pg.session = pg.pid;
}

/* Is the server's version known? Plans of other versions are not read. The first call reads the version and reports whether it is known. */
static bool has_known_version(void)
{
	const char *version;
	unsigned number = 0;

	if (pg.looked)
		return pg.layout;
	pg.looked = true;
	version = pg.setting("server_version_num", true, false);
	for (; version && *version >= '0' && *version <= '9'; version++)
		number = number * 10 + (unsigned)(*version - '0');
	pg.layout = postgres_layout_of(number / 10000);
	if (!pg.layout) {
		char major[16];

		snprintf(major, sizeof(major), "%u", number / 10000);
		announce_lack(HOST_POSTGRESQL, major, "");
		return false;
	}
	ANNOUNCE_ONCE("PostgreSQL: plans of queries registered through its executor hooks");
	return true;
}

void postgres_process_register(void)
{
	uint32_t recorder = __atomic_load_n(&jitreg_recorders, __ATOMIC_RELAXED);

	if (pg.pid && pg.recorder == recorder)
		return;
	if (pg.recorder != recorder)
		memset(pg.said, 0, sizeof(pg.said));
	pg.recorder = recorder;
	pg.pid = sys_getpid();
	pg.session = 0;
	pg.nr_open = 0;
	if (postgres_register_classes())
		pg.pid = 0; /* a record was refused, so the next run tries again */
}

bool postgres_session_register(void)
{
	postgres_process_register();
	if (!has_known_version())
		return false;
	postgres_memory_reset_cache();
	if (!pg.salt)
		pg.salt = postgres_salt((uint32_t)*pg.postmaster_pid, pg.start_time ? (uint64_t)*pg.start_time : 0);
	register_session();
	return true;
}
