/* caller.h: recognises a rename that changes nothing but case.
 *
 * rename("foo", "Foo") never reaches a filesystem like this one: the kernel looks both names up, finds one file behind them,
 * and reports success without having done anything. So while a thread is in such a rename, the lookup of its new name is
 * answered with ENOENT, and the kernel goes on to ask for the rename. Whether it is in one is read from /proc/TID/syscall,
 * which takes CAP_SYS_PTRACE, the caller's PID namespace and that namespace's /proc. Where we cannot tell (privileges.h), the
 * rename does nothing, as on Linux's own case-insensitive filesystems.
 *
 * Not seen: renames through io_uring, those of 32-bit programs on a 64-bit kernel, those whose path leads through a symbolic
 * link where a directory on the way has the very name, and those of directories, which the kernel does not look up again, whose
 * two paths lead to their place through different symbolic links.
 */
#ifndef CASEFS_CALLER_H
#define CASEFS_CALLER_H

#include "node.h"

#include <stdbool.h>
#include <sys/types.h>

/* True if thread `tid` is renaming something in `directory` to `name`, which is the same name but for its spelling. */
bool caller_changes_case(pid_t tid, const struct node *directory, const char *name);

/* To be told of every lookup, after it was asked whether it belongs to a rename: of a rename's two names the old one comes
 * first, and says which directory that is, however its path was written. */
void caller_looked_up(pid_t tid, const struct node *directory, const char *name);

#endif
