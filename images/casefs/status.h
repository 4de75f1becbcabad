/* status.h: what the launcher is told: one line each on --status-fd, and failures on stderr as well.
 *
 *     ready version=1 pid=17 unicode=14.0.0 fold=on order=created seed=0 xattr=off case_rename=yes descriptors=4096
 *     failed EPERM mount: /m                     it never was ready; the process exits 1
 *     trouble ENFILE open                        a request failed for a reason that is the cell's and not the caller's;
 *                                                said once for each reason. EUCLEAN: somebody else writes to the store
 *     alias 81.000042 41,40,17,1 src/README src/Readme
 *                                                somebody found a name by another spelling: when (CLOCK_MONOTONIC, seconds), the
 *                                                process and those it descends from, the path that was asked for and the one
 *                                                that is there, below the mount point and percent-encoded. They differ in the
 *                                                last name alone. Lost where half of the pipe is full: the others matter more
 *     figures nodes=9 names=12 directories=3 descriptors=3 orphans=0 handles=1     the answer to SIGUSR1
 *     ended signal 15                            or: ended unmounted; ended error EIO
 *
 * End of file without `ended` means that the daemon died. The first word decides; `key=value` pairs may be added at the end.
 */
#ifndef CASEFS_STATUS_H
#define CASEFS_STATUS_H

#include <stdbool.h>

#define CASEFS_VERSION "1"

enum exit_status {
	EXIT_ENDED = 0,
	EXIT_NOT_MOUNTED = 1,
	EXIT_WRONG_COMMAND = 2,
	EXIT_LOST = 3,
};

void status_ready(void);
void status_failed(const char *step, int error, const char *detail);
void status_trouble(int error, const char *operation);
void status_figures(void);
bool status_has_room_for_spellings(void);
void status_spelling(const char *pids, const char *asked, const char *kept);
void status_ended_by_signal(int number);
void status_ended_by_unmount(void);
void status_ended_by_error(int error);

#endif
