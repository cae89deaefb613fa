/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Field operations against the answers of @noble/curves:
 *
 *   test_noble [FILE]      default tests/vectors/field_noble.txt
 *
 * The file's form and origin are described in noble_vectors.mjs. Every available path is tested. */
#include "field_test.h"

enum { LINE_MAX_BYTES = 4096, MIN_CHECKS = 3000 };

static const char *file_name = "tests/vectors/field_noble.txt";
static unsigned line_number, n_checks;

/* words from hexadecimal digits, highest first; stops at the first other character. */
static const char *parse_hex(uint64_t *o, unsigned n, const char *text)
{
    size_t digits = strspn(text, "0123456789abcdef");
    memset(o, 0, 8 * n);
    if (digits == 0 || digits > 16 * n) {
        fail_msg("%s:%u: %zu hexadecimal digits, expected 1 to %u", file_name, line_number, digits,
                 16 * n);
    }
    for (size_t i = 0; i < digits; i++) {
        const char *alphabet = "0123456789abcdef";
        uint64_t digit = (uint64_t)(strchr(alphabet, text[digits - 1 - i]) - alphabet);
        o[i / 16] |= digit << (4 * (i % 16));
    }
    return text + digits;
}

/* The value of "name=" in a line; false where it is absent. "none" leaves *none set. */
static bool value_of(const field_ops *f, elem *o, bool *none, const char *line, const char *name)
{
    char key[16];
    snprintf(key, sizeof(key), " %s=", name);
    const char *text = strstr(line, key);
    *none = false;
    if (!text) {
        return false;
    }
    text += strlen(key);
    if (strncmp(text, "none", 4) == 0) {
        *none = true;
        return true;
    }
    uint64_t plain[FIELD_WORDS_MAX];
    for (unsigned c = 0; c < f->words; c += f->base_words) {
        text = parse_hex(plain + c, f->base_words, c ? text + 1 : text);
    }
    f->from_canonical(o, plain);
    return true;
}

static void check(const field_ops *f, const char *line, const char *name, const elem *found,
                  const elem *a, const elem *b)
{
    elem expected = {{0}};
    bool none;
    if (!value_of(f, &expected, &none, line, name)) {
        fail_msg("%s:%u: no %s", file_name, line_number, name);
    }
    EXPECT_ELEM(f, name, line_number, found, &expected, a->l, b->l);
    n_checks++;
}

static void check_sqrt(const field_ops *f, const char *line, const elem *a)
{
    elem theirs = {{0}}, ours = {{0}}, minus;
    bool none;
    assert_true(value_of(f, &theirs, &none, line, "sqrt"));
    assert_true(f->sqrt(&ours, a) != none);
    if (!none) {
        f->neg(&minus, &ours);
        assert_true(f->eq(&ours, &theirs) || f->eq(&minus, &theirs));
    }
    n_checks++;
}

static void check_line(const field_ops *f, const char *line)
{
    elem a = {{0}}, b = {{0}}, o;
    bool none;
    assert_true(value_of(f, &a, &none, line, "a") && value_of(f, &b, &none, line, "b"));
    f->add(&o, &a, &b);
    check(f, line, "add", &o, &a, &b);
    f->sub(&o, &a, &b);
    check(f, line, "sub", &o, &a, &b);
    f->neg(&o, &a);
    check(f, line, "neg", &o, &a, &b);
    f->mul(&o, &a, &b);
    check(f, line, "mul", &o, &a, &b);
    f->sqr(&o, &a);
    check(f, line, "sqr", &o, &a, &b);
    f->inv(&o, &a);
    check(f, line, "inv", &o, &a, &b);
    if (f->sqrt) {
        check_sqrt(f, line, &a);
    }
    if (f->conj) {
        f->conj(&o, &a);
        check(f, line, "conj", &o, &a, &b);
        f->mul_by_xi(&o, &a);
        check(f, line, "xi", &o, &a, &b);
    }
}

static void test_vectors(void **state)
{
    (void)state;
    static char line[LINE_MAX_BYTES];
    FILE *in = fopen(file_name, "r");
    if (!in) {
        fail_msg("%s: cannot be opened", file_name);
    }
    while (fgets(line, sizeof(line), in)) {
        line_number++;
        if (line[0] == '#') {
            printf("%s", line);
            continue;
        }
        unsigned n_fields = 0;
        FOR_EACH_FIELD(f)
        {
            char prefix[32];
            snprintf(prefix, sizeof(prefix), "%s %s ", f->curve, f->field);
            if (strncmp(line, prefix, strlen(prefix)) == 0) {
                check_line(f, line);
                n_fields++;
            }
        }
        if (n_fields == 0) {
            fail_msg("%s:%u: unknown curve or field", file_name, line_number);
        }
    }
    fclose(in);
    printf("%u answers agree\n", n_checks);
    assert_true(n_checks >= MIN_CHECKS);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors)};
    if (argc > 1) {
        file_name = argv[1];
    }
    return cmocka_run_group_tests_name("noble", tests, NULL, NULL);
}
