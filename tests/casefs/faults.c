/* faults.c: preloaded into the daemon by test_errors.py, makes one of its system calls fail.
 *
 * The file that CASEFS_FAULT names holds a call and an errno number, such as "openat 5"; empty, nothing fails. It is read at each
 * call, with system calls that need no memory, so that a test can change it while the daemon runs. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The errno that `call` shall fail with, or 0. */
static int fault_of(const char *call)
{
	const char *path = getenv("CASEFS_FAULT");
	size_t length = strlen(call);
	char text[64];
	long descriptor, got;

	if (!path)
		return 0;
	descriptor = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0)
		return 0;
	got = syscall(SYS_read, descriptor, text, sizeof text - 1);
	syscall(SYS_close, descriptor);
	if (got <= 0)
		return 0;
	text[got] = '\0';
	return strncmp(text, call, length) == 0 && text[length] == ' ' ? atoi(text + length + 1) : 0;
}

#define FAIL_IF_ASKED(call)                      \
	do {                                     \
		int fault = fault_of(call);      \
		if (fault) {                     \
			errno = fault;           \
			return -1;               \
		}                                \
	} while (0)

/* A call's own function, past this file. */
#define REAL(type, call, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, call))

static int open_really(int directory, const char *path, int flags, mode_t mode)
{
	int fault = fault_of(flags & O_CREAT ? "creat" : "openat");

	if (fault) {
		errno = fault;
		return -1;
	}
	return (int)syscall(SYS_openat, directory, path, flags, mode);
}

int openat64(int directory, const char *path, int flags, ...)
{
	va_list arguments;
	mode_t mode;

	va_start(arguments, flags);
	mode = va_arg(arguments, mode_t);
	va_end(arguments);
	return open_really(directory, path, flags, mode);
}

int fstatat64(int directory, const char *path, struct stat64 *status, int flags)
{
	FAIL_IF_ASKED("fstatat");
	return REAL(int, "fstatat64", int, const char *, struct stat64 *, int)(directory, path, status, flags);
}

int mkdirat(int directory, const char *path, mode_t mode)
{
	FAIL_IF_ASKED("mkdirat");
	return (int)syscall(SYS_mkdirat, directory, path, mode);
}

int symlinkat(const char *target, int directory, const char *path)
{
	FAIL_IF_ASKED("symlinkat");
	return (int)syscall(SYS_symlinkat, target, directory, path);
}

int linkat(int directory, const char *path, int new_directory, const char *new_path, int flags)
{
	FAIL_IF_ASKED("linkat");
	return (int)syscall(SYS_linkat, directory, path, new_directory, new_path, flags);
}

int mknodat(int directory, const char *path, mode_t mode, dev_t device)
{
	FAIL_IF_ASKED("mknodat");
	return (int)syscall(SYS_mknodat, directory, path, mode, device);
}

int unlinkat(int directory, const char *path, int flags)
{
	FAIL_IF_ASKED("unlinkat");
	return (int)syscall(SYS_unlinkat, directory, path, flags);
}

int renameat2(int directory, const char *path, int new_directory, const char *new_path, unsigned flags)
{
	FAIL_IF_ASKED("renameat2");
	return (int)syscall(SYS_renameat2, directory, path, new_directory, new_path, flags);
}

int renameat(int directory, const char *path, int new_directory, const char *new_path)
{
	FAIL_IF_ASKED("respell");
	return (int)syscall(SYS_renameat2, directory, path, new_directory, new_path, 0);
}

int fchownat(int directory, const char *path, uid_t user, gid_t group, int flags)
{
	FAIL_IF_ASKED("fchownat");
	return (int)syscall(SYS_fchownat, directory, path, user, group, flags);
}

int chmod(const char *path, mode_t mode)
{
	FAIL_IF_ASKED("chmod");
	return (int)syscall(SYS_fchmodat, AT_FDCWD, path, mode);
}

int utimensat(int directory, const char *path, const struct timespec times[2], int flags)
{
	FAIL_IF_ASKED("utimensat");
	return (int)syscall(SYS_utimensat, directory, path, times, flags);
}

int ftruncate64(int descriptor, off64_t size)
{
	FAIL_IF_ASKED("ftruncate");
	return (int)syscall(SYS_ftruncate, descriptor, size);
}

ssize_t readlinkat(int directory, const char *path, char *target, size_t size)
{
	FAIL_IF_ASKED("readlinkat");
	return syscall(SYS_readlinkat, directory, path, target, size);
}

ssize_t pread64(int descriptor, void *bytes, size_t size, off64_t offset)
{
	FAIL_IF_ASKED("pread");
	return syscall(SYS_pread64, descriptor, bytes, size, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t offset)
{
	FAIL_IF_ASKED("pwrite");
	return syscall(SYS_pwrite64, descriptor, bytes, size, offset);
}

int fsync(int descriptor)
{
	FAIL_IF_ASKED("fsync");
	return (int)syscall(SYS_fsync, descriptor);
}

int fallocate64(int descriptor, int mode, off64_t offset, off64_t length)
{
	FAIL_IF_ASKED("fallocate");
	return (int)syscall(SYS_fallocate, descriptor, mode, offset, length);
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);

/* Memory fails for what the daemon asks for, in sizes that tell who asks: libfuse has no code to go on without. "malloc 200" fails
 * for sizes up to 200 bytes that the daemon itself asks for while the file says so. */
static int memory_fails(const char *call, const void *caller)
{
	Dl_info asker;

	if (!fault_of(call))
		return 0;
	return dladdr(caller, &asker) && asker.dli_fname && strstr(asker.dli_fname, "/casefs") != NULL &&
	       strstr(asker.dli_fname, ".so") == NULL;
}

void *malloc(size_t size)
{
	if (memory_fails("malloc", __builtin_return_address(0))) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	if (memory_fails("calloc", __builtin_return_address(0))) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_calloc(count, size);
}
