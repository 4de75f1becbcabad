/* settings.c: the command line. */
#include "settings.h"

#include "fold.h"
#include "status.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define LEAST_DESCRIPTORS 16
#define MOST_DESCRIPTORS 4096

static const char usage[] =
	"usage: casefs [OPTION]... DIRECTORY\n"
	"Mount a filesystem on DIRECTORY that ignores the case of names and keeps it, and serve it until SIGTERM.\n"
	"\n"
	"  --fold=on|off         off: names differ by case, all else stays the same (on)\n"
	"  --order=WORD          created, sorted, reversed or shuffled: how directories list their names (created)\n"
	"  --seed=NUMBER         which shuffle (0)\n"
	"  --tmpfs=SIZE          keep the files in a new tmpfs of this size, such as 512M, that nothing else can reach\n"
	"  --backing=DIRECTORY   keep the files there (in DIRECTORY itself, which the mount then hides)\n"
	"  --xattr=on|off        extended attributes (off)\n"
	"  --descriptors=NUMBER  directories kept open (a quarter of the limit of open files, 4096 at most)\n"
	"  --status-fd=NUMBER    write status lines to this descriptor; see status.h\n"
	"  --version, --help\n"
	"\n"
	"Exit status: 0 ended by a signal or unmounted, 1 could not mount, 2 wrong command, 3 lost the kernel.\n";

const char *const order_words[] = {
	[ORDER_CREATED] = "created",
	[ORDER_SORTED] = "sorted",
	[ORDER_REVERSED] = "reversed",
	[ORDER_SHUFFLED] = "shuffled",
	NULL,
};

struct settings settings = {
	.folding = true,
	.order = ORDER_CREATED,
	.status_descriptor = -1,
};

enum option_code { FOLD = 1, ORDER, SEED, TMPFS, BACKING, XATTR, DESCRIPTORS, STATUS_FD, VERSION, HELP };

static const struct option options[] = {
	{ "fold", required_argument, NULL, FOLD },
	{ "order", required_argument, NULL, ORDER },
	{ "seed", required_argument, NULL, SEED },
	{ "tmpfs", required_argument, NULL, TMPFS },
	{ "backing", required_argument, NULL, BACKING },
	{ "xattr", required_argument, NULL, XATTR },
	{ "descriptors", required_argument, NULL, DESCRIPTORS },
	{ "status-fd", required_argument, NULL, STATUS_FD },
	{ "version", no_argument, NULL, VERSION },
	{ "help", no_argument, NULL, HELP },
	{ NULL, 0, NULL, 0 },
};

static _Noreturn void refuse(const char *option, const char *value, const char *wanted)
{
	fprintf(stderr, "casefs: `%s` is no value for --%s: it takes %s\n", value, option, wanted);
	exit(EXIT_WRONG_COMMAND);
}

static bool read_switch(const char *option, const char *value)
{
	if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
		refuse(option, value, "`on` or `off`");
	return strcmp(value, "on") == 0;
}

static uint64_t read_number(const char *option, const char *value, uint64_t most)
{
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(value, &end, 10);
	if (errno || end == value || *end || *value == '-' || number > most)
		refuse(option, value, "a whole number, not negative and not too large");
	return number;
}

static enum order read_order(const char *value)
{
	for (int order = 0; order_words[order]; order++)
		if (strcmp(value, order_words[order]) == 0)
			return (enum order)order;
	refuse("order", value, "`created`, `sorted`, `reversed` or `shuffled`");
}

/* A tmpfs takes its options as one string, so that a size must not smuggle in another option. */
static const char *read_size(const char *value)
{
	size_t digits = strspn(value, "0123456789");

	if (digits == 0 || strspn(value + digits, "kKmMgG%") != strlen(value + digits) || strlen(value + digits) > 1)
		refuse("tmpfs", value, "a size in bytes, or with k, m, g or % after it");
	return value;
}

static void read_option(int code, const char *value)
{
	switch (code) {
	case FOLD:
		settings.folding = read_switch("fold", value);
		break;
	case ORDER:
		settings.order = read_order(value);
		break;
	case SEED:
		settings.seed = read_number("seed", value, UINT64_MAX);
		break;
	case TMPFS:
		settings.tmpfs_size = read_size(value);
		break;
	case BACKING:
		settings.backing = value;
		break;
	case XATTR:
		settings.xattrs = read_switch("xattr", value);
		break;
	case DESCRIPTORS:
		settings.descriptors = (size_t)read_number("descriptors", value, 1u << 20);
		break;
	case STATUS_FD:
		settings.status_descriptor = (int)read_number("status-fd", value, INT_MAX);
		break;
	case VERSION:
		printf("casefs %s, Unicode %s\n", CASEFS_VERSION, fold_unicode_version());
		exit(EXIT_ENDED);
	case HELP:
		fputs(usage, stdout);
		exit(EXIT_ENDED);
	default: /* getopt_long has said what is wrong */
		exit(EXIT_WRONG_COMMAND);
	}
}

/* Raise the limit of open files as far as it goes, and keep three quarters of it for the files that callers open. */
static void settle_descriptors(void)
{
	struct rlimit limit;
	size_t fitting = MOST_DESCRIPTORS;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
		if (limit.rlim_cur / 4 < fitting)
			fitting = (size_t)limit.rlim_cur / 4;
	}
	if (settings.descriptors == 0)
		settings.descriptors = fitting;
	if (settings.descriptors < LEAST_DESCRIPTORS)
		settings.descriptors = LEAST_DESCRIPTORS;
}

void settings_read(int argc, char **argv)
{
	int code;

	while ((code = getopt_long(argc, argv, "", options, NULL)) != -1)
		read_option(code, optarg);
	if (optind != argc - 1) {
		fputs(usage, stderr);
		exit(EXIT_WRONG_COMMAND);
	}
	if (settings.backing && settings.tmpfs_size) {
		fputs("casefs: --backing and --tmpfs exclude each other\n", stderr);
		exit(EXIT_WRONG_COMMAND);
	}
	if (!realpath(argv[optind], settings.mountpoint)) {
		status_failed("mount point", errno, argv[optind]);
		exit(EXIT_NOT_MOUNTED);
	}
	settle_descriptors();
}
