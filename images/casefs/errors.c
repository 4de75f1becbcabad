/* errors.c: the table of errors. What is not in it reaches the caller as the store said it: EEXIST, ENOTEMPTY, ENAMETOOLONG... */
#include "errors.h"

#include "status.h"

#include <stdbool.h>
#include <stddef.h>

struct translation {
	int met;
	int told;
	bool trouble; /* the cell's fault: a test that meets it says nothing about the project */
};

static const struct translation translations[] = {
	/* The daemon's descriptors ran out. EMFILE would say that the caller's did. */
	{ EMFILE, ENFILE, true },
	{ ENFILE, ENFILE, true },
	{ ENOMEM, ENOMEM, true },
	/* The store is full, or failed, or cannot be written: true for the caller as well, but no property of the project. */
	{ ENOSPC, ENOSPC, true },
	{ EDQUOT, ENOSPC, true },
	{ EIO, EIO, true },
	{ EROFS, EROFS, true },
	{ STORE_CHANGED, ESTALE, true },
	/* The store has a symbolic link where the daemon knows a file: somebody else writes here, too. */
	{ ELOOP, EIO, true },
	/* A descriptor that the daemon believed to be open is not: a fault of its own. */
	{ EBADF, EIO, true },
	{ EFAULT, EIO, true },
	/* The daemon lacks a capability that it was promised. */
	{ EPERM, EPERM, true },
	{ EACCES, EACCES, true },
};

int error_for_caller(int error, const char *operation)
{
	for (size_t i = 0; i < sizeof translations / sizeof *translations; i++) {
		if (translations[i].met != error)
			continue;
		if (translations[i].trouble)
			status_trouble(error, operation);
		return translations[i].told;
	}
	return error;
}
