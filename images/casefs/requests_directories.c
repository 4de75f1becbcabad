/* requests_directories.c: listing. A handle is a snapshot of the names in the order that was asked for, taken at the first read
 * and again when the caller rewinds; a name that is made or taken away meanwhile may or may not be seen, as POSIX has it. */
#include "requests.h"

#include "settings.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct listed {
	ino_t inode;
	uint64_t rank; /* of a shuffle */
	const char *name;
	unsigned char type;
};

struct listing {
	struct listed *items;
	char *text; /* the names, one after the other */
	size_t count;
};

static void listing_clear(struct listing *listing)
{
	free(listing->items);
	free(listing->text);
	*listing = (struct listing){ .items = NULL };
}

/* FNV-1a, and then well mixed, for its last bits hardly depend on the first bytes. */
static uint64_t shuffled_rank(const char *name)
{
	uint64_t hash = 14695981039346656037u ^ settings.seed * 0x9E3779B97F4A7C15u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 1099511628211u;
	hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9u;
	hash = (hash ^ hash >> 27) * 0x94D049BB133111EBu;
	return hash ^ hash >> 31;
}

static int compare_names(const void *one, const void *other)
{
	return strcmp(((const struct listed *)one)->name, ((const struct listed *)other)->name);
}

static int compare_reversed(const void *one, const void *other)
{
	return compare_names(other, one);
}

static int compare_shuffled(const void *one, const void *other)
{
	uint64_t rank = ((const struct listed *)one)->rank, other_rank = ((const struct listed *)other)->rank;

	if (rank != other_rank)
		return rank < other_rank ? -1 : 1;
	return compare_names(one, other);
}

static void put_in_order(struct listing *listing)
{
	switch (settings.order) {
	case ORDER_CREATED:
		break;
	case ORDER_SORTED:
		qsort(listing->items, listing->count, sizeof *listing->items, compare_names);
		break;
	case ORDER_REVERSED:
		qsort(listing->items, listing->count, sizeof *listing->items, compare_reversed);
		break;
	case ORDER_SHUFFLED:
		for (size_t i = 0; i < listing->count; i++)
			listing->items[i].rank = shuffled_rank(listing->items[i].name);
		qsort(listing->items, listing->count, sizeof *listing->items, compare_shuffled);
		break;
	}
}

static size_t bytes_of_names(const struct names *names)
{
	size_t bytes = 0;

	for (const struct entry *entry = names->oldest; entry; entry = entry->newer)
		bytes += strlen(entry->name) + 1;
	return bytes;
}

static int take_snapshot(struct node *directory, struct listing *listing)
{
	const struct names *names = directory->names;
	int error = names_load(directory);
	char *text;

	listing_clear(listing);
	if (error)
		return error;
	listing->items = calloc(names->entry_count + 1, sizeof *listing->items);
	listing->text = text = malloc(bytes_of_names(names) + 1);
	if (!listing->items || !text) {
		listing_clear(listing);
		return ENOMEM;
	}
	for (const struct entry *entry = names->oldest; entry; entry = entry->newer) {
		size_t size = strlen(entry->name) + 1;

		memcpy(text, entry->name, size);
		listing->items[listing->count++] = (struct listed){ .inode = entry->inode, .name = text, .type = entry->type };
		text += size;
	}
	put_in_order(listing);
	return 0;
}

void on_opendir(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *file)
{
	struct listing *listing = calloc(1, sizeof *listing);
	struct node *node = node_of(number);

	if (!listing) {
		answer_error(request, ENOMEM, "opendir");
		return;
	}
	file->fh = (uint64_t)(uintptr_t)listing;
	node->handles++;
	figures.handles++;
	if (fuse_reply_open(request, file) == 0)
		return;
	node->handles--;
	figures.handles--;
	free(listing);
}

void on_releasedir(fuse_req_t request, fuse_ino_t number, struct fuse_file_info *file)
{
	struct listing *listing = (struct listing *)(uintptr_t)file->fh;
	struct node *node = node_of(number);

	listing_clear(listing);
	free(listing);
	node->handles--;
	figures.handles--;
	fuse_reply_err(request, 0);
	node_settle(node);
}

/* `.`, `..` and the snapshot, by position. False at the end. */
static bool item_at(const struct node *directory, const struct listing *listing, size_t position, struct listed *item)
{
	if (position == 0) {
		*item = (struct listed){ .inode = directory->inode, .name = ".", .type = DT_DIR };
		return true;
	}
	if (position == 1) {
		const struct node *above = directory->places ? directory->places->directory : directory;

		*item = (struct listed){ .inode = above->inode, .name = "..", .type = DT_DIR };
		return true;
	}
	if (position - 2 >= listing->count)
		return false;
	*item = listing->items[position - 2];
	return true;
}

void on_readdir(fuse_req_t request, fuse_ino_t number, size_t size, off_t offset, struct fuse_file_info *file)
{
	struct listing *listing = (struct listing *)(uintptr_t)file->fh;
	struct node *directory = node_of(number);
	int error = offset == 0 || !listing->items ? take_snapshot(directory, listing) : 0;
	char *buffer = error ? NULL : malloc(size);
	size_t used = 0;
	struct listed item;

	if (!buffer) {
		answer_error(request, error ? error : ENOMEM, "readdir");
		return;
	}
	for (size_t position = (size_t)offset; item_at(directory, listing, position, &item); position++) {
		struct stat attributes = { .st_ino = item.inode, .st_mode = DTTOIF(item.type) };
		off_t next = (off_t)position + 1;
		size_t needed = fuse_add_direntry(request, buffer + used, size - used, item.name, &attributes, next);

		if (needed > size - used)
			break;
		used += needed;
	}
	fuse_reply_buf(request, buffer, used);
	free(buffer);
}
