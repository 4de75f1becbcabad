/* requests_rename.c: renaming. The new spelling always wins, also over a file that had the name in another. */
#include "requests.h"

#include "descriptors.h"
#include "errors.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct move {
	struct entry *source, *target; /* target: what has the new name, or NULL */
	struct entry *arrival;         /* the new name, in the new spelling; NULL once it is in its directory */
	int from, to;                  /* the directories' descriptors, held */
	unsigned flags;
};

static void drop(struct entry *entry)
{
	struct node *node = entry->node;

	names_remove(entry);
	if (node) {
		entry_unbind(entry);
		node_settle(node);
	}
	entry_free(entry);
}

/* What the source led to is reached by `heir` from here on, and the source is gone. First the new place, so that the node never
 * is an orphan. */
static void inherit(struct entry *heir, struct entry *source)
{
	heir->inode = source->inode;
	heir->type = source->type;
	if (source->node)
		entry_bind(heir, source->node);
	drop(source);
}

static int store_rename(const struct move *move, const char *new_name, unsigned flags)
{
	if (renameat2(move->from, move->source->name, move->to, new_name, flags) == 0)
		return 0;
	return errno == ENOENT ? STORE_CHANGED : errno;
}

static int move_to_free_name(struct move *move)
{
	int error = store_rename(move, move->arrival->name, move->flags);

	if (error)
		return error;
	names_insert(move->arrival);
	inherit(move->arrival, move->source);
	move->arrival = NULL;
	return 0;
}

/* Replace the target, and then spell it as asked, which nobody can see as two steps. Should the second fail, the rename has been
 * done all the same, in the old spelling. */
static int move_onto_target(struct move *move)
{
	struct entry *target = move->target;
	struct node *replaced = target->node;
	int error = node_outlive(target);

	if (!error)
		error = store_rename(move, target->name, 0);
	if (error)
		return error;
	if (strcmp(target->name, move->arrival->name) == 0 ||
	    renameat(move->to, target->name, move->to, move->arrival->name) == 0) {
		drop(target);
		names_insert(move->arrival);
		inherit(move->arrival, move->source);
		move->arrival = NULL;
		return 0;
	}
	if (replaced) {
		entry_unbind(target);
		node_settle(replaced);
	}
	inherit(target, move->source);
	return 0;
}

static void swap_nodes(struct entry *one, struct entry *other)
{
	struct node *of_one = one->node, *of_other = other->node;
	ino_t inode = one->inode;
	unsigned char type = one->type;

	one->inode = other->inode;
	one->type = other->type;
	other->inode = inode;
	other->type = type;
	if (of_one)
		entry_unbind(one);
	if (of_other) {
		entry_unbind(other);
		entry_bind(one, of_other);
	}
	if (of_one)
		entry_bind(other, of_one);
}

static int exchange(struct move *move)
{
	int error = store_rename(move, move->target->name, RENAME_EXCHANGE);

	if (!error)
		swap_nodes(move->source, move->target);
	return error;
}

static int carry_out(struct move *move)
{
	if (move->target == move->source) {
		if ((move->flags & RENAME_EXCHANGE) || strcmp(move->source->name, move->arrival->name) == 0)
			return 0;
		return move_to_free_name(move);
	}
	if (move->flags & RENAME_EXCHANGE)
		return move->target ? exchange(move) : ENOENT;
	if (!move->target)
		return move_to_free_name(move);
	if (move->flags & RENAME_NOREPLACE)
		return EEXIST;
	if (move->source->node && move->source->node == move->target->node)
		return 0; /* two names of one file: POSIX leaves both */
	return move_onto_target(move);
}

static int carry_out_in(struct move *move, struct node *from, struct node *to)
{
	int error;

	move->from = directory_hold(from);
	if (move->from < 0)
		return -move->from;
	move->to = directory_hold(to);
	error = move->to < 0 ? -move->to : carry_out(move);
	if (move->to >= 0)
		directory_release(to);
	directory_release(from);
	return error;
}

static int move_name(struct node *from, const char *name, struct node *to, const char *new_name, unsigned flags)
{
	struct move move = { .flags = flags };
	struct key key, new_key;
	int error = key_make(&key, name);

	if (flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE))
		return EINVAL;
	if (!error)
		error = key_make(&new_key, new_name);
	if (!error)
		error = names_load(from);
	if (!error)
		error = names_load(to);
	if (error)
		return error;
	move.source = names_find(from, &key);
	move.target = names_find(to, &new_key);
	if (!move.source)
		return ENOENT;
	move.arrival = entry_make(to, &new_key);
	if (!move.arrival)
		return ENOMEM;
	error = carry_out_in(&move, from, to);
	if (move.arrival)
		entry_free(move.arrival);
	return error;
}

void on_rename(fuse_req_t request, fuse_ino_t parent, const char *name, fuse_ino_t new_parent, const char *new_name,
	       unsigned flags)
{
	answer_error(request, move_name(node_of(parent), name, node_of(new_parent), new_name, flags), "rename");
}
