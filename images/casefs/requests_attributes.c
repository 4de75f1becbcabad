/* requests_attributes.c: modes, owners, sizes, times, link targets and extended attributes. */
#include "requests.h"

#include "descriptors.h"
#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LARGEST_XATTR 65536 /* Linux's own limit, for a value as for a list of names */

static int error_of(int result)
{
	return result == 0 ? 0 : errno;
}

static int read_attributes(const struct spot *spot, struct stat *attributes)
{
	return error_of(fstatat(spot->descriptor, spot->name, attributes, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
}

void on_getattr(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *file)
{
	struct stat attributes;
	struct spot spot;
	int error = spot_find(node_of(number), &spot);

	(void)file;
	if (!error) {
		error = read_attributes(&spot, &attributes);
		spot_leave(&spot);
	}
	if (error)
		answer_error(request, error, "getattr");
	else
		fuse_reply_attr(request, &attributes, FOR_EVER);
}

static int set_mode(const struct spot *spot, mode_t mode)
{
	char path[SPOT_PATH];

	spot_path(spot, path);
	return error_of(chmod(path, mode & ALLPERMS));
}

static int set_owner(const struct spot *spot, const struct stat *wanted, int which)
{
	uid_t user = which & FUSE_SET_ATTR_UID ? wanted->st_uid : (uid_t)-1;
	gid_t group = which & FUSE_SET_ATTR_GID ? wanted->st_gid : (gid_t)-1;

	return error_of(fchownat(spot->descriptor, spot->name, user, group, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
}

static int set_size(const struct spot *spot, off_t size, const struct fuse_file_info *file)
{
	int descriptor, error;

	if (file)
		return error_of(ftruncate((int)file->fh, size));
	descriptor = spot_open(spot, O_WRONLY);
	if (descriptor < 0)
		return -descriptor;
	error = error_of(ftruncate(descriptor, size));
	close(descriptor);
	return error;
}

static int set_times(const struct spot *spot, const struct stat *wanted, int which)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_nsec = UTIME_OMIT } };

	if (which & FUSE_SET_ATTR_ATIME_NOW)
		times[0].tv_nsec = UTIME_NOW;
	else if (which & FUSE_SET_ATTR_ATIME)
		times[0] = wanted->st_atim;
	if (which & FUSE_SET_ATTR_MTIME_NOW)
		times[1].tv_nsec = UTIME_NOW;
	else if (which & FUSE_SET_ATTR_MTIME)
		times[1] = wanted->st_mtim;
	return error_of(utimensat(spot->descriptor, spot->name, times, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW));
}

/* In this order: a change of owner takes set-id bits away, and one of the size changes the time. */
static int set_attributes(const struct spot *spot, const struct stat *wanted, int which, const struct fuse_file_info *file)
{
	int error = 0;

	if (which & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
		error = set_owner(spot, wanted, which);
	if (!error && (which & FUSE_SET_ATTR_MODE))
		error = set_mode(spot, wanted->st_mode);
	if (!error && (which & FUSE_SET_ATTR_SIZE))
		error = set_size(spot, wanted->st_size, file);
	if (!error && (which & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME)))
		error = set_times(spot, wanted, which);
	return error;
}

void on_setattr(fuse_req_t request, fuse_ino_t number, struct stat *wanted, int which, struct fuse_file_info *file)
{
	struct stat attributes;
	struct spot spot;
	int error = spot_find(node_of(number), &spot);

	if (!error) {
		error = set_attributes(&spot, wanted, which, file);
		if (!error)
			error = read_attributes(&spot, &attributes);
		spot_leave(&spot);
	}
	if (error)
		answer_error(request, error, "setattr");
	else
		fuse_reply_attr(request, &attributes, FOR_EVER);
}

void on_readlink(fuse_req_t request, fuse_ino_t number)
{
	char target[PATH_MAX];
	ssize_t length = -1;
	struct spot spot;
	int error = spot_find(node_of(number), &spot);

	if (!error) {
		length = readlinkat(spot.descriptor, spot.name, target, sizeof target - 1);
		error = length < 0 ? errno : 0;
		spot_leave(&spot);
	}
	if (error) {
		answer_error(request, error, "readlink");
		return;
	}
	target[length] = '\0';
	fuse_reply_readlink(request, target);
}

void on_statfs(fuse_req_t request, fuse_ino_t number)
{
	struct statvfs store;
	int root = directory_hold(node_of(FUSE_ROOT_ID)); /* one store has one answer */
	int error = error_of(fstatvfs(root, &store));

	(void)number;
	directory_release(node_of(FUSE_ROOT_ID));
	if (error)
		answer_error(request, error, "statfs");
	else
		fuse_reply_statfs(request, &store);
}

/* Extended attributes. ENOSYS is remembered by the kernel, which then answers EOPNOTSUPP by itself. Their errors are the
 * caller's: a namespace that the daemon may not write is one that the caller may not write either. */

typedef ssize_t use_path(const char *path, void *context);

/* Run `use` with the path of a node that may have attributes. Returns what it returns, or an errno value below 0. */
static ssize_t with_path(fuse_ino_t number, use_path *use, void *context)
{
	struct node *node = node_of(number);
	char path[SPOT_PATH];
	struct spot spot;
	ssize_t result;
	int error;

	if (!settings.xattrs)
		return -ENOSYS;
	if (S_ISLNK(node->type))
		return -ENOTSUP; /* the path would lead to its target */
	error = spot_find(node, &spot);
	if (error)
		return -error;
	spot_path(&spot, path);
	result = use(path, context);
	if (result < 0)
		result = -errno;
	spot_leave(&spot);
	return result;
}

struct xattr {
	const char *name;
	const char *value;
	char *buffer;
	size_t size;
	int flags;
};

static ssize_t get_xattr(const char *path, void *context)
{
	struct xattr *xattr = context;

	return getxattr(path, xattr->name, xattr->buffer, xattr->size);
}

static ssize_t list_xattrs(const char *path, void *context)
{
	struct xattr *xattr = context;

	return listxattr(path, xattr->buffer, xattr->size);
}

static ssize_t set_xattr(const char *path, void *context)
{
	struct xattr *xattr = context;

	return setxattr(path, xattr->name, xattr->value, xattr->size, xattr->flags);
}

static ssize_t remove_xattr(const char *path, void *context)
{
	struct xattr *xattr = context;

	return removexattr(path, xattr->name);
}

/* A size of 0 asks how much there is. */
static void read_xattr(fuse_req_t request, fuse_ino_t number, use_path *use, struct xattr *xattr)
{
	char buffer[LARGEST_XATTR];
	ssize_t length;

	xattr->buffer = buffer;
	if (xattr->size > sizeof buffer)
		xattr->size = sizeof buffer;
	length = with_path(number, use, xattr);
	if (length < 0)
		fuse_reply_err(request, (int)-length);
	else if (xattr->size == 0)
		fuse_reply_xattr(request, (size_t)length);
	else
		fuse_reply_buf(request, buffer, (size_t)length);
}

void on_getxattr(fuse_req_t request, fuse_ino_t number, const char *name, size_t size)
{
	struct xattr xattr = { .name = name, .size = size };

	read_xattr(request, number, get_xattr, &xattr);
}

void on_listxattr(fuse_req_t request, fuse_ino_t number, size_t size)
{
	struct xattr xattr = { .size = size };

	read_xattr(request, number, list_xattrs, &xattr);
}

void on_setxattr(fuse_req_t request, fuse_ino_t number, const char *name, const char *value, size_t size, int flags)
{
	struct xattr xattr = { .name = name, .value = value, .size = size, .flags = flags };
	ssize_t result = with_path(number, set_xattr, &xattr);

	fuse_reply_err(request, result < 0 ? (int)-result : 0);
}

void on_removexattr(fuse_req_t request, fuse_ino_t number, const char *name)
{
	struct xattr xattr = { .name = name };
	ssize_t result = with_path(number, remove_xattr, &xattr);

	fuse_reply_err(request, result < 0 ? (int)-result : 0);
}
