/* files.c: the times of files by the moved clock, where that is asked for.
 *
 * Files have the true time otherwise, so that what was compiled or fetched before stays valid. A program that compares the time of
 * a file that it has just made with the clock then finds it years old, which it would nowhere else. Asked for this, a file that the
 * cell has touched, so that its last change is after the cell's beginning, has all its times by the cell's clock; every other
 * file's stay as they are. What a program sets is stored so that it reads the same again.
 */
#include "moved.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <utime.h>

static void tell(struct stat *found)
{
	if (!moved_file(found->st_ctim))
		return;
	found->st_atim = moved_forth(found->st_atim);
	found->st_mtim = moved_forth(found->st_mtim);
	found->st_ctim = moved_forth(found->st_ctim);
}

/* The wrappers that C libraries before 2.33 have have another name and the version of the structure before the rest. */
#define STAT(name, types, names, ...)                                     \
	int name types;                                                   \
	int name types                                                    \
	{                                                                 \
		static int(*real) types;                                  \
		FIND(real, #name);                                        \
		int status = real names;                                  \
		if (status == 0)                                          \
			tell((struct stat *)found);                       \
		return status;                                            \
	}

STAT(stat, (const char *restrict path, struct stat *restrict found), (path, found))
STAT(lstat, (const char *restrict path, struct stat *restrict found), (path, found))
STAT(fstat, (int file, struct stat *found), (file, found))
STAT(fstatat, (int folder, const char *restrict path, struct stat *restrict found, int flags), (folder, path, found, flags))
STAT(stat64, (const char *restrict path, struct stat64 *restrict found), (path, found))
STAT(lstat64, (const char *restrict path, struct stat64 *restrict found), (path, found))
STAT(fstat64, (int file, struct stat64 *found), (file, found))
STAT(fstatat64, (int folder, const char *restrict path, struct stat64 *restrict found, int flags), (folder, path, found, flags))
STAT(__xstat, (int version, const char *path, struct stat *found), (version, path, found))
STAT(__lxstat, (int version, const char *path, struct stat *found), (version, path, found))
STAT(__fxstat, (int version, int file, struct stat *found), (version, file, found))
STAT(__fxstatat, (int version, int folder, const char *path, struct stat *found, int flags), (version, folder, path, found, flags))
STAT(__xstat64, (int version, const char *path, struct stat64 *found), (version, path, found))
STAT(__lxstat64, (int version, const char *path, struct stat64 *found), (version, path, found))
STAT(__fxstat64, (int version, int file, struct stat64 *found), (version, file, found))
STAT(__fxstatat64, (int version, int folder, const char *path, struct stat64 *found, int flags),
     (version, folder, path, found, flags))

static struct statx_timestamp tell_one(struct statx_timestamp when)
{
	struct timespec moved = moved_forth((struct timespec){ .tv_sec = when.tv_sec, .tv_nsec = when.tv_nsec });

	when.tv_sec = moved.tv_sec;
	when.tv_nsec = (unsigned int)moved.tv_nsec;
	return when;
}

static struct timespec plain(struct statx_timestamp when)
{
	return (struct timespec){ .tv_sec = when.tv_sec, .tv_nsec = when.tv_nsec };
}

int statx(int folder, const char *restrict path, int flags, unsigned int mask, struct statx *restrict found)
{
	static int (*real)(int, const char *, int, unsigned int, struct statx *);

	FIND(real, "statx");
	/* Without the time of the last change nobody could say whose times they are. */
	int status = real(folder, path, flags, mask | STATX_CTIME, found);

	if (status != 0 || !moved_file(plain(found->stx_ctime)))
		return status;
	if (moved_file(plain(found->stx_btime)))
		found->stx_btime = tell_one(found->stx_btime);
	found->stx_atime = tell_one(found->stx_atime);
	found->stx_mtime = tell_one(found->stx_mtime);
	found->stx_ctime = tell_one(found->stx_ctime);
	return status;
}

/* What is to be stored for a time that a program sets; the words for `now` and `leave it` are none. */
static struct timespec stored(struct timespec when)
{
	return when.tv_nsec == UTIME_NOW || when.tv_nsec == UTIME_OMIT ? when : moved_stored(when);
}

int utimensat(int folder, const char *path, const struct timespec times[2], int flags)
{
	static int (*real)(int, const char *, const struct timespec[2], int);

	FIND(real, "utimensat");
	if (times == NULL)
		return real(folder, path, times, flags);
	struct timespec both[2] = { stored(times[0]), stored(times[1]) };

	return real(folder, path, both, flags);
}

int futimens(int file, const struct timespec times[2])
{
	static int (*real)(int, const struct timespec[2]);

	FIND(real, "futimens");
	if (times == NULL)
		return real(file, times);
	struct timespec both[2] = { stored(times[0]), stored(times[1]) };

	return real(file, both);
}

static struct timespec precise(struct timeval when)
{
	return (struct timespec){ .tv_sec = when.tv_sec, .tv_nsec = when.tv_usec * 1000L };
}

int utimes(const char *path, const struct timeval times[2])
{
	if (times == NULL)
		return utimensat(AT_FDCWD, path, NULL, 0);
	return utimensat(AT_FDCWD, path, (struct timespec[2]){ precise(times[0]), precise(times[1]) }, 0);
}

int lutimes(const char *path, const struct timeval times[2])
{
	if (times == NULL)
		return utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
	return utimensat(AT_FDCWD, path, (struct timespec[2]){ precise(times[0]), precise(times[1]) }, AT_SYMLINK_NOFOLLOW);
}

int futimes(int file, const struct timeval times[2])
{
	if (times == NULL)
		return futimens(file, NULL);
	return futimens(file, (struct timespec[2]){ precise(times[0]), precise(times[1]) });
}

int futimesat(int folder, const char *path, const struct timeval times[2])
{
	if (times == NULL)
		return utimensat(folder, path, NULL, 0);
	return utimensat(folder, path, (struct timespec[2]){ precise(times[0]), precise(times[1]) }, 0);
}

int utime(const char *path, const struct utimbuf *times)
{
	if (times == NULL)
		return utimensat(AT_FDCWD, path, NULL, 0);
	return utimensat(AT_FDCWD, path, (struct timespec[2]){ { .tv_sec = times->actime }, { .tv_sec = times->modtime } }, 0);
}
