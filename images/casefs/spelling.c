/* spelling.c: writes down what was asked, what is there, and who asked; see spelling.h. */
#include "spelling.h"

#include "settings.h"
#include "status.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST_ANCESTORS 24
#define PIDS_TEXT (MOST_ANCESTORS * sizeof "2147483647,")
#define PATH_TEXT 1600 /* so that two of them fit into a line; what is longer is not reported */

struct descent {
	long process, parent;
};

static bool read_descent(long pid, struct descent *descent)
{
	char path[64], text[1024];
	const char *process, *parent;
	ssize_t length;
	int descriptor;

	snprintf(path, sizeof path, "/proc/%ld/status", pid);
	descriptor = open(path, O_RDONLY | O_CLOEXEC);
	if (descriptor < 0)
		return false;
	length = read(descriptor, text, sizeof text - 1);
	close(descriptor);
	text[length > 0 ? length : 0] = '\0';
	process = strstr(text, "\nTgid:");
	parent = strstr(text, "\nPPid:");
	return process && parent && sscanf(process, "\nTgid: %ld", &descent->process) == 1 &&
	       sscanf(parent, "\nPPid: %ld", &descent->parent) == 1;
}

/* The caller's process and those it descends from, innermost first: `41,40,17,1`. Empty where /proc does not know. */
static void write_descent(pid_t tid, char text[PIDS_TEXT])
{
	struct descent descent = { .parent = tid };
	size_t length = 0;

	text[0] = '\0';
	for (int level = 0; level < MOST_ANCESTORS && descent.parent > 0 && read_descent(descent.parent, &descent); level++)
		length += (size_t)snprintf(text + length, PIDS_TEXT - length, "%s%ld", level ? "," : "", descent.process);
}

/* Percent-encode whatever would end a word or is no ASCII. Returns the new length, or `size` if there is no room. */
static size_t append(char *text, size_t length, size_t size, const char *bytes)
{
	for (; *bytes; bytes++) {
		unsigned char byte = (unsigned char)*bytes;

		if (size - length < sizeof "%00")
			return size;
		if (byte <= ' ' || byte == '%' || byte > '~')
			length += (size_t)snprintf(text + length, size - length, "%%%02X", byte);
		else
			text[length++] = (char)byte;
	}
	text[length] = '\0';
	return length;
}

/* The path of a name below the mount point, without a slash at its beginning. False if it does not fit. */
static bool write_path(char text[PATH_TEXT], const struct node *directory, const char *name)
{
	char path[PATH_MAX];
	size_t length = 0;

	if (!node_path(directory, path, sizeof path))
		return false;
	if (path[0]) {
		length = append(text, 0, PATH_TEXT, path + 1);
		if (length < PATH_TEXT)
			length = append(text, length, PATH_TEXT, "/");
	}
	return length < PATH_TEXT && append(text, length, PATH_TEXT, name) < PATH_TEXT;
}

void spelling_report(pid_t tid, const struct entry *entry, const char *name)
{
	char pids[PIDS_TEXT], asked[PATH_TEXT], kept[PATH_TEXT];

	if (settings.status_descriptor < 0 || !status_has_room_for_spellings())
		return;
	write_descent(tid, pids);
	if (pids[0] && write_path(asked, entry->directory, name) && write_path(kept, entry->directory, entry->name))
		status_spelling(pids, asked, kept);
}
