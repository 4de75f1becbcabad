/* moved.h: by how much the clock is moved, and times from the one side to the other.
 *
 * The library is loaded before the C library (LD_PRELOAD, or /etc/ld.so.preload) into the programs of a cell. The offset comes in
 * nanoseconds from the variable PARITYGATE_CLOCK, else from the file /opt/paritygate/clock.offset, so that a program that starts
 * another one without any variables has moved that one's clock, too. Without either nothing is moved. A second number after it is
 * the true time, in nanoseconds, since which files have their times by the moved clock (files.c); without it files are let be.
 */
#ifndef MOVED_H
#define MOVED_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* Programs see the functions that they know, and none of these. */
#pragma GCC visibility push(hidden)

#define OFFSET_VARIABLE "PARITYGATE_CLOCK"
#define OFFSET_FILE "/opt/paritygate/clock.offset"

/* Finds the function that ours stands before. The newest of several versions: a plain look-up may give the oldest. */
void *moved_real(const char *name);
#define FIND(real, name)                                       \
	do {                                                   \
		if ((real) == NULL)                            \
			*(void **)&(real) = moved_real(name);  \
	} while (0)

/* Whether a clock is one that the calendar hangs on. */
bool moved_clock(clockid_t clock);

/* From a true time to the one that programs are told, and back. */
struct timespec moved_forth(struct timespec when);
struct timespec moved_back(struct timespec when);

/* From a moment until which a program waits to the true one, where nobody says by which clock it counts: later than ten years
 * after a clock's beginning no computer has been running that long, so it is the calendar's. */
struct timespec moved_deadline(struct timespec when);

/* Whether a file that was last changed then has its times by the moved clock, and what to store for a time that one is given. */
bool moved_file(struct timespec changed);
struct timespec moved_stored(struct timespec when);

#pragma GCC visibility pop

#endif
