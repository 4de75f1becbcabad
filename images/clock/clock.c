/* clock.c: which time programs are told. What the calendar's clock says is moved by a constant; every other clock, durations
 * and the times of files stay true. See moved.h. */
#include "moved.h"

#include <errno.h>
#include <sys/time.h>
#include <sys/timeb.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *out)
{
	static int (*real)(clockid_t, struct timespec *);

	FIND(real, "clock_gettime");
	int status = real(clock, out);

	if (status == 0 && moved_clock(clock))
		*out = moved_forth(*out);
	return status;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
	struct timespec now;

	(void)zone; /* nobody has set one for decades */
	if (out == NULL)
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	out->tv_sec = now.tv_sec;
	out->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *out)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (out != NULL)
		*out = now.tv_sec;
	return now.tv_sec;
}

int timespec_get(struct timespec *out, int base)
{
	static int (*real)(struct timespec *, int);

	if (base == TIME_UTC)
		return clock_gettime(CLOCK_REALTIME, out) == 0 ? base : 0;
	FIND(real, "timespec_get");
	return real != NULL ? real(out, base) : 0;
}

int ftime(struct timeb *out)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	*out = (struct timeb){ .time = now.tv_sec, .millitm = (unsigned short)(now.tv_nsec / 1000000) };
	return 0;
}
