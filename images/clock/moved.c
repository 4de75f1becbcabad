/* moved.c: the offset, read once in each program. */
#include "moved.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define SECOND 1000000000LL
#define TEN_YEARS (10LL * 365 * 24 * 60 * 60)

_Static_assert(sizeof(time_t) == 8, "where seconds have 32 bits programs call other functions as well");

static int64_t offset_seconds;
static long offset_nanoseconds;
static int64_t files_since; /* 0: files have true times */
static volatile int known;

/* The newer of the versions that the C library of x86-64 has of two functions; others have one. */
static const char *const versions[] = { "GLIBC_2.3.2", "GLIBC_2.3.3" };

void *moved_real(const char *name)
{
	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
		void *found = dlvsym(RTLD_NEXT, name, versions[i]);

		if (found != NULL)
			return found;
	}
	return dlsym(RTLD_NEXT, name);
}

static void from_text(const char *text)
{
	char *rest;
	int64_t offset = strtoll(text, &rest, 10);

	files_since = strtoll(rest, NULL, 10);
	offset_seconds = offset / SECOND;
	offset_nanoseconds = (long)(offset % SECOND);
	if (offset_nanoseconds < 0) {
		offset_nanoseconds += SECOND;
		offset_seconds -= 1;
	}
}

static void from_file(void)
{
	char text[64] = "";
	int file = open(OFFSET_FILE, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return;
	ssize_t size = read(file, text, sizeof text - 1);

	close(file);
	if (size > 0)
		from_text(text);
}

/* Also by whatever asks for the time before our constructor; twice is the same as once. */
static void find_out(void)
{
	const char *given = getenv(OFFSET_VARIABLE);

	if (given != NULL)
		from_text(given);
	else
		from_file();
	__sync_synchronize();
	known = 1;
}

/* Also asks once, so that the real function is known before a signal's handler or a child between fork and exec asks. */
__attribute__((constructor)) static void begin(void)
{
	struct timespec now;

	find_out();
	clock_gettime(CLOCK_MONOTONIC, &now);
}

bool moved_clock(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

struct timespec moved_forth(struct timespec when)
{
	if (!known)
		find_out();
	when.tv_sec += offset_seconds;
	when.tv_nsec += offset_nanoseconds;
	if (when.tv_nsec >= SECOND) {
		when.tv_nsec -= SECOND;
		when.tv_sec += 1;
	}
	return when;
}

static struct timespec back(struct timespec when)
{
	when.tv_sec -= offset_seconds;
	when.tv_nsec -= offset_nanoseconds;
	if (when.tv_nsec < 0) {
		when.tv_nsec += SECOND;
		when.tv_sec -= 1;
	}
	return when;
}

struct timespec moved_back(struct timespec when)
{
	if (!known)
		find_out();
	if (when.tv_nsec < 0 || when.tv_nsec >= SECOND)
		return when; /* the kernel refuses it */
	when = back(when);
	if (when.tv_sec < 0)
		when = (struct timespec){ 0, 0 }; /* long over: before 1970 the kernel knows nothing */
	return when;
}

struct timespec moved_deadline(struct timespec when)
{
	return when.tv_sec > TEN_YEARS ? moved_back(when) : when;
}

bool moved_file(struct timespec changed)
{
	if (!known)
		find_out();
	return files_since != 0 && changed.tv_sec * SECOND + changed.tv_nsec >= files_since;
}

struct timespec moved_stored(struct timespec when)
{
	if (!known)
		find_out();
	return files_since != 0 && when.tv_nsec >= 0 && when.tv_nsec < SECOND ? back(when) : when;
}
