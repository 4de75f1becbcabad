/* settings.h: what the command line said, and what the machine allows. Set once, before the first request. */
#ifndef CASEFS_SETTINGS_H
#define CASEFS_SETTINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The order in which a directory lists its names. */
enum order {
	ORDER_CREATED,  /* oldest first */
	ORDER_SORTED,   /* by bytes */
	ORDER_REVERSED, /* by bytes, the other way round */
	ORDER_SHUFFLED, /* by a hash of seed and name: the same for the same seed, whenever each name was made */
};

struct settings {
	bool folding;             /* off: names that differ in a byte are different names */
	bool xattrs;              /* off: the kernel is told once that there are none, and stops asking */
	enum order order;
	uint64_t seed;
	size_t descriptors;       /* how many descriptors of directories may be kept open */
	const char *backing;      /* the store's directory; NULL: the mount point's own */
	const char *tmpfs_size;   /* make the store a tmpfs of this size, which has no path at all */
	int status_descriptor;    /* where the status lines go; -1: nowhere */
	bool sees_callers;        /* the kernel lets us look at callers' system calls: a case-only rename works */
	char mountpoint[PATH_MAX];
};

extern struct settings settings;

extern const char *const order_words[]; /* by enum order, NULL last */

/* Read the command line into `settings`. Exits itself: 0 after --help and --version, 2 if the command is wrong. */
void settings_read(int argc, char **argv);

#endif
