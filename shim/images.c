/* SPDX-License-Identifier: MIT */
/*
 * Registers loaded objects. The loader calls an empty function of its own, _dl_debug_state, before and after each change of its list, for
 * debuggers to stop at. It is patched to call the agent, so that an object is known before its first instruction runs, however it was
 * loaded. The hooks of dlopen, dlclose and JIT interfaces look for changes too, because the function cannot always be patched.
 *
 * The hook of dlopen only looks for changes before the call.  It jumps to the real function with the host's return address in place,
 * because the loader finds $ORIGIN, RUNPATH and the namespace of its caller by that address, and dlerror belongs to the host.
 */
#include "shim/shim.h"

#include "agent/guest/sys.h"
#include "jitreg/jitreg.h"
#include "shim/hosts/hosts.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KNOWN_MAX 4096 /* maximum number of objects at the same time */
#define SEGMENTS_MAX 16
#define FILE_BYTES_MAX (16 << 20)

struct known_object {
	uintptr_t bias;
	const void *headers;
	uint32_t generation; /* number of the scan that saw it last; 0: free */
	bool late; /* not seen by the first scan, so it was probably loaded while the program ran */
};

static struct known_object table[KNOWN_MAX];
static size_t nr_known;
static uint32_t generation;
static uint64_t seen_loads = ~0ull, seen_unloads = ~0ull;
static int looking; /* set while a thread scans; other threads set look_again and leave, and the first one scans again */
static int look_again;

static const unsigned char *find_build_id_of_object(const struct object *o, uint32_t *bytes)
{
	const Elf64_Phdr *ph = o->headers;

	for (int i = 0; i < o->nr_headers; i++) {
		const unsigned char *at = (const unsigned char *)(o->bias + ph[i].p_vaddr), *end = at + ph[i].p_memsz;

		if (ph[i].p_type != PT_NOTE || !object_contains(o, at, ph[i].p_memsz))
			continue;
		while ((size_t)(end - at) >= sizeof(Elf64_Nhdr)) {
			const Elf64_Nhdr *n = (const void *)at;
			size_t name = (n->n_namesz + 3u) & ~3u, desc = (n->n_descsz + 3u) & ~3u;

			if (sizeof(*n) + name + desc > (size_t)(end - at))
				break;
			if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4) {
				*bytes = n->n_descsz;
				return at + sizeof(*n) + name;
			}
			at += sizeof(*n) + name + desc;
		}
	}
	*bytes = 0;
	return NULL;
}

static bool is_vdso(const struct object *o)
{
	uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);

	return vdso && (uintptr_t)o->headers - vdso < 4096;
}

/* Makes the path of dlopen("./name.so") absolute, because the recorder has another working directory. Returns path itself if there is no
 * room for that, or if the working directory is unknown. Otherwise the result is in buffer. */
static const char *make_path_absolute(const char *path, char *buffer, size_t bytes)
{
	long n = sys_call(SYS_getcwd, (long)buffer, (long)bytes, 0, 0, 0, 0); /* the length includes the NUL */

	if (n < 2 || (size_t)n + strlen(path) + 1 > bytes)
		return path;
	buffer[n - 1] = '/';
	strcpy(buffer + n, path);
	return buffer;
}

/* JITs that write libraries (libgccjit, Ruby's MJIT, pocl) use these folders, and may remove a library as soon as it is loaded. */
static bool is_temporary_path(const char *path)
{
	static const char *const folders[] = { "/tmp/", "/var/tmp/", "/dev/shm/", "/run/", "/proc/", "/memfd/" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			return true;
	return strstr(path, "/.cache/") != NULL;
}

static int64_t first_scan_s; /* the first scan is before the program runs */

static void note_first_scan(void)
{
	struct timespec now;

	if (sys_call(SYS_clock_gettime, CLOCK_REALTIME, (long)&now, 0, 0, 0, 0) == 0)
		first_scan_s = now.tv_sec;
}

static bool is_older_than_program(const char *path)
{
	struct stat st;

	return sys_call(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, 0, 0, 0) == 0 && st.st_ctime < first_scan_s;
}

/* Extensions of Python's packages and the libraries that wheels bring lie in caches, too (Poetry's environments). A JIT has written such a
 * file if it was not there before the program began. */
static bool is_of_python_package(const char *path)
{
	static const char *const parts[] = { "/site-packages/", "/dist-packages/", ".cpython-", ".abi3.so", ".libs/" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(path, parts[i]))
			return is_older_than_program(path);
	return false;
}

/* Copies a file into memory, which unmap_file_copy() frees. What cannot be read is zeros. Returns NULL if the file cannot be opened, is no
 * regular file, is empty or larger than FILE_BYTES_MAX, or if memory runs out. */
static const void *map_file_copy(const char *path, uint32_t *bytes)
{
	int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	long size = fd < 0 ? 0 : sys_call(SYS_lseek, fd, 0, SEEK_END, 0, 0, 0), p, done = 0, n = 1;

	*bytes = 0;
	if (size <= 0 || size > FILE_BYTES_MAX)
		p = -1;
	else
		p = sys_mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	while (p > 0 && n > 0 && done < size) {
		n = sys_call(SYS_pread64, fd, p + done, size - done, done, 0, 0);
		done += n > 0 ? n : 0;
	}
	if (fd >= 0)
		sys_close(fd);
	if (p <= 0)
		return NULL;
	*bytes = (uint32_t)size;
	return (const void *)p;
}

static void unmap_file_copy(const void *p, uint32_t bytes)
{
	if (p)
		sys_call(SYS_munmap, (long)p, bytes, 0, 0, 0, 0);
}

/* This struct is the part of a line of /proc/self/maps that has been read, "START-END PERMISSIONS OFFSET DEVICE INODE   PATH". */
struct maps_line {
	uintptr_t bounds[2];
	int field; /* 0 and 1: bounds; 2 to 5: fields that are skipped; 6: blanks before the path; 7: the path */
	size_t path_bytes;
};

static void read_maps_character(struct maps_line *l, char c, char *path, size_t room)
{
	if (l->field == 6 && c != ' ')
		l->field = 7;
	if (l->field == 7) {
		if (l->path_bytes + 1 < room)
			path[l->path_bytes++] = c;
	} else if (l->field < 6 && c == (l->field ? ' ' : '-')) {
		l->field++;
	} else if (l->field < 2) {
		l->bounds[l->field] = l->bounds[l->field] << 4 | (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
}

/* Finds the path of the file that is mapped at the address. Returns its length, or 0 if there is none. */
static size_t read_mapped_path(uintptr_t address, char *path, size_t room)
{
	int fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	struct maps_line l = { .field = 0 };
	char part[512];
	size_t found = 0;
	long n = fd < 0 ? 0 : 1;

	while (n > 0 && !found) {
		n = sys_call(SYS_read, fd, (long)part, sizeof(part), 0, 0, 0);
		for (long i = 0; i < n && !found; i++)
			if (part[i] != '\n') {
				read_maps_character(&l, part[i], path, room);
			} else {
				found = address >= l.bounds[0] && address < l.bounds[1] ? l.path_bytes : 0;
				l = (struct maps_line){ .field = 0 };
			}
	}
	if (fd >= 0)
		sys_close(fd);
	path[found] = 0;
	return found;
}

/*
 * Returns the program's path. If the loader was executed with the program as its argument (`ld.so PROGRAM`), the kernel calls the loader
 * the executable and reports no interpreter, and only the mapping tells the program's file. It is read once, because a process may
 * confine itself later. buffer: room for bytes.
 */
static const char *find_program_path(const struct object *o, char *buffer, size_t bytes)
{
	static char mapped[4096];
	ssize_t n;

	if (!getauxval(AT_BASE) && (*mapped || read_mapped_path((uintptr_t)o->headers, mapped, sizeof(mapped))))
		return mapped;
	n = readlink("/proc/self/exe", buffer, bytes - 1);
	buffer[n > 0 ? n : 0] = 0;
	return buffer;
}

/* Returns path, or /memfd/NAME for a link in /proc to a file in memory, from which a library was loaded. The recorder gives the kernel's
 * mappings of such a file that path, too. buffer: room for bytes. */
static const char *name_file_in_memory(const char *path, char *buffer, size_t bytes)
{
	static const char memfd[] = "/memfd:", deleted[] = " (deleted)";
	const ssize_t tail = sizeof(deleted) - 1;
	ssize_t n = strncmp(path, "/proc/", 6) == 0 ? readlink(path, buffer, bytes - 1) : 0;

	if (n < (ssize_t)sizeof(memfd) || memcmp(buffer, memfd, sizeof(memfd) - 1) != 0)
		return path;
	buffer[n > tail && memcmp(buffer + n - tail, deleted, (size_t)tail) == 0 ? n - tail : n] = 0;
	buffer[sizeof(memfd) - 2] = '/';
	return buffer;
}

static void register_image(const struct object *o, bool late)
{
	const Elf64_Phdr *ph = o->headers;
	struct jitreg_segment segments[SEGMENTS_MAX];
	uint32_t nr = 0, id_bytes, flags = 0;
	const unsigned char *id = find_build_id_of_object(o, &id_bytes);
	const char *path = o->name;
	char main_path[4096];
	const void *file = NULL;
	uint32_t file_bytes = 0;

	if (is_vdso(o)) {
		flags = JITREG_IMAGE_VDSO;
		path = "[vdso]";
	} else if (!*path) {
		path = find_program_path(o, main_path, sizeof(main_path));
		flags = JITREG_IMAGE_MAIN;
	} else if (*path != '/') {
		path = make_path_absolute(path, main_path, sizeof(main_path));
	} else {
		path = name_file_in_memory(path, main_path, sizeof(main_path));
	}
	for (int i = 0; i < o->nr_headers && nr < SEGMENTS_MAX; i++) {
		uintptr_t start = o->bias + ph[i].p_vaddr, page = start & ~(uintptr_t)4095;

		if (ph[i].p_type != PT_LOAD)
			continue;
		segments[nr].address = page;
		segments[nr].bytes = (start + ph[i].p_memsz - page + 4095) & ~(uint64_t)4095;
		segments[nr].file_offset = ph[i].p_offset & ~(uint64_t)4095;
		segments[nr].prot = (ph[i].p_flags & PF_R ? 1 : 0) | (ph[i].p_flags & PF_W ? 2 : 0) | (ph[i].p_flags & PF_X ? 4 : 0);
		nr++;
	}
	if (late && is_temporary_path(path) && !is_of_python_package(path))
		file = map_file_copy(*o->name == '/' ? o->name : path, &file_bytes);
	jitreg_image(o->bias, flags, path, segments, nr, id, id_bytes, file, file_bytes);
	unmap_file_copy(file, file_bytes);
}

static int register_object_if_new(void *context, const struct object *o)
{
	(void)context;
	for (size_t i = 0; i < nr_known; i++)
		if (table[i].generation && table[i].headers == o->headers && table[i].bias == o->bias) {
			table[i].generation = generation;
			return 0;
		}
	for (size_t i = 0; i <= nr_known && i < KNOWN_MAX; i++)
		if (!table[i].generation) {
			table[i] = (struct known_object){ o->bias, o->headers, generation, generation > 1 };
			if (i == nr_known)
				nr_known++;
			register_image(o, table[i].late);
			gdb_jit_hook_object(o);
			hosts_hook_object(o);
			return 0;
		}
	log_count_full();
	return 1;
}

static void register_object_changes(void)
{
	uint64_t loads, unloads;

	objects_read_load_counts(&loads, &unloads);
	if (loads == seen_loads && unloads == seen_unloads)
		return;
	seen_loads = loads;
	seen_unloads = unloads;
	if (!generation++)
		note_first_scan();
	objects_each_in_all_namespaces(register_object_if_new, NULL);
	for (size_t i = 0; i < nr_known; i++)
		if (table[i].generation && table[i].generation != generation) {
			jitreg_image_unload(table[i].bias, "");
			gdb_jit_forget_object(table[i].bias);
			object_forget_hook(table[i].bias);
			table[i].generation = 0;
		}
}

void images_register_changes(void)
{
	if (guest_was_loaded_late()) /* the recorder gets the mappings from the kernel */
		return;
	__atomic_store_n(&look_again, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&look_again, __ATOMIC_ACQUIRE)) {
		if (__atomic_exchange_n(&looking, 1, __ATOMIC_ACQUIRE))
			return;
		__atomic_store_n(&look_again, 0, __ATOMIC_RELEASE);
		register_object_changes();
		__atomic_store_n(&looking, 0, __ATOMIC_RELEASE);
	}
}

static int register_image_again(void *context, const struct object *o)
{
	bool late = false;

	(void)context;
	for (size_t i = 0; i < nr_known; i++)
		late |= table[i].generation && table[i].late && table[i].headers == o->headers && table[i].bias == o->bias;
	register_image(o, late);
	return 0;
}

void images_register_all(void)
{
	objects_each_in_all_namespaces(register_image_again, NULL);
}

void images_reset_in_child(void)
{
	__atomic_store_n(&looking, 0, __ATOMIC_RELEASE);
	object_hooks_reset_in_child();
}

/* ------------------------------------------------------------------------------------------------ the loader's signal */

/* The loader calls this while it holds its lock, so no function of libdl may be called here except the walk over the list. */
static void handle_debug_state(void)
{
	if (_r_debug.r_state == RT_CONSISTENT && guard_enter()) {
		images_register_changes();
		guard_leave();
	}
}

void images_start(void)
{
	int ret = -1;

	images_register_changes();
	if (_r_debug.r_brk)
		ret = patch_empty_function((void *)_r_debug.r_brk, (void *)handle_debug_state);
	if (ret)
		guest_debug("loader notifications unavailable (_dl_debug_state cannot be patched: %d); using the next dlopen or "
			    "registration", ret);
}

/* ----------------------------------------------------------------------------------------------------------- dlopen */

/* The hook calls this before the real function. Returns the address of the real function, or NULL, in which case the hook returns NULL. */
void *images_before(const char *name);
__attribute__((used, visibility("hidden"))) void *images_before(const char *name)
{
	if (guard_enter()) {
		images_register_changes();
		guard_leave();
	}
	return objects_find_next_symbol(name);
}

/* Defines a hook that saves the argument registers, gets the real function from images_before(), and jumps there.  The hook returns 0 if
 * there is none. */
#define HOOK(name) \
	__asm__(".pushsection .rodata.str1.1,\"aMS\",@progbits,1\n" \
		".Lname_" #name ": .string \"" #name "\"\n" \
		".popsection\n" \
		".text\n.globl " #name "\n.type " #name ", @function\n.p2align 4\n" \
		#name ":\n" \
		"	.cfi_startproc\n" \
		"	pushq %rdi\n	.cfi_adjust_cfa_offset 8\n" \
		"	pushq %rsi\n	.cfi_adjust_cfa_offset 8\n" \
		"	pushq %rdx\n	.cfi_adjust_cfa_offset 8\n" \
		"	leaq .Lname_" #name "(%rip), %rdi\n" \
		"	call images_before\n" \
		"	popq %rdx\n	.cfi_adjust_cfa_offset -8\n" \
		"	popq %rsi\n	.cfi_adjust_cfa_offset -8\n" \
		"	popq %rdi\n	.cfi_adjust_cfa_offset -8\n" \
		"	testq %rax, %rax\n" \
		"	je 1f\n" \
		"	jmp *%rax\n" \
		"1:	ret\n" \
		"	.cfi_endproc\n" \
		".size " #name ", .-" #name "\n")

HOOK(dlopen);
HOOK(dlmopen);

API int dlclose(void *handle)
{
	static int (*real)(void *);
	int (*next)(void *) = __atomic_load_n(&real, __ATOMIC_ACQUIRE), ret;

	if (!next) {
		next = (int (*)(void *))objects_find_next_symbol("dlclose");
		if (!next)
			return -1;
		__atomic_store_n(&real, next, __ATOMIC_RELEASE);
	}
	ret = next(handle);
	if (guard_enter()) {
		images_register_changes();
		guard_leave();
	}
	return ret;
}
