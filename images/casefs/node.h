/* node.h: the things that the kernel knows (nodes), the names that directories hold (entries), and how both meet.
 *
 * A node is a file, directory, link, ... of the store that the kernel has looked up and not yet forgotten. There is one for all
 * spellings of all its names: locks, mappings and cached attributes are then shared, without any work of ours. Its address is
 * the number that the kernel uses for it.
 *
 * An entry is one name in one directory, spelled as it was created. A directory's entries are read from the store when they
 * are first needed, since we alone write to the store, and the directory's node is then kept until it is removed, so that
 * they stay in their order whatever the kernel forgets. An entry whose node the kernel knows is bound to it: it is one of the
 * node's places. A directory lives at least as long as a node is bound to one of its entries.
 *
 * No descriptor is held for a node that has a place: it is reached through its directory and name. Directories keep one open
 * while there is room (descriptors.h). Only what has lost its last name while it is still in use, an orphan, needs its own.
 *
 * One thread serves all requests, so nothing here is locked.
 */
#ifndef CASEFS_NODE_H
#define CASEFS_NODE_H

#include "fold.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct entry {
	struct entry *next_in_bucket;
	struct entry *older, *newer; /* of the same directory */
	struct node *directory;
	struct node *node;           /* NULL while the kernel does not know what is behind the name */
	struct entry *next_place;    /* of the same node */
	const char *key;             /* what the name folds to; the name itself where that is the same */
	ino_t inode;
	uint32_t hash;               /* of the key */
	unsigned char type;          /* DT_REG, DT_DIR, ... */
	char name[];
};

/* What only a directory has. */
struct names {
	struct entry **buckets; /* by the key's hash; NULL until the names have been read */
	size_t bucket_count, entry_count;
	struct entry *oldest, *newest;
	size_t bound;           /* entries that are bound to a node */
};

struct node {
	struct node *next_in_bucket;
	dev_t device;
	ino_t inode;
	mode_t type;                  /* S_IFREG, S_IFDIR, ... */
	int descriptor;               /* O_PATH; -1 if none is open */
	unsigned held;                /* the descriptor is in use and must stay open */
	unsigned handles;             /* open files that callers have */
	uint64_t lookups;             /* what the kernel has been told and has not forgotten */
	struct entry *places;
	struct names *names;          /* NULL if this is no directory */
	struct node *fresher, *staler; /* by the descriptor's last use; see descriptors.c */
};

/* A name as callers spell it, and what it folds to. */
struct key {
	const char *name;
	size_t name_length, length;
	uint32_t hash;
	char text[FOLDED_BYTES + 1];
};

/* How much there is of everything, for the status line. */
struct figures {
	size_t nodes, names, directories, descriptors, orphans, handles;
};

extern struct figures figures;

/* nodes.c ---------------------------------------------------------------------------------------------------------------- */

/* The root, which is always there. `descriptor` is the store's directory. Returns an errno value. */
int node_make_root(int descriptor);

struct node *node_of(uint64_t number);
uint64_t node_number(const struct node *node);

/* The node behind an entry, with its attributes; the kernel is about to be told of it once more. Returns an errno value. */
int node_of_entry(struct entry *entry, struct node **node, struct stat *attributes);

/* The kernel has forgotten this many of its lookups. Frees the node if nothing uses it any more. */
void node_forget(struct node *node, uint64_t count);

/* Free the node, and then its directory, and so on upwards, as far as nothing uses them any more. */
void node_settle(struct node *node);

void entry_bind(struct entry *entry, struct node *node);
void entry_unbind(struct entry *entry);

/* Write the path below the mount point, as created and with a slash before each name. False if it does not fit or has no name. */
bool node_path(const struct node *node, char *path, size_t size);

/* names.c ---------------------------------------------------------------------------------------------------------------- */

/* Returns ENAMETOOLONG or 0. */
int key_make(struct key *key, const char *name);

/* True if two names are one. Both have at most NAME_BYTES bytes. */
bool names_alike(const char *one, size_t one_length, const char *other, size_t other_length);

/* Read a directory's names from the store, if that has not been done. Returns an errno value. */
int names_load(struct node *directory);

/* The entry for a name, by its own spelling if there is one and by any other if not; NULL if there is none. */
struct entry *names_find(struct node *directory, const struct key *key);

/* Make an entry that is not yet in its directory, so that nothing can fail once the store has been changed. NULL: no memory. */
struct entry *entry_make(struct node *directory, const struct key *key);
void entry_free(struct entry *entry);

void names_insert(struct entry *entry);
void names_remove(struct entry *entry);

struct names *names_new(void);
void names_free(struct names *names);

#endif
