/* waits.c: moments until which programs wait. They were reckoned from the moved clock, and the kernel keeps to the true one.
 *
 * What waits for a length of time needs none of this, nor what waits by the monotonic clock.
 */
#include "moved.h"

#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/timerfd.h>

/* Calls the real function with the true moment, which `BACK` makes of `until`. */
#define WAIT(name, until, BACK, types, ...)            \
	do {                                           \
		static int(*real) types;               \
		struct timespec at;                    \
		FIND(real, name);                      \
		if ((until) != NULL)                   \
			at = BACK(*(until));           \
		struct timespec *true_until = (until) != NULL ? &at : NULL; \
		return real(__VA_ARGS__);              \
	} while (0)

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *until, struct timespec *left)
{
	static int (*real)(clockid_t, int, const struct timespec *, struct timespec *);

	FIND(real, "clock_nanosleep");
	if (!(flags & TIMER_ABSTIME) || !moved_clock(clock) || until == NULL)
		return real(clock, flags, until, left);
	struct timespec at = moved_back(*until);

	return real(clock, flags, &at, left);
}

int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until)
{
	WAIT("sem_timedwait", until, moved_back, (sem_t *, const struct timespec *), semaphore, true_until);
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
			   const struct timespec *restrict until)
{
	WAIT("pthread_cond_timedwait", until, moved_deadline, (pthread_cond_t *, pthread_mutex_t *, const struct timespec *),
	     condition, mutex, true_until);
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex, const struct timespec *restrict until)
{
	WAIT("pthread_mutex_timedlock", until, moved_back, (pthread_mutex_t *, const struct timespec *), mutex, true_until);
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict lock, const struct timespec *restrict until)
{
	WAIT("pthread_rwlock_timedrdlock", until, moved_back, (pthread_rwlock_t *, const struct timespec *), lock, true_until);
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict lock, const struct timespec *restrict until)
{
	WAIT("pthread_rwlock_timedwrlock", until, moved_back, (pthread_rwlock_t *, const struct timespec *), lock, true_until);
}

int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *until)
{
	WAIT("pthread_timedjoin_np", until, moved_back, (pthread_t, void **, const struct timespec *), thread, value, true_until);
}

ssize_t mq_timedreceive(mqd_t queue, char *restrict message, size_t size, unsigned int *restrict priority,
			const struct timespec *restrict until)
{
	static ssize_t (*real)(mqd_t, char *, size_t, unsigned int *, const struct timespec *);
	struct timespec at;

	FIND(real, "mq_timedreceive");
	if (until != NULL)
		at = moved_back(*until);
	return real(queue, message, size, priority, until != NULL ? &at : NULL);
}

int mq_timedsend(mqd_t queue, const char *message, size_t size, unsigned int priority, const struct timespec *until)
{
	WAIT("mq_timedsend", until, moved_back, (mqd_t, const char *, size_t, unsigned int, const struct timespec *), queue, message,
	     size, priority, true_until);
}

/* By whichever clock one asks for; a C library older than 2.30 has none of them, and nobody calls them there. */
#define BY_CLOCK(name, of, argument)                                                              \
	int name(of *restrict argument, clockid_t clock, const struct timespec *restrict until)   \
	{                                                                                         \
		static int (*real)(of *, clockid_t, const struct timespec *);                     \
		struct timespec at;                                                               \
		FIND(real, #name);                                                                \
		if (until == NULL || !moved_clock(clock))                                         \
			return real(argument, clock, until);                                      \
		at = moved_back(*until);                                                          \
		return real(argument, clock, &at);                                                \
	}
BY_CLOCK(sem_clockwait, sem_t, semaphore)
BY_CLOCK(pthread_mutex_clocklock, pthread_mutex_t, mutex)
BY_CLOCK(pthread_rwlock_clockrdlock, pthread_rwlock_t, lock)
BY_CLOCK(pthread_rwlock_clockwrlock, pthread_rwlock_t, lock)

int pthread_cond_clockwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, clockid_t clock,
			   const struct timespec *restrict until)
{
	static int (*real)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
	struct timespec at;

	FIND(real, "pthread_cond_clockwait");
	if (until == NULL || !moved_clock(clock))
		return real(condition, mutex, clock, until);
	at = moved_back(*until);
	return real(condition, mutex, clock, &at);
}

int timer_settime(timer_t timer, int flags, const struct itimerspec *restrict when, struct itimerspec *restrict before)
{
	static int (*real)(timer_t, int, const struct itimerspec *, struct itimerspec *);

	FIND(real, "timer_settime");
	if (!(flags & TIMER_ABSTIME) || when == NULL)
		return real(timer, flags, when, before);
	struct itimerspec at = { .it_interval = when->it_interval, .it_value = moved_deadline(when->it_value) };

	return real(timer, flags, &at, before);
}

int timerfd_settime(int timer, int flags, const struct itimerspec *when, struct itimerspec *before)
{
	static int (*real)(int, int, const struct itimerspec *, struct itimerspec *);

	FIND(real, "timerfd_settime");
	if (!(flags & TFD_TIMER_ABSTIME) || when == NULL)
		return real(timer, flags, when, before);
	struct itimerspec at = { .it_interval = when->it_interval, .it_value = moved_deadline(when->it_value) };

	return real(timer, flags, &at, before);
}
