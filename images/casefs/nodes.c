/* nodes.c: the table of nodes, and how long each lives. */
#include "node.h"

#include "descriptors.h"
#include "errors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define ROOT_NUMBER 1 /* FUSE's number for the root */
#define FIRST_BUCKETS 1024

static struct node root;

/* Nodes by device and inode number, to find the one node of a file that has several names. */
static struct {
	struct node **buckets;
	size_t bucket_count;
} table;

struct figures figures;

static size_t bucket_of(dev_t device, ino_t inode, size_t bucket_count)
{
	uint64_t mixed = ((uint64_t)inode ^ (uint64_t)device << 32) * 0x9E3779B97F4A7C15u;

	return (size_t)(mixed >> 32) & (bucket_count - 1);
}

/* Have at least one bucket a node. Without memory for more the table stays as it is, and only gets slower. */
static void table_grow(void)
{
	size_t bucket_count = table.bucket_count * 2;
	struct node **buckets = calloc(bucket_count, sizeof *buckets);

	if (!buckets)
		return;
	for (size_t i = 0; i < table.bucket_count; i++) {
		for (struct node *node = table.buckets[i], *next; node; node = next) {
			struct node **bucket = &buckets[bucket_of(node->device, node->inode, bucket_count)];

			next = node->next_in_bucket;
			node->next_in_bucket = *bucket;
			*bucket = node;
		}
	}
	free(table.buckets);
	table.buckets = buckets;
	table.bucket_count = bucket_count;
}

static void table_insert(struct node *node)
{
	struct node **bucket;

	if (figures.nodes >= table.bucket_count)
		table_grow();
	bucket = &table.buckets[bucket_of(node->device, node->inode, table.bucket_count)];
	node->next_in_bucket = *bucket;
	*bucket = node;
	figures.nodes++;
}

static void table_remove(struct node *node)
{
	struct node **link = &table.buckets[bucket_of(node->device, node->inode, table.bucket_count)];

	while (*link != node)
		link = &(*link)->next_in_bucket;
	*link = node->next_in_bucket;
	figures.nodes--;
}

static struct node *table_find(dev_t device, ino_t inode)
{
	struct node *node = table.buckets[bucket_of(device, inode, table.bucket_count)];

	while (node && (node->inode != inode || node->device != device))
		node = node->next_in_bucket;
	return node;
}

static int node_start(struct node *node, const struct stat *attributes)
{
	node->device = attributes->st_dev;
	node->inode = attributes->st_ino;
	node->type = attributes->st_mode & S_IFMT;
	node->descriptor = -1;
	if (node->type == S_IFDIR) {
		node->names = names_new();
		if (!node->names)
			return ENOMEM;
		figures.directories++;
	}
	table_insert(node);
	return 0;
}

static struct node *node_new(const struct stat *attributes)
{
	struct node *node = calloc(1, sizeof *node);

	if (node && node_start(node, attributes) != 0) {
		free(node);
		return NULL;
	}
	return node;
}

int node_make_root(int descriptor)
{
	struct stat attributes;
	int error;

	if (fstatat(descriptor, "", &attributes, AT_EMPTY_PATH) != 0)
		return errno;
	table.bucket_count = FIRST_BUCKETS;
	table.buckets = calloc(table.bucket_count, sizeof *table.buckets);
	if (!table.buckets)
		return ENOMEM;
	error = node_start(&root, &attributes);
	root.descriptor = descriptor;
	root.held = 1; /* for ever */
	return error;
}

struct node *node_of(uint64_t number)
{
	return number == ROOT_NUMBER ? &root : (struct node *)(uintptr_t)number;
}

uint64_t node_number(const struct node *node)
{
	return node == &root ? ROOT_NUMBER : (uint64_t)(uintptr_t)node;
}

void entry_bind(struct entry *entry, struct node *node)
{
	entry->node = node;
	entry->next_place = node->places;
	node->places = entry;
	entry->directory->names->bound++;
	if (!entry->next_place && node->descriptor >= 0)
		descriptor_adopted(node); /* an unlinked file turns out to have another name */
}

void entry_unbind(struct entry *entry)
{
	struct node *node = entry->node;
	struct entry **link = &node->places;

	while (*link != entry)
		link = &(*link)->next_place;
	*link = entry->next_place;
	entry->node = NULL;
	entry->next_place = NULL;
	entry->directory->names->bound--;
	if (!node->places && node->descriptor >= 0)
		descriptor_orphaned(node);
}

int node_of_entry(struct entry *entry, struct node **found, struct stat *attributes)
{
	int directory = directory_hold(entry->directory);
	struct node *node = entry->node;
	int error = 0;

	if (directory < 0)
		return -directory;
	if (fstatat(directory, entry->name, attributes, AT_SYMLINK_NOFOLLOW) != 0)
		error = errno == ENOENT ? STORE_CHANGED : errno; /* somebody else has written to the store */
	directory_release(entry->directory);
	if (error)
		return error;
	if (node && (node->inode != attributes->st_ino || node->device != attributes->st_dev))
		return STORE_CHANGED;
	if (!node) {
		node = table_find(attributes->st_dev, attributes->st_ino);
		if (!node)
			node = node_new(attributes);
		if (!node)
			return ENOMEM;
		entry_bind(entry, node);
	}
	node->lookups++;
	*found = node;
	return 0;
}

static bool node_is_used(const struct node *node)
{
	if (node == &root || node->lookups > 0 || node->handles > 0)
		return true;
	/* The order of names is ours alone to know: read anew, they would come in the store's own. */
	return node->names && (node->names->bound > 0 || (node->names->buckets && node->places));
}

static void node_free(struct node *node)
{
	table_remove(node);
	descriptor_close(node);
	if (node->names) {
		names_free(node->names);
		figures.directories--;
	}
	free(node);
}

void node_settle(struct node *node)
{
	while (node && !node_is_used(node)) {
		struct node *above = NULL;

		/* A directory has one place, so that this recurs for files with several names only, and once. */
		while (node->places) {
			struct node *directory = node->places->directory;

			entry_unbind(node->places);
			if (above && above != directory)
				node_settle(above);
			above = directory;
		}
		node_free(node);
		node = above;
	}
}

void node_forget(struct node *node, uint64_t count)
{
	node->lookups -= count < node->lookups ? count : node->lookups;
	node_settle(node);
}

bool node_path(const struct node *node, char *path, size_t size)
{
	size_t start = size;

	if (size == 0)
		return false;
	path[--start] = '\0';
	for (; node != &root; node = node->places->directory) {
		size_t length;

		if (!node->places)
			return false;
		length = strlen(node->places->name);
		if (length + 1 > start)
			return false;
		start -= length;
		memcpy(path + start, node->places->name, length);
		path[--start] = '/';
	}
	memmove(path, path + start, size - start);
	return true;
}
