/* SPDX-License-Identifier: MIT */
#include "agent/recorder/doctor/doctor.h"

#include "agent/recorder/images/elf_parts.h"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

static void add_build_id_finding(struct doctor *d)
{
	char text[ELF_BUILD_ID_TEXT];
	struct elf_parts p = { 0 };
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && elf_parts_read_symbols(fd, &p) == 0) {
		elf_parts_format_build_id(&p, text);
		doctor_add_finding(d, "build", "build id", DOCTOR_FACT, "%s", *text ? text : "none");
	}
	elf_parts_free(&p);
	if (fd >= 0)
		close(fd);
}

/* The link libdw.so.1 leads to a file such as /usr/lib/x86_64-linux-gnu/libdw-0.188.so, whose name has the version. */
static int add_library_finding(struct dl_phdr_info *object, size_t bytes, void *doctor)
{
	const char *name = strrchr(object->dlpi_name, '/');
	char path[PATH_MAX];

	(void)bytes;
	if (name && realpath(object->dlpi_name, path)) {
		char *file = strrchr(path, '/');

		*file = 0;
		doctor_add_finding(doctor, "build", name + 1, DOCTOR_FACT, "%s in %s", file + 1, *path ? path : "/");
	}
	return 0;
}

void doctor_check_build(struct doctor *d)
{
	doctor_add_finding(d, "build", "version", DOCTOR_FACT, "%s, built by %s", TAILOR_VERSION, COMPILER);
	add_build_id_finding(d);
	dl_iterate_phdr(add_library_finding, d);
}
