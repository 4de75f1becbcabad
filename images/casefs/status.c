/* status.c: the status lines; see status.h for their form. */
#include "status.h"

#include "fold.h"
#include "node.h"
#include "settings.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* Nobody may be reading, and the daemon must never wait for that: main.c ignores SIGPIPE, and without room a line is lost. */
static bool has_room(int descriptor)
{
	struct pollfd asked = { .fd = descriptor, .events = POLLOUT };

	return poll(&asked, 1, 0) == 1;
}

/* Spellings may come by the thousand. Half of the pipe is kept for lines that matter more. */
bool status_has_room_for_spellings(void)
{
	int waiting = 0, capacity = fcntl(settings.status_descriptor, F_GETPIPE_SZ);

	return capacity < 0 || ioctl(settings.status_descriptor, FIONREAD, &waiting) != 0 || waiting < capacity / 2;
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char line[PATH_MAX + 256];
	va_list arguments;
	int length;

	if (settings.status_descriptor < 0 || !has_room(settings.status_descriptor))
		return;
	va_start(arguments, format);
	length = vsnprintf(line, sizeof line - 1, format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	if ((size_t)length > sizeof line - 2)
		length = (int)sizeof line - 2;
	line[length++] = '\n';
	if (write(settings.status_descriptor, line, (size_t)length) < 0)
		settings.status_descriptor = -1;
}

static const char *yes_or_no(bool value)
{
	return value ? "yes" : "no";
}

static const char *on_or_off(bool value)
{
	return value ? "on" : "off";
}

static const char *error_name(int error)
{
	const char *name = strerrorname_np(error);

	return name ? name : "EUNKNOWN";
}

void status_ready(void)
{
	say("ready version=%s pid=%ld unicode=%s fold=%s order=%s seed=%" PRIu64
	    " xattr=%s case_rename=%s descriptors=%zu",
	    CASEFS_VERSION, (long)getpid(), fold_unicode_version(), on_or_off(settings.folding), order_words[settings.order],
	    settings.seed, on_or_off(settings.xattrs), yes_or_no(settings.sees_callers || !settings.folding),
	    settings.descriptors);
}

void status_failed(const char *step, int error, const char *detail)
{
	say("failed %s %s: %s", error_name(error), step, detail);
	fprintf(stderr, "casefs: %s: %s: %s\n", step, detail, strerror(error));
}

void status_trouble(int error, const char *operation)
{
	static bool said[256];

	if (error <= 0 || error >= (int)sizeof said || said[error])
		return;
	said[error] = true;
	say("trouble %s %s", error_name(error), operation);
}

void status_spelling(const char *pids, const char *asked, const char *kept)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	say("alias %lld.%06ld %s %s %s", (long long)now.tv_sec, now.tv_nsec / 1000, pids, asked, kept);
}

void status_figures(void)
{
	say("figures nodes=%zu names=%zu directories=%zu descriptors=%zu orphans=%zu handles=%zu", figures.nodes, figures.names,
	    figures.directories, figures.descriptors, figures.orphans, figures.handles);
}

void status_ended_by_signal(int number)
{
	say("ended signal %d", number);
}

void status_ended_by_unmount(void)
{
	say("ended unmounted");
}

void status_ended_by_error(int error)
{
	say("ended error %s", error_name(error));
}
