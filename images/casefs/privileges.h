/* privileges.h: what the daemon may do once it has mounted. */
#ifndef CASEFS_PRIVILEGES_H
#define CASEFS_PRIVILEGES_H

#include <stdbool.h>

/* Give up every capability that serving does not take, SYS_ADMIN above all, for good. Returns an errno value. */
int privileges_drop(void);

/* Whether we may look at other users' system calls: we have the capability, and Yama does not forbid it to everybody. */
bool privileges_see_callers(void);

#endif
