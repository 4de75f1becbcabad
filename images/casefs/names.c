/* names.c: the names of one directory, found by what they fold to. */
#include "node.h"

#include "descriptors.h"
#include "settings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_BUCKETS 8

static size_t fold_if_asked(const char *name, size_t length, char *text)
{
	if (settings.folding)
		return fold_name(name, length, text);
	memcpy(text, name, length);
	text[length] = '\0';
	return length;
}

static uint32_t hash_of(const char *text, size_t length)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash;
}

int key_make(struct key *key, const char *name)
{
	key->name = name;
	key->name_length = strlen(name);
	if (key->name_length > NAME_BYTES)
		return ENAMETOOLONG;
	key->length = fold_if_asked(name, key->name_length, key->text);
	key->hash = hash_of(key->text, key->length);
	return 0;
}

bool names_alike(const char *one, size_t one_length, const char *other, size_t other_length)
{
	char one_folded[FOLDED_BYTES + 1], other_folded[FOLDED_BYTES + 1];

	if (one_length > NAME_BYTES || other_length > NAME_BYTES)
		return false;
	one_length = fold_if_asked(one, one_length, one_folded);
	other_length = fold_if_asked(other, other_length, other_folded);
	return one_length == other_length && memcmp(one_folded, other_folded, one_length) == 0;
}

struct names *names_new(void)
{
	return calloc(1, sizeof(struct names));
}

/* Forget all names. None of them is bound: a directory outlives what is bound in it. */
static void names_clear(struct names *names)
{
	for (struct entry *entry = names->oldest, *newer; entry; entry = newer) {
		newer = entry->newer;
		entry_free(entry);
		figures.names--;
	}
	free(names->buckets);
	memset(names, 0, sizeof *names);
}

void names_free(struct names *names)
{
	names_clear(names);
	free(names);
}

struct entry *entry_make(struct node *directory, const struct key *key)
{
	bool same = key->length == key->name_length && memcmp(key->text, key->name, key->length) == 0;
	struct entry *entry = malloc(sizeof *entry + key->name_length + 1 + (same ? 0 : key->length + 1));
	char *folded;

	if (!entry)
		return NULL;
	memset(entry, 0, sizeof *entry);
	memcpy(entry->name, key->name, key->name_length + 1);
	folded = entry->name + key->name_length + 1;
	if (!same)
		memcpy(folded, key->text, key->length + 1);
	entry->key = same ? entry->name : folded;
	entry->hash = key->hash;
	entry->directory = directory;
	return entry;
}

void entry_free(struct entry *entry)
{
	free(entry);
}

static struct entry **bucket_of(const struct names *names, uint32_t hash)
{
	return &names->buckets[hash & (names->bucket_count - 1)];
}

/* Without memory for more buckets the directory stays as it is, and only gets slower. */
static void names_grow(struct names *names)
{
	size_t bucket_count = names->bucket_count * 2;
	struct entry **buckets = calloc(bucket_count, sizeof *buckets);

	if (!buckets)
		return;
	free(names->buckets);
	names->buckets = buckets;
	names->bucket_count = bucket_count;
	for (struct entry *entry = names->oldest; entry; entry = entry->newer) {
		entry->next_in_bucket = *bucket_of(names, entry->hash);
		*bucket_of(names, entry->hash) = entry;
	}
}

void names_insert(struct entry *entry)
{
	struct names *names = entry->directory->names;

	if (names->entry_count >= names->bucket_count)
		names_grow(names);
	entry->next_in_bucket = *bucket_of(names, entry->hash);
	*bucket_of(names, entry->hash) = entry;
	entry->older = names->newest;
	entry->newer = NULL;
	if (names->newest)
		names->newest->newer = entry;
	else
		names->oldest = entry;
	names->newest = entry;
	names->entry_count++;
	figures.names++;
}

void names_remove(struct entry *entry)
{
	struct names *names = entry->directory->names;
	struct entry **link = bucket_of(names, entry->hash);

	while (*link != entry)
		link = &(*link)->next_in_bucket;
	*link = entry->next_in_bucket;
	if (entry->older)
		entry->older->newer = entry->newer;
	else
		names->oldest = entry->newer;
	if (entry->newer)
		entry->newer->older = entry->older;
	else
		names->newest = entry->older;
	names->entry_count--;
	figures.names--;
}

struct entry *names_find(struct node *directory, const struct key *key)
{
	struct entry *other_spelling = NULL;

	for (struct entry *entry = *bucket_of(directory->names, key->hash); entry; entry = entry->next_in_bucket) {
		if (entry->hash != key->hash || strcmp(entry->key, key->text) != 0)
			continue;
		if (strcmp(entry->name, key->name) == 0)
			return entry;
		other_spelling = entry;
	}
	return other_spelling;
}

static int insert_read(struct node *directory, const struct dirent *read)
{
	struct key key;
	struct entry *entry;
	int error = key_make(&key, read->d_name);

	if (error)
		return error;
	entry = entry_make(directory, &key);
	if (!entry)
		return ENOMEM;
	entry->inode = read->d_ino;
	entry->type = read->d_type;
	names_insert(entry);
	return 0;
}

static int by_name(const void *one, const void *other)
{
	return strcmp((*(struct entry *const *)one)->name, (*(struct entry *const *)other)->name);
}

/* The store lists names in an order of its own. What was there before the mount counts as created in the order of bytes. */
static int put_in_order(struct names *names)
{
	struct entry **entries = malloc((names->entry_count + 1) * sizeof *entries);
	size_t count = 0;

	if (!entries)
		return ENOMEM;
	for (struct entry *entry = names->oldest; entry; entry = entry->newer)
		entries[count++] = entry;
	qsort(entries, count, sizeof *entries, by_name);
	for (size_t i = 0; i < count; i++) {
		entries[i]->older = i > 0 ? entries[i - 1] : NULL;
		entries[i]->newer = i + 1 < count ? entries[i + 1] : NULL;
	}
	names->oldest = count > 0 ? entries[0] : NULL;
	names->newest = count > 0 ? entries[count - 1] : NULL;
	free(entries);
	return 0;
}

static int read_names(struct node *directory, DIR *stream)
{
	for (;;) {
		const struct dirent *read;
		int error;

		errno = 0;
		read = readdir(stream);
		if (!read)
			return errno ? errno : put_in_order(directory->names);
		if (strcmp(read->d_name, ".") == 0 || strcmp(read->d_name, "..") == 0)
			continue;
		error = insert_read(directory, read);
		if (error)
			return error;
	}
}

static DIR *open_stream(struct node *directory, int *error)
{
	int held = directory_hold(directory);
	int descriptor = held < 0 ? held : open_at(held, ".", O_RDONLY | O_DIRECTORY, 0);
	DIR *stream = descriptor < 0 ? NULL : fdopendir(descriptor);

	*error = descriptor < 0 ? -descriptor : errno;
	if (!stream && descriptor >= 0)
		close(descriptor);
	if (held >= 0)
		directory_release(directory);
	return stream;
}

int names_load(struct node *directory)
{
	struct names *names = directory->names;
	DIR *stream;
	int error;

	if (!names)
		return ENOTDIR;
	if (names->buckets)
		return 0;
	stream = open_stream(directory, &error);
	if (!stream)
		return error;
	names->bucket_count = FIRST_BUCKETS;
	names->buckets = calloc(names->bucket_count, sizeof *names->buckets);
	error = names->buckets ? read_names(directory, stream) : ENOMEM;
	closedir(stream);
	if (error)
		names_clear(names);
	return error;
}
