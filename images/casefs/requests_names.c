/* requests_names.c: looking names up, and taking them away. */
#include "requests.h"

#include "caller.h"
#include "descriptors.h"
#include "errors.h"
#include "spelling.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Find the entry for a name; `directory` is loaded by it. Returns an errno value. */
static int find(struct node *directory, struct key *key, const char *name, struct entry **entry)
{
	int error = key_make(key, name);

	if (!error)
		error = names_load(directory);
	if (error)
		return error;
	*entry = names_find(directory, key);
	return *entry ? 0 : ENOENT;
}

void on_lookup(fuse_req_t request, fuse_ino_t parent, const char *name)
{
	struct node *directory = node_of(parent), *node;
	struct entry *entry;
	struct stat attributes;
	struct key key;
	pid_t caller = fuse_req_ctx(request)->pid;
	int error = find(directory, &key, name, &entry);
	bool other_spelling = !error && strcmp(entry->name, name) != 0;

	if (other_spelling && caller_changes_case(caller, directory, name))
		error = ENOENT;
	caller_looked_up(caller, directory, name);
	if (!error)
		error = node_of_entry(entry, &node, &attributes);
	if (!error && other_spelling)
		spelling_report(caller, entry, name);
	if (error)
		answer_error(request, error, "lookup");
	else if (other_spelling)
		answer_other_spelling(request, node, &attributes);
	else
		answer_entry(request, node, &attributes);
}

void on_forget(fuse_req_t request, fuse_ino_t number, uint64_t count)
{
	node_forget(node_of(number), count);
	fuse_reply_none(request);
}

void on_forget_multi(fuse_req_t request, size_t count, struct fuse_forget_data *forgets)
{
	for (size_t i = 0; i < count; i++)
		node_forget(node_of(forgets[i].ino), forgets[i].nlookup);
	fuse_reply_none(request);
}

static int take_away(struct entry *entry, int flags)
{
	struct node *node = entry->node;
	int directory, error = node_outlive(entry);

	if (error)
		return error;
	directory = directory_hold(entry->directory);
	if (directory < 0)
		return -directory;
	if (unlinkat(directory, entry->name, flags) != 0)
		error = errno == ENOENT ? STORE_CHANGED : errno;
	directory_release(entry->directory);
	if (error)
		return error;
	names_remove(entry);
	if (node) {
		entry_unbind(entry);
		node_settle(node);
	}
	entry_free(entry);
	return 0;
}

static void remove_name(fuse_req_t request, fuse_ino_t parent, const char *name, int flags)
{
	struct entry *entry;
	struct key key;
	int error = find(node_of(parent), &key, name, &entry);

	if (!error)
		error = take_away(entry, flags);
	answer_error(request, error, "unlink");
}

void on_unlink(fuse_req_t request, fuse_ino_t parent, const char *name)
{
	remove_name(request, parent, name, 0);
}

void on_rmdir(fuse_req_t request, fuse_ino_t parent, const char *name)
{
	remove_name(request, parent, name, AT_REMOVEDIR);
}
