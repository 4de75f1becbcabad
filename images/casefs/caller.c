/* caller.c: reads the arguments of the system call that a caller is in; see caller.h for what that is good for. */
#include "caller.h"

#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define PROC_PATH 64
#define MOST_LOOKS 60 /* at a thread that has sent its request and is still on its way to sleep */
#define LONGEST_PAUSE_NS 1000000

#define PAGEMAP_PRESENT ((uint64_t)1 << 63)

struct system_call {
	long number;
	unsigned long arguments[6];
};

struct renaming {
	int old_base, new_base; /* descriptors of the caller's, or AT_FDCWD */
	char old_path[2 * PATH_MAX], new_path[2 * PATH_MAX];
};

static int open_proc(pid_t tid, const char *what)
{
	char path[PROC_PATH];

	snprintf(path, sizeof path, "/proc/%ld/%s", (long)tid, what);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void pause_for(long nanoseconds)
{
	struct timespec pause = { .tv_nsec = nanoseconds };

	nanosleep(&pause, NULL);
}

/* What /proc says, once the thread sleeps: "running" tells nothing yet. */
static bool read_system_call_line(pid_t tid, char *line, size_t size)
{
	int descriptor = open_proc(tid, "syscall");
	long pause = 1000;

	if (descriptor < 0)
		return false;
	for (int look = 0; look < MOST_LOOKS; look++) {
		ssize_t length = pread(descriptor, line, size - 1, 0);

		if (length <= 0)
			break;
		line[length] = '\0';
		if (strncmp(line, "running", strlen("running")) != 0) {
			close(descriptor);
			return true;
		}
		pause_for(pause);
		pause = pause * 2 < LONGEST_PAUSE_NS ? pause * 2 : LONGEST_PAUSE_NS;
	}
	close(descriptor);
	return false;
}

static bool read_system_call(pid_t tid, struct system_call *call)
{
	unsigned long *a = call->arguments;
	char line[256];

	return read_system_call_line(tid, line, sizeof line) &&
	       sscanf(line, "%ld %lx %lx %lx %lx %lx %lx", &call->number, a, a + 1, a + 2, a + 3, a + 4, a + 5) == 7;
}

/* Whether a page of the caller's is in memory. If it were not, reading it could need this very daemon, which would then wait for
 * itself for ever. The kernel has just read the paths, so that they are nearly always there. */
static bool page_is_present(int pagemap, uintptr_t address, size_t page_size)
{
	uint64_t page;

	return pread(pagemap, &page, sizeof page, (off_t)(address / page_size * sizeof page)) == sizeof page &&
	       (page & PAGEMAP_PRESENT);
}

static bool read_string(pid_t tid, uintptr_t address, char *string, size_t size)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE), length = 0;
	int pagemap = open_proc(tid, "pagemap");
	bool complete = false;

	while (pagemap >= 0 && !complete && length < size) {
		size_t wanted = page_size - (address + length) % page_size;
		struct iovec here = { .iov_base = string + length }, there = { .iov_base = (void *)(address + length) };

		here.iov_len = there.iov_len = wanted < size - length ? wanted : size - length;
		if (!page_is_present(pagemap, address + length, page_size) ||
		    process_vm_readv(tid, &here, 1, &there, 1, 0) != (ssize_t)here.iov_len)
			break;
		complete = memchr(string + length, '\0', here.iov_len) != NULL;
		length += here.iov_len;
	}
	if (pagemap >= 0)
		close(pagemap);
	return complete;
}

static bool read_renaming(pid_t tid, struct renaming *renaming)
{
	struct system_call call;
	const unsigned long *a = call.arguments;
	uintptr_t old_path, new_path;

	if (!read_system_call(tid, &call))
		return false;
#ifdef SYS_rename
	if (call.number == SYS_rename) {
		renaming->old_base = renaming->new_base = AT_FDCWD;
		old_path = a[0];
		new_path = a[1];
	} else
#endif
	if (call.number == SYS_renameat2 && (a[4] & RENAME_EXCHANGE)) {
		return false;
	} else if (call.number == SYS_renameat || call.number == SYS_renameat2) {
		renaming->old_base = (int)a[0];
		old_path = a[1];
		renaming->new_base = (int)a[2];
		new_path = a[3];
	} else {
		return false;
	}
	return read_string(tid, old_path, renaming->old_path, PATH_MAX) &&
	       read_string(tid, new_path, renaming->new_path, PATH_MAX);
}

/* Cut a path into the directory and the last name in it; slashes at the end mean nothing. */
static void split(char *path, const char **directory, const char **name)
{
	size_t length = strlen(path);
	char *slash;

	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	slash = strrchr(path, '/');
	*name = slash ? slash + 1 : path;
	*directory = slash ? path : "";
	if (slash)
		*slash = '\0';
}

/* Put the directory that a path starts from before it. The kernel answers this from memory: no request comes of it. */
static bool make_absolute(pid_t tid, int base, char path[2 * PATH_MAX])
{
	char link[PROC_PATH], directory[PATH_MAX];
	ssize_t length;

	if (path[0] == '/')
		return true;
	if (base == AT_FDCWD)
		snprintf(link, sizeof link, "/proc/%ld/cwd", (long)tid);
	else
		snprintf(link, sizeof link, "/proc/%ld/fd/%d", (long)tid, base);
	length = readlink(link, directory, sizeof directory);
	if (length < 0 || (size_t)length >= sizeof directory)
		return false;
	memmove(path + length + 1, path, strlen(path) + 1);
	memcpy(path, directory, (size_t)length);
	path[length] = '/';
	return true;
}

/* The next name of a path that means something, as length; 0 at the end. Moves `path` to its start. */
static size_t next_name(const char **path)
{
	for (;;) {
		size_t length;

		*path += strspn(*path, "/");
		length = strcspn(*path, "/");
		if (length != 1 || **path != '.')
			return length;
		*path += length;
	}
}

/* Whether two paths spell the same directory, each name in its own way. */
static bool paths_alike(const char *one, const char *other)
{
	for (;;) {
		size_t one_length = next_name(&one), other_length = next_name(&other);

		if (one_length == 0 || other_length == 0)
			return one_length == other_length;
		if (!names_alike(one, one_length, other, other_length))
			return false;
		one += one_length;
		other += other_length;
	}
}

static bool path_contains(const char *path, const char *name)
{
	size_t length, name_length = strlen(name);

	for (; (length = next_name(&path)) > 0; path += length)
		if (length == name_length && memcmp(path, name, length) == 0)
			return true;
	return false;
}

static bool is_path_of(const struct node *directory, const char *path)
{
	char expected[2 * PATH_MAX];
	size_t length = strlen(settings.mountpoint);

	memcpy(expected, settings.mountpoint, length);
	return node_path(directory, expected + length, sizeof expected - length) && paths_alike(path, expected);
}

/* The last lookup of all. The directory is only compared, as it may be gone. */
static struct {
	pid_t tid;
	const struct node *directory;
	char name[NAME_BYTES + 1];
} last_lookup;

void caller_looked_up(pid_t tid, const struct node *directory, const char *name)
{
	last_lookup.tid = tid;
	last_lookup.directory = directory;
	snprintf(last_lookup.name, sizeof last_lookup.name, "%s", name);
}

static bool just_looked_up(pid_t tid, const struct node *directory, const char *name)
{
	return last_lookup.tid == tid && last_lookup.directory == directory && strcmp(last_lookup.name, name) == 0;
}

bool caller_changes_case(pid_t tid, const struct node *directory, const char *name)
{
	struct renaming renaming;
	const char *old_directory, *old_name, *new_directory, *new_name;

	if (!settings.sees_callers || tid <= 0 || !read_renaming(tid, &renaming))
		return false;
	/* The path of a deep working directory does not fit; two paths from one and the same place compare without it. */
	if ((!make_absolute(tid, renaming.old_base, renaming.old_path) ||
	     !make_absolute(tid, renaming.new_base, renaming.new_path)) &&
	    renaming.old_base != renaming.new_base)
		return false;
	split(renaming.old_path, &old_directory, &old_name);
	split(renaming.new_path, &new_directory, &new_name);
	if (strcmp(new_name, name) != 0 || strcmp(old_name, name) == 0)
		return false;
	if (!names_alike(old_name, strlen(old_name), name, strlen(name)))
		return false;
	if (!paths_alike(old_directory, new_directory) && !just_looked_up(tid, directory, old_name))
		return false;
	/* In rename("foo/foo", "Foo/Foo") this may be the lookup of the first `Foo`, which is there to be found. */
	return (!path_contains(old_directory, name) && !path_contains(new_directory, name)) ||
	       is_path_of(directory, new_directory);
}
