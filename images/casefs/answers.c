/* answers.c: the answers to requests, and how long the kernel may keep them.
 *
 * - A directory's name: for ever. Linux gives a directory one name in its cache at a time, and moves it when it is looked up by
 *   another spelling, so that no second spelling can outlive it. Found by another spelling: not at all, so that we hear of
 *   everyone who does it.
 * - Any other name: not at all. Each spelling is a name of its own in the cache. When a file is unlinked or renamed through one,
 *   the others would stay: the request holds the lock that telling the kernel about them takes.
 * - That a name does not exist: not at all, for it may be created in another spelling.
 * - Attributes and contents: for ever. There is one node for all spellings, and every change goes through the kernel.
 */
#include "requests.h"

#include "errors.h"

#include <errno.h>
#include <unistd.h>

void answer_error(fuse_req_t request, int error, const char *operation)
{
	fuse_reply_err(request, error ? error_for_caller(error, operation) : 0);
}

static struct fuse_entry_param entry_param(const struct node *node, const struct stat *attributes)
{
	return (struct fuse_entry_param){
		.ino = node_number(node),
		.attr = *attributes,
		.attr_timeout = FOR_EVER,
		.entry_timeout = S_ISDIR(node->type) ? FOR_EVER : NOT_AT_ALL,
	};
}

static void reply_entry(fuse_req_t request, struct node *node, const struct fuse_entry_param *entry)
{
	if (fuse_reply_entry(request, entry) != 0)
		node_forget(node, 1);
}

void answer_entry(fuse_req_t request, struct node *node, const struct stat *attributes)
{
	struct fuse_entry_param entry = entry_param(node, attributes);

	reply_entry(request, node, &entry);
}

void answer_other_spelling(fuse_req_t request, struct node *node, const struct stat *attributes)
{
	struct fuse_entry_param entry = entry_param(node, attributes);

	entry.entry_timeout = NOT_AT_ALL;
	reply_entry(request, node, &entry);
}

void answer_created(fuse_req_t request, struct node *node, const struct stat *attributes, struct fuse_file_info *file)
{
	struct fuse_entry_param entry = entry_param(node, attributes);

	file->keep_cache = 1;
	node->handles++;
	figures.handles++;
	if (fuse_reply_create(request, &entry, file) == 0)
		return;
	close((int)file->fh);
	node->handles--;
	figures.handles--;
	node_forget(node, 1);
}
