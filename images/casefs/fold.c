/* fold.c: the folding of names; see fold.h for what it means, and make_fold_table.py for the tables. */
#include "fold.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct mapping {
	uint32_t from;
	uint16_t first;
	uint8_t count;
};

struct class_run {
	uint32_t first, last;
	uint8_t combining_class;
};

#include "fold_table.h"

static_assert(FOLD_TABLE_GROWTH <= FOLD_GROWTH, "fold.h promises less room than the table needs");

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A byte that belongs to no character is carried as a point of its own, in the range that UTF-8 cannot say. */
#define STRAY_BYTE 0xDC00u

struct text {
	size_t length;
	uint32_t points[FOLDED_BYTES];
};

static unsigned char lower_ascii(unsigned char byte)
{
	return byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte;
}

static void append(struct text *text, uint32_t point)
{
	text->points[text->length++] = point;
}

static int by_point(uint32_t point, uint32_t first, uint32_t last)
{
	return point < first ? -1 : point > last;
}

static const struct mapping *find_mapping(const struct mapping *table, size_t count, uint32_t point)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int side = by_point(point, table[middle].from, table[middle].from);

		if (side == 0)
			return &table[middle];
		if (side < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static uint8_t combining_class(uint32_t point)
{
	size_t low = 0, high = COUNT(combining_classes);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int side = by_point(point, combining_classes[middle].first, combining_classes[middle].last);

		if (side == 0)
			return combining_classes[middle].combining_class;
		if (side < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return 0;
}

static void append_mapped(struct text *text, const struct mapping *mapping, uint32_t point)
{
	if (!mapping) {
		append(text, point);
		return;
	}
	for (size_t i = 0; i < mapping->count; i++)
		append(text, points[mapping->first + i]);
}

/* Hangul syllables are taken apart by arithmetic: Unicode, section 3.12. */
static bool append_hangul(struct text *text, uint32_t point)
{
	const uint32_t first = 0xAC00, last = 0xD7A3, vowels_and_tails = 588, tails = 28;

	if (point < first || point > last)
		return false;
	point -= first;
	append(text, 0x1100 + point / vowels_and_tails);
	append(text, 0x1161 + point % vowels_and_tails / tails);
	if (point % tails)
		append(text, 0x11A7 + point % tails);
	return true;
}

/* Put each run of combining marks into the order of their classes, marks of one class as they were. */
static void order_marks(struct text *text)
{
	for (size_t i = 1; i < text->length; i++) {
		uint32_t mark = text->points[i];
		uint8_t class = combining_class(mark);
		size_t place = i;

		if (class == 0)
			continue;
		for (; place > 0 && combining_class(text->points[place - 1]) > class; place--)
			text->points[place] = text->points[place - 1];
		text->points[place] = mark;
	}
}

/* How many bytes follow a first byte of UTF-8, and the least point that needs them; 0 if it starts no sequence. */
static size_t bytes_after(unsigned char first, uint32_t *least)
{
	if (first >= 0xC2 && first <= 0xDF) {
		*least = 0x80;
		return 1;
	}
	if (first >= 0xE0 && first <= 0xEF) {
		*least = 0x800;
		return 2;
	}
	if (first >= 0xF0 && first <= 0xF4) {
		*least = 0x10000;
		return 3;
	}
	return 0;
}

/* Read a character; whatever is no well-formed UTF-8 is one stray byte. Returns how many bytes were read. */
static size_t decode(const unsigned char *bytes, size_t left, uint32_t *point)
{
	uint32_t least = 0, value;
	size_t more = bytes_after(bytes[0], &least);

	*point = bytes[0] < 0x80 ? bytes[0] : STRAY_BYTE + bytes[0];
	if (more == 0 || more >= left)
		return 1;
	value = bytes[0] & (0x3Fu >> more);
	for (size_t i = 1; i <= more; i++) {
		if ((bytes[i] & 0xC0) != 0x80)
			return 1;
		value = value << 6 | (bytes[i] & 0x3F);
	}
	if (value < least || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
		return 1;
	*point = value;
	return more + 1;
}

static size_t encode(uint32_t point, char *bytes)
{
	if (point < 0x80) {
		bytes[0] = (char)point;
		return 1;
	}
	if (point >= STRAY_BYTE + 0x80 && point <= STRAY_BYTE + 0xFF) {
		bytes[0] = (char)(point - STRAY_BYTE);
		return 1;
	}
	if (point < 0x800) {
		bytes[0] = (char)(0xC0 | point >> 6);
		bytes[1] = (char)(0x80 | (point & 0x3F));
		return 2;
	}
	if (point < 0x10000) {
		bytes[0] = (char)(0xE0 | point >> 12);
		bytes[1] = (char)(0x80 | (point >> 6 & 0x3F));
		bytes[2] = (char)(0x80 | (point & 0x3F));
		return 3;
	}
	bytes[0] = (char)(0xF0 | point >> 18);
	bytes[1] = (char)(0x80 | (point >> 12 & 0x3F));
	bytes[2] = (char)(0x80 | (point >> 6 & 0x3F));
	bytes[3] = (char)(0x80 | (point & 0x3F));
	return 4;
}

/* Most names are ASCII, and need no table: fold and say true, or say false at the first byte that is not. */
static bool fold_ascii(const char *name, size_t length, char *folded)
{
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)name[i] >= 0x80)
			return false;
		folded[i] = (char)lower_ascii((unsigned char)name[i]);
	}
	folded[length] = '\0';
	return true;
}

size_t fold_name(const char *name, size_t length, char *folded)
{
	struct text apart, alike; /* some kilobytes: only the lengths are set */
	size_t written = 0;

	if (fold_ascii(name, length, folded))
		return length;
	apart.length = alike.length = 0;
	for (size_t at = 0; at < length;) {
		uint32_t point;

		at += decode((const unsigned char *)name + at, length - at, &point);
		if (!append_hangul(&apart, point))
			append_mapped(&apart, find_mapping(decompositions, COUNT(decompositions), point), point);
	}
	order_marks(&apart);
	for (size_t i = 0; i < apart.length; i++)
		append_mapped(&alike, find_mapping(foldings, COUNT(foldings), apart.points[i]), apart.points[i]);
	order_marks(&alike);
	for (size_t i = 0; i < alike.length; i++)
		written += encode(alike.points[i], folded + written);
	folded[written] = '\0';
	return written;
}

const char *fold_unicode_version(void)
{
	return FOLD_UNICODE;
}
