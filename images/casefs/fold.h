/* fold.h: when two names are one name.
 *
 * Two names are one if they fold to the same bytes: taken apart canonically (NFD), case folded in full, taken apart again.
 * That is Unicode's canonical caseless match (D145), so `é` is `É` is `e` with an accent, and `ß` is `SS`. A byte that is no
 * UTF-8 stands for itself, wherever it is.
 */
#ifndef CASEFS_FOLD_H
#define CASEFS_FOLD_H

#include <stddef.h>

#define NAME_BYTES 255 /* the longest name that Linux knows */
#define FOLD_GROWTH 3  /* how many times longer a name can get; checked against the table */
#define FOLDED_BYTES (NAME_BYTES * FOLD_GROWTH)

/* Fold a name of at most NAME_BYTES bytes into `folded` (FOLDED_BYTES + 1), end it with a zero, and return its length. */
size_t fold_name(const char *name, size_t length, char *folded);

/* The Unicode version that the tables were made from, such as "14.0.0". */
const char *fold_unicode_version(void);

#endif
