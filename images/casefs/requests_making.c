/* requests_making.c: new names: files, directories, links and special files. */
#include "requests.h"

#include "descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A name that is about to be. All memory is there before the store is changed. */
struct birth {
	struct entry *entry;
	struct node *directory;
	int descriptor; /* of the directory, held */
};

/* Returns an errno value, EEXIST among them; after 0, call birth_finish or birth_abandon. */
static int birth_begin(struct birth *birth, struct node *directory, const char *name)
{
	struct key key;
	int error = key_make(&key, name);

	if (!error)
		error = names_load(directory);
	if (!error && names_find(directory, &key))
		error = EEXIST;
	if (error)
		return error;
	birth->directory = directory;
	birth->entry = entry_make(directory, &key);
	if (!birth->entry)
		return ENOMEM;
	birth->descriptor = directory_hold(directory);
	if (birth->descriptor >= 0)
		return 0;
	entry_free(birth->entry);
	return -birth->descriptor;
}

static void birth_abandon(struct birth *birth)
{
	directory_release(birth->directory);
	entry_free(birth->entry);
}

/* The store has the name: so does the directory. Returns an errno value from reading what is behind it. */
static int birth_finish(struct birth *birth, struct node **node, struct stat *attributes)
{
	int error;

	names_insert(birth->entry);
	error = node_of_entry(birth->entry, node, attributes);
	if (!error) {
		birth->entry->inode = attributes->st_ino;
		birth->entry->type = (unsigned char)IFTODT(attributes->st_mode);
	}
	directory_release(birth->directory);
	return error;
}

/* The store made it as the daemon's own; it is the caller's, but for the group of a directory that hands its own on. A change of
 * owner takes set-id bits away, so that they are set again. */
static int give_to_caller(fuse_req_t request, const struct birth *birth, mode_t mode)
{
	const struct fuse_ctx *caller = fuse_req_ctx(request);
	struct stat directory;
	gid_t group = caller->gid;

	if (fstatat(birth->descriptor, "", &directory, AT_EMPTY_PATH) != 0)
		return errno;
	if (directory.st_mode & S_ISGID)
		group = directory.st_gid;
	if (caller->uid == geteuid() && group == getegid())
		return 0;
	if (fchownat(birth->descriptor, birth->entry->name, caller->uid, group, AT_SYMLINK_NOFOLLOW) != 0)
		return errno;
	if (S_ISREG(mode) && (mode & (S_ISUID | S_ISGID)) &&
	    fchmodat(birth->descriptor, birth->entry->name, mode & ALLPERMS, 0) != 0)
		return errno;
	return 0;
}

/* The store has been asked for something of `mode`, and has `failed` or not. */
static void finish(fuse_req_t request, struct birth *birth, int failed, mode_t mode, const char *operation)
{
	int error = failed ? errno : give_to_caller(request, birth, mode);
	struct node *node;
	struct stat attributes;

	if (error) {
		if (!failed)
			unlinkat(birth->descriptor, birth->entry->name, S_ISDIR(mode) ? AT_REMOVEDIR : 0);
		birth_abandon(birth);
		answer_error(request, error, operation);
		return;
	}
	error = birth_finish(birth, &node, &attributes);
	if (error)
		answer_error(request, error, operation);
	else
		answer_entry(request, node, &attributes);
}

void on_mkdir(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode)
{
	struct birth birth;
	int failed, error = birth_begin(&birth, node_of(parent), name);

	if (error) {
		answer_error(request, error, "mkdir");
		return;
	}
	do
		failed = mkdirat(birth.descriptor, name, mode);
	while (failed && room_was_made());
	finish(request, &birth, failed, S_IFDIR | mode, "mkdir");
}

void on_mknod(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode, dev_t device)
{
	struct birth birth;
	int failed, error = birth_begin(&birth, node_of(parent), name);

	if (error) {
		answer_error(request, error, "mknod");
		return;
	}
	do
		failed = mknodat(birth.descriptor, name, mode, device);
	while (failed && room_was_made());
	finish(request, &birth, failed, mode, "mknod");
}

void on_symlink(fuse_req_t request, const char *target, fuse_ino_t parent, const char *name)
{
	struct birth birth;
	int failed, error = birth_begin(&birth, node_of(parent), name);

	if (error) {
		answer_error(request, error, "symlink");
		return;
	}
	do
		failed = symlinkat(target, birth.descriptor, name);
	while (failed && room_was_made());
	finish(request, &birth, failed, S_IFLNK, "symlink");
}

static int link_at(struct node *original, const struct birth *birth)
{
	char path[SPOT_PATH];
	struct spot spot;
	int error = spot_find(original, &spot);

	if (error)
		return error;
	if (*spot.name) {
		if (linkat(spot.descriptor, spot.name, birth->descriptor, birth->entry->name, 0) != 0)
			error = errno;
	} else {
		spot_path(&spot, path);
		if (linkat(AT_FDCWD, path, birth->descriptor, birth->entry->name, AT_SYMLINK_FOLLOW) != 0)
			error = errno;
	}
	spot_leave(&spot);
	return error;
}

void on_link(fuse_req_t request, fuse_ino_t number, fuse_ino_t parent, const char *name)
{
	struct birth birth;
	struct stat attributes;
	struct node *node;
	int error = birth_begin(&birth, node_of(parent), name);

	if (!error) {
		error = link_at(node_of(number), &birth);
		if (error)
			birth_abandon(&birth);
		else
			error = birth_finish(&birth, &node, &attributes);
	}
	if (error)
		answer_error(request, error, "link");
	else
		answer_entry(request, node, &attributes);
}

/* What `create` answers with. */
struct created {
	int descriptor;
	struct node *node;
	struct stat attributes;
};

/* The kernel has looked the name up before, but it may have come to be since, in any spelling: then it is opened. */
static int open_existing(struct node *directory, const char *name, int flags, struct created *created)
{
	struct entry *entry;
	struct key key;
	int held, error = key_make(&key, name);

	if (error)
		return error;
	if (flags & O_EXCL)
		return EEXIST;
	entry = names_find(directory, &key);
	/* A FIFO would be opened for ever, and a link is not ours to follow. ESTALE makes the kernel look again. */
	if (entry->type != DT_REG)
		return entry->type == DT_DIR ? EISDIR : ESTALE;
	held = directory_hold(directory);
	if (held < 0)
		return -held;
	created->descriptor = open_at(held, entry->name, store_flags(flags) | O_NOFOLLOW, 0);
	directory_release(directory);
	if (created->descriptor < 0)
		return -created->descriptor;
	error = node_of_entry(entry, &created->node, &created->attributes);
	if (error)
		close(created->descriptor);
	return error;
}

static int open_new(fuse_req_t request, struct birth *birth, mode_t mode, int flags, struct created *created)
{
	const char *name = birth->entry->name;
	int error = 0;

	created->descriptor = open_at(birth->descriptor, name, store_flags(flags) | O_CREAT | O_EXCL, mode);
	if (created->descriptor < 0) {
		error = -created->descriptor;
		birth_abandon(birth);
		return error;
	}
	error = give_to_caller(request, birth, S_IFREG | mode);
	if (error) {
		unlinkat(birth->descriptor, name, 0);
		birth_abandon(birth);
	} else {
		error = birth_finish(birth, &created->node, &created->attributes);
	}
	if (error)
		close(created->descriptor);
	return error;
}

void on_create(fuse_req_t request, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *file)
{
	struct created created;
	struct birth birth;
	int error = birth_begin(&birth, node_of(parent), name);

	if (error == EEXIST)
		error = open_existing(node_of(parent), name, file->flags, &created);
	else if (!error)
		error = open_new(request, &birth, mode, file->flags, &created);
	if (error) {
		answer_error(request, error, "create");
		return;
	}
	file->fh = (uint64_t)created.descriptor;
	answer_created(request, created.node, &created.attributes, file);
}
