/* spelling.h: tells the launcher who has found a name by another spelling than its own.
 *
 * While its lookup is answered, the caller waits in the kernel, so that it and all that it descends from can still be seen in /proc;
 * by the time the launcher reads the line, a short-lived one is gone. So the line says it all: see status.h.
 */
#ifndef CASEFS_SPELLING_H
#define CASEFS_SPELLING_H

#include "node.h"

#include <sys/types.h>

/* Thread `tid` has asked for `name` in `directory`, where `entry` is what it found. */
void spelling_report(pid_t tid, const struct entry *entry, const char *name);

#endif
