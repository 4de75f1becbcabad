/* requests_files.c: open files. A handle is a descriptor in the store. */
#include "requests.h"

#include "descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int store_flags(int callers_flags)
{
	return callers_flags & ~(O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_DIRECT);
}

void on_open(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *file)
{
	struct node *node = node_of(number);
	struct spot spot;
	int descriptor, error = spot_find(node, &spot);

	if (error) {
		answer_error(request, error, "open");
		return;
	}
	descriptor = spot_open(&spot, store_flags(file->flags));
	spot_leave(&spot);
	if (descriptor < 0) {
		answer_error(request, -descriptor, "open");
		return;
	}
	file->fh = (uint64_t)descriptor;
	file->keep_cache = 1;
	node->handles++;
	figures.handles++;
	if (fuse_reply_open(request, file) == 0)
		return;
	node->handles--; /* the caller was interrupted, and will not close it */
	figures.handles--;
	close(descriptor);
}

void on_release(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *file)
{
	struct node *node = node_of(number);

	close((int)file->fh);
	node->handles--;
	figures.handles--;
	fuse_reply_err(request, 0);
	node_settle(node);
}

/* One request is served at a time, so that one buffer is enough. It grows to the size that the kernel reads at. */
static char *room_for(size_t size)
{
	static char *buffer;
	static size_t room;

	if (size > room) {
		char *larger = realloc(buffer, size);

		if (!larger)
			return NULL;
		buffer = larger;
		room = size;
	}
	return buffer;
}

void on_read(fuse_req_t request, fuse_ino_t number, size_t size, off_t offset, struct fuse_file_info *file)
{
	char *buffer = room_for(size);
	ssize_t length = -1;

	(void)number;
	if (buffer)
		length = pread((int)file->fh, buffer, size, offset);
	else
		errno = ENOMEM;
	if (length < 0)
		answer_error(request, errno, "read");
	else
		fuse_reply_buf(request, buffer, (size_t)length);
}

/* As much as there is room for, or an error if there is none. Returns a length, or an errno value below 0. */
static ssize_t write_most(int descriptor, const char *bytes, size_t size, off_t offset)
{
	size_t written = 0;

	while (written < size) {
		ssize_t length = pwrite(descriptor, bytes + written, size - written, offset + (off_t)written);

		if (length < 0 && room_was_made())
			continue;
		if (length <= 0)
			return written > 0 ? (ssize_t)written : length < 0 ? -errno : -EIO;
		written += (size_t)length;
	}
	return (ssize_t)written;
}

void on_write(fuse_req_t request, fuse_ino_t number, const char *bytes, size_t size, off_t offset, struct fuse_file_info *file)
{
	ssize_t length = write_most((int)file->fh, bytes, size, offset);

	(void)number;
	/* Of pages that were changed through a mapping the kernel takes a short count for success: the rest would be lost. */
	if (length >= 0 && (size_t)length < size && file->writepage)
		length = -ENOSPC;
	if (length < 0)
		answer_error(request, (int)-length, "write");
	else
		fuse_reply_write(request, (size_t)length);
}

void on_fsync(fuse_req_t request, fuse_ino_t number, int data_only, struct fuse_file_info *file)
{
	int result = data_only ? fdatasync((int)file->fh) : fsync((int)file->fh);

	(void)number;
	answer_error(request, result == 0 ? 0 : errno, "fsync");
}

void on_fallocate(fuse_req_t request, fuse_ino_t number, int mode, off_t offset, off_t length, struct fuse_file_info *file)
{
	int result;

	(void)number;
	do
		result = fallocate((int)file->fh, mode, offset, length);
	while (result != 0 && room_was_made());
	answer_error(request, result == 0 ? 0 : errno, "fallocate");
}
