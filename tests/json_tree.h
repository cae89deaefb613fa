/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* JSON texts taken apart for tests that damage them place by place: every value with where it
 * stands. The text must be good JSON without escapes; anything else ends the test. */
#ifndef CUZK_TESTS_JSON_TREE_H
#define CUZK_TESTS_JSON_TREE_H

#include <stddef.h>
#include <stdint.h>

enum { JSON_TREE_KEY_MAX = 40 };

/* kind: '{', '[', '"', '0' (a number) or 'n' (null, true, false). */
typedef struct {
    char kind;
    size_t begin, end;           /* in the text */
    size_t key_begin;            /* of a member: its key's opening quote */
    char key[JSON_TREE_KEY_MAX]; /* "" for elements and the whole */
    unsigned parent, index, n_children, first_child, next;
} json_value;

/* v[0] is the whole; children follow their parent. */
typedef struct {
    const char *text; /* borrowed */
    size_t size;
    json_value *v;
    unsigned n, room;
} json_tree;

/** Take the text apart; free with json_tree_free. */
void json_tree_parse(json_tree *t, const char *text, size_t size);
void json_tree_free(json_tree *t);

/** The same text in other words: members of objects in random order, characters of keys as escapes,
 *  spaces anywhere. state: of cuzk_test_random. Returned: free. */
char *json_tree_other_words(const json_tree *t, uint64_t *state, size_t *size);

#endif
