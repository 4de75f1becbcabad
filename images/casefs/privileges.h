/* privileges.h: what the daemon may do once it has mounted. */
#ifndef CASEFS_PRIVILEGES_H
#define CASEFS_PRIVILEGES_H

/* Give up every capability that serving does not take, SYS_ADMIN above all, for good. Returns an errno value. */
int privileges_drop(void);

#endif
