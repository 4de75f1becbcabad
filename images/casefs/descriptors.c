/* descriptors.c: which nodes have a descriptor open, in the order of their last use. */
#include "descriptors.h"
#include "errors.h"

#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SHED_AT_ONCE 64

/* Nodes with an open descriptor. Neither list holds the root, whose descriptor is always open. */
struct queue {
	struct node *freshest, *stalest;
	size_t length;
};

static struct queue placed;  /* can be reached again, if the descriptor is closed */
static struct queue orphans; /* cannot */

static struct queue *queue_of(const struct node *node)
{
	return node->places ? &placed : &orphans;
}

static void queue_remove(struct queue *queue, struct node *node)
{
	if (node->fresher)
		node->fresher->staler = node->staler;
	else
		queue->freshest = node->staler;
	if (node->staler)
		node->staler->fresher = node->fresher;
	else
		queue->stalest = node->fresher;
	node->fresher = node->staler = NULL;
	queue->length--;
}

static void queue_insert(struct queue *queue, struct node *node)
{
	node->fresher = NULL;
	node->staler = queue->freshest;
	if (queue->freshest)
		queue->freshest->fresher = node;
	else
		queue->stalest = node;
	queue->freshest = node;
	queue->length++;
}

static void count(void)
{
	figures.descriptors = placed.length;
	figures.orphans = orphans.length;
}

static void close_in(struct queue *queue, struct node *node)
{
	queue_remove(queue, node);
	close(node->descriptor);
	node->descriptor = -1;
	count();
}

/* Close the stalest descriptors until `most` are left or the rest is in use. Returns how many were closed. */
static size_t shed(struct queue *queue, size_t most)
{
	size_t closed = 0;

	for (struct node *node = queue->stalest, *fresher; node && queue->length > most; node = fresher) {
		fresher = node->fresher;
		if (node->held || (queue == &orphans && node->handles))
			continue;
		close_in(queue, node);
		closed++;
	}
	return closed;
}

/* Take a descriptor into the books. The node is held meanwhile, lest it is the one to go. */
static void keep(struct node *node, int descriptor)
{
	node->descriptor = descriptor;
	queue_insert(queue_of(node), node);
	node->held++;
	shed(&placed, settings.descriptors);
	node->held--;
	count();
}

static void touch(struct node *node)
{
	struct queue *queue = queue_of(node);

	if (queue->freshest == node)
		return;
	queue_remove(queue, node);
	queue_insert(queue, node);
}

bool room_was_made(void)
{
	return errno == ENOSPC && shed(&orphans, 0) > 0;
}

int open_at(int directory, const char *name, int flags, mode_t mode)
{
	for (;;) {
		int descriptor = openat(directory, name, flags | O_CLOEXEC, mode);

		if (descriptor >= 0)
			return descriptor;
		if (room_was_made())
			continue;
		if (errno != EMFILE && errno != ENFILE)
			return -errno;
		if (shed(&placed, placed.length > SHED_AT_ONCE ? placed.length - SHED_AT_ONCE : 0) == 0)
			return -EMFILE;
	}
}

/* A directory that has to be opened on the way down. A list and no recursion, so that a tree may be as deep as it likes. */
struct step {
	struct step *above;
	struct node *directory;
};

static int open_below(struct node *parent, struct node *directory)
{
	int descriptor;

	parent->held++;
	descriptor = open_at(parent->descriptor, directory->places->name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
	parent->held--;
	if (descriptor < 0)
		return descriptor == -ENOENT ? -STORE_CHANGED : descriptor;
	keep(directory, descriptor);
	return descriptor;
}

static int open_through_parents(struct node *directory)
{
	struct step *steps = NULL;
	int result = 0;

	for (struct node *at = directory; at->descriptor < 0; at = at->places->directory) {
		struct step *step = at->places ? malloc(sizeof *step) : NULL;

		if (!step) {
			result = at->places ? -ENOMEM : -ENOENT;
			break;
		}
		*step = (struct step){ .above = steps, .directory = at };
		steps = step;
	}
	while (steps) {
		struct step *step = steps;

		if (result >= 0)
			result = open_below(step->directory->places->directory, step->directory);
		steps = step->above;
		free(step);
	}
	return result;
}

int directory_hold(struct node *directory)
{
	if (directory->descriptor < 0) {
		int result = open_through_parents(directory);

		if (result < 0)
			return result;
	} else if (directory->fresher) {
		touch(directory);
	}
	directory->held++;
	return directory->descriptor;
}

void directory_release(struct node *directory)
{
	directory->held--;
}

int spot_find(struct node *node, struct spot *spot)
{
	int descriptor;

	spot->holder = node->descriptor >= 0 || !node->places ? node : node->places->directory;
	spot->name = spot->holder == node ? "" : node->places->name;
	if (spot->holder == node && node->descriptor < 0)
		return ENOENT;
	descriptor = directory_hold(spot->holder);
	if (descriptor < 0)
		return -descriptor;
	spot->descriptor = descriptor;
	return 0;
}

void spot_leave(struct spot *spot)
{
	directory_release(spot->holder);
}

void spot_path(const struct spot *spot, char path[SPOT_PATH])
{
	snprintf(path, SPOT_PATH, *spot->name ? "/proc/self/fd/%d/%s" : "/proc/self/fd/%d", spot->descriptor, spot->name);
}

int spot_open(const struct spot *spot, int flags)
{
	char path[SPOT_PATH];

	if (*spot->name)
		return open_at(spot->descriptor, spot->name, flags | O_NOFOLLOW, 0);
	spot_path(spot, path);
	return open_at(AT_FDCWD, path, flags, 0);
}

int node_outlive(struct entry *entry)
{
	struct node *node = entry->node;
	int directory, descriptor;

	if (!node || node->places->next_place || node->descriptor >= 0)
		return 0;
	directory = directory_hold(entry->directory);
	if (directory < 0)
		return -directory;
	descriptor = open_at(directory, entry->name, O_PATH | O_NOFOLLOW, 0);
	directory_release(entry->directory);
	if (descriptor < 0)
		return descriptor == -ENOENT ? STORE_CHANGED : -descriptor;
	keep(node, descriptor);
	return 0;
}

void descriptor_orphaned(struct node *node)
{
	queue_remove(&placed, node);
	queue_insert(&orphans, node);
	shed(&orphans, MOST_ORPHANS);
	count();
}

void descriptor_adopted(struct node *node)
{
	queue_remove(&orphans, node);
	queue_insert(&placed, node);
	count();
}

void descriptor_close(struct node *node)
{
	if (node->descriptor >= 0)
		close_in(queue_of(node), node);
}
