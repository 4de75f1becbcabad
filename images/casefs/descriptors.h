/* descriptors.h: how nodes are reached in the store, within a budget of open descriptors.
 *
 * A directory's descriptor is opened when it is needed, through its parents, and stays open until others need the room.
 *
 * An orphan's cannot be opened again. An orphan that callers have open is kept. Others are nearly always deleted files that only
 * the kernel's cache of names remembers, by another spelling than the one that was deleted; as their contents take room in the
 * store, no more than MOST_ORPHANS are kept, and none when the store is full. One that is given up answers ENOENT.
 */
#ifndef CASEFS_DESCRIPTORS_H
#define CASEFS_DESCRIPTORS_H

#include "node.h"

#define MOST_ORPHANS 16

/* Where a node is: `name` in the directory `descriptor`, or, if the name is empty, what the descriptor itself is open for. */
struct spot {
	int descriptor;
	const char *name;
	struct node *holder; /* whose descriptor it is; see spot_leave */
};

/* Room for the longest path that spot_path writes. */
#define SPOT_PATH (NAME_BYTES + sizeof "/proc/self/fd/2147483647/")

/* Open a directory, or find it open, and keep it so until directory_release. Returns a descriptor, or an errno value below 0. */
int directory_hold(struct node *directory);
void directory_release(struct node *directory);

/* Find a node and hold what is needed to reach it. Returns an errno value; after 0, call spot_leave. */
int spot_find(struct node *node, struct spot *spot);
void spot_leave(struct spot *spot);

/* Open what is at the spot. Returns a descriptor, or an errno value below 0. */
int spot_open(const struct spot *spot, int flags);

/* The spot as a path, for system calls that take nothing else. */
void spot_path(const struct spot *spot, char path[SPOT_PATH]);

/* As openat, but makes room first if descriptors have run out. Returns a descriptor, or an errno value below 0. */
int open_at(int directory, const char *name, int flags, mode_t mode);

/* After a call to the store has failed: true if it was for want of room, some has been made, and errno need not be believed yet. */
bool room_was_made(void);

/* Before an entry goes away: make sure that its node stays reachable if this is its last place. Returns an errno value. */
int node_outlive(struct entry *entry);

/* For nodes.c: a node with a descriptor has lost its last place, was an orphan and has a place again, or is going to be freed. */
void descriptor_orphaned(struct node *node);
void descriptor_adopted(struct node *node);
void descriptor_close(struct node *node);

#endif
