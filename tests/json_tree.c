/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "json_tree.h"

#include "random.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void stop_unless(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "json_tree: %s\n", what);
        abort();
    }
}

static size_t past_space(const json_tree *t, size_t at)
{
    return at + strspn(t->text + at, " \t\r\n");
}

static unsigned new_value(json_tree *t)
{
    if (t->n == t->room) {
        t->room = t->room == 0 ? 1024 : 2 * t->room;
        t->v = realloc(t->v, t->room * sizeof *t->v);
        stop_unless(t->v != NULL, "out of memory");
    }
    memset(&t->v[t->n], 0, sizeof *t->v);
    return t->n++;
}

/* The value at *at, which moves behind it. */
static unsigned parse(json_tree *t, size_t *at, unsigned parent, unsigned index)
{
    unsigned self = new_value(t);
    char c = t->text[*at];
    t->v[self].begin = *at;
    t->v[self].parent = parent;
    t->v[self].index = index;
    t->v[self].kind = strchr("{[\"", c) != NULL ? c : strchr("tfn", c) != NULL ? 'n' : '0';
    if (c == '"') {
        *at += strcspn(t->text + *at + 1, "\"") + 2;
    } else if (c != '{' && c != '[') {
        size_t n = strspn(t->text + *at, "0123456789-+.eE"
                                         "truefalsn");
        stop_unless(n > 0, "not a value");
        *at += n;
    } else {
        char close = c == '{' ? '}' : ']';
        unsigned last = 0;
        *at = past_space(t, *at + 1);
        while (t->text[*at] != close) {
            size_t key_begin = *at, n_key = 0;
            if (c == '{') {
                n_key = strcspn(t->text + *at + 1, "\"");
                stop_unless(n_key < JSON_TREE_KEY_MAX, "a long key");
                *at = past_space(t, *at + n_key + 2);
                stop_unless(t->text[*at] == ':', "no colon");
                *at = past_space(t, *at + 1);
            }
            unsigned child = parse(t, at, self, t->v[self].n_children++);
            json_value *v = &t->v[child];
            v->key_begin = key_begin;
            memcpy(v->key, t->text + key_begin + 1, n_key);
            *(last == 0 ? &t->v[self].first_child : &t->v[last].next) = child;
            last = child;
            *at = past_space(t, *at);
            if (t->text[*at] == ',') {
                *at = past_space(t, *at + 1);
            } else {
                stop_unless(t->text[*at] == close, "no end");
            }
        }
        ++*at;
    }
    t->v[self].end = *at;
    return self;
}

void json_tree_parse(json_tree *t, const char *text, size_t size)
{
    *t = (json_tree){.text = text, .size = size};
    size_t at = past_space(t, 0);
    parse(t, &at, 0, 0);
    stop_unless(past_space(t, at) == size, "something behind the value");
}

void json_tree_free(json_tree *t)
{
    free(t->v);
    *t = (json_tree){0};
}

/* ---- other words ----------------------------------------------------------------------------- */

typedef struct {
    char *s;
    size_t n;
    uint64_t *state;
} words;

static void put(words *w, const char *s, size_t n)
{
    memcpy(w->s + w->n, s, n);
    w->n += n;
}

static void put_space(words *w)
{
    static const char spaces[] = " \t\r\n";
    for (uint64_t r = cuzk_test_random(w->state); r % 4 == 0 && r != 0; r /= 4) {
        put(w, &spaces[r / 4 % 4], 1);
    }
}

static void put_key(words *w, const char *key)
{
    put(w, "\"", 1);
    for (; *key != '\0'; key++) {
        char escape[8];
        int n = snprintf(escape, sizeof escape, "\\u%04x", (unsigned char)*key);
        bool plain = cuzk_test_random(w->state) % 4 != 0;
        put(w, plain ? key : escape, plain ? 1 : (size_t)n);
    }
    put(w, "\"", 1);
}

static void put_value(words *w, const json_tree *t, unsigned v)
{
    const json_value *x = &t->v[v];
    put_space(w);
    if (x->n_children == 0) {
        put(w, t->text + x->begin, x->end - x->begin);
        put_space(w);
        return;
    }
    unsigned *order = calloc(x->n_children, sizeof *order), n = 0;
    stop_unless(order != NULL, "out of memory");
    for (unsigned c = x->first_child; n < x->n_children; c = t->v[c].next) {
        unsigned to = x->kind == '{' ? (unsigned)(cuzk_test_random(w->state) % (n + 1)) : n;
        order[n++] = order[to];
        order[to] = c;
    }
    for (unsigned i = 0; i < n; i++) {
        put(w, i == 0 ? (x->kind == '{' ? "{" : "[") : ",", 1);
        if (x->kind == '{') {
            put_space(w);
            put_key(w, t->v[order[i]].key);
            put_space(w);
            put(w, ":", 1);
        }
        put_value(w, t, order[i]);
    }
    put(w, x->kind == '{' ? "}" : "]", 1);
    free(order);
    put_space(w);
}

char *json_tree_other_words(const json_tree *t, uint64_t *state, size_t *size)
{
    /* a key becomes at most six times as long, between two tokens stand at most 64 spaces */
    words w = {malloc(8 * t->size + 300 * (size_t)t->n), 0, state};
    stop_unless(w.s != NULL, "out of memory");
    put_value(&w, t, 0);
    *size = w.n;
    return w.s;
}
