/* errors.h: what callers are told when the store, or the daemon, fails. */
#ifndef CASEFS_ERRORS_H
#define CASEFS_ERRORS_H

/* The error to answer with. What is the cell's fault and not the caller's is also said on the status line, as trouble. */
int error_for_caller(int error, const char *operation);

#endif
