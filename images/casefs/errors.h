/* errors.h: what callers are told when the store, or the daemon, fails. */
#ifndef CASEFS_ERRORS_H
#define CASEFS_ERRORS_H

#include <errno.h>

/* The store is not as the daemon left it: somebody else writes to it. Callers are told ESTALE. (As an errno value it says that a
 * structure needs cleaning, and no system call of the daemon's meets it by itself.) */
#define STORE_CHANGED EUCLEAN

/* The error to answer with. What is the cell's fault and not the caller's is also said on the status line, as trouble. */
int error_for_caller(int error, const char *operation);

#endif
