/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where the daemon is: addresses as people write them, and the order of the places in which they
 * are looked up. */
#include "client/client.h"
#include "client/locate.h"

#include "client_test.h"
#include "random.h"

/* ---- addresses ---- */

/* Whatever is written, the answer is a target of one of the two forms that holds what was written,
 * or a message with the forms there are. */
static void test_any_text(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "unix:", "unix://", "/",        "http://", "https://", "[",  "]",  ":",
        "::1",   "host",    "9820",     "0",       "65536",    "-1", "//", "@",
        " ",     "%",       "\xc3\xbc", "a.b",     "1.2.3.4",  "\n"};
    enum { N_PIECES = sizeof pieces / sizeof *pieces };
    uint64_t seed = 5;
    unsigned n_taken = 0;
    for (int round = 0; round < 30000; round++) {
        char address[64] = "", target[40];
        for (uint64_t k = 0, n = cuzk_test_random(&seed) % 6; k < n; k++) {
            const char *piece = pieces[cuzk_test_random(&seed) % N_PIECES];
            memcpy(address + strlen(address), piece, strlen(piece) + 1);
        }
        bool is_tls = true;
        cuzk_error err;
        cuzk_error_clear(&err);
        memset(target, 'x', sizeof target);
        cuzk_status status = cuzk_client_target(target, sizeof target, &is_tls, address, &err);
        if (status != CUZK_OK) {
            assert_int_equal(status, CUZK_E_ARGUMENT);
            assert_holds(err.text, "address \"");
            continue;
        }
        n_taken++;
        assert_non_null(memchr(target, '\0', sizeof target));
        bool is_unix = strncmp(target, "unix:", 5) == 0;
        assert_true(is_unix || strncmp(target, "dns:///", 7) == 0);
        assert_int_equal(is_tls, !is_unix && strncmp(address, "https://", 8) == 0);
        const char *rest = target + (is_unix ? 5 : 7);
        assert_true(rest[0] != '\0');
        assert_holds(address, rest);
        if (!is_unix) { /* ends with a port */
            const char *port = strrchr(rest, ':');
            assert_non_null(port);
            assert_in_range(strtoul(port + 1, NULL, 10), 1, 65535);
            assert_true(port > rest && strchr(rest, '/') == NULL);
        }
    }
    assert_in_range(n_taken, 1000, 29000);
}

/* Exactly as long as there is room for is taken, one more is not. */
static void test_room(void **state)
{
    (void)state;
    static const char *const addresses[] = {"unix:///a/long/path.sock", "host.example:9820"};
    static const char *const targets[] = {"unix:/a/long/path.sock", "dns:///host.example:9820"};
    for (int i = 0; i < 2; i++) {
        char target[64];
        bool is_tls;
        cuzk_error err;
        size_t n = strlen(targets[i]);
        cuzk_error_clear(&err);
        assert_int_equal(cuzk_client_target(target, n + 1, &is_tls, addresses[i], &err), CUZK_OK);
        assert_string_equal(target, targets[i]);
        assert_int_equal(cuzk_client_target(target, n, &is_tls, addresses[i], &err),
                         CUZK_E_ARGUMENT);
        assert_holds(err.text, "longer than");
    }
}

/* ---- options of a client ---- */

static void test_options(void **state)
{
    (void)state;
    static const struct {
        cuzk_client_options options;
        cuzk_status status;
        const char *text;
    } cases[] = {
        {{.address = "h"}, CUZK_E_ARGUMENT, "has no port"},
        {{.address = "h:1", .tls_cert = "c"}, CUZK_E_ARGUMENT, "only the certificate is given"},
        {{.address = "h:1", .tls_key = "k"}, CUZK_E_ARGUMENT, "only the key is given"},
        {{.address = "h:1", .tls_ca = "/nowhere"}, CUZK_E_FILE, "reading certificates"},
        {{.address = "h:1", .tls_ca = "/"}, CUZK_E_FILE, "reading certificates"},
        {{.address = "h:1", .tls_ca = "/dev/null"}, CUZK_E_FORMAT, "it is not PEM"},
        {{.address = "h:1", .tls_ca = "/dev/zero"}, CUZK_E_FILE, "larger than 1 MiB"},
        {{.address = "h:1", .token_file = "/nowhere"}, CUZK_E_FILE, "reading the token"},
        {{.address = "h:1", .token_file = "/dev/null"}, CUZK_E_FORMAT, "first line is empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_client *client = NULL;
        cuzk_error err;
        cuzk_error_clear(&err);
        assert_int_equal(cuzk_client_open(&client, &cases[i].options, &err), cases[i].status);
        assert_holds(err.text, cases[i].text);
        assert_null(client);
    }
}

/* ---- where it is looked up ---- */

static char config_path[64];

static int make_config(void **state)
{
    (void)state;
    snprintf(config_path, sizeof config_path, "/tmp/cuzk-locate-XXXXXX");
    int fd = mkstemp(config_path);
    static const char text[] = "[daemon]\nlisten = [\"0.0.0.0:1111\", \"unix:///second\"]\n"
                               "status_listen = \"[::]:2222\"\nallow_plaintext = true\n";
    bool ok = fd >= 0 && write(fd, text, sizeof text - 1) == (ssize_t)sizeof text - 1;
    close(fd);
    return ok ? 0 : -1;
}

static int remove_config(void **state)
{
    (void)state;
    return unlink(config_path);
}

static void test_places(void **state)
{
    (void)state;
    static const struct {
        const char *connect, *status;         /* the command line */
        const char *env_listen, *env_status;  /* the environment */
        bool config;                          /* a configuration is named */
        const char *address, *status_address; /* what comes of it */
    } cases[] = {
        {NULL, NULL, NULL, NULL, true, "127.0.0.1:1111", "[::1]:2222"},
        {NULL, "s:1", NULL, NULL, true, "127.0.0.1:1111", "s:1"},
        {NULL, NULL, NULL, "e:2", true, "127.0.0.1:1111", "e:2"},
        {NULL, "s:1", NULL, "e:2", true, "127.0.0.1:1111", "s:1"},
        {NULL, NULL, "e:1", NULL, true, "e:1", ""},
        {NULL, NULL, "e:1", "e:2", true, "e:1", "e:2"},
        {NULL, NULL, "e:1", "", true, "e:1", ""}, /* empty is not set */
        {NULL, NULL, "", "e:2", true, "127.0.0.1:1111", "e:2"},
        {"c:1", NULL, "e:1", "e:2", true, "c:1", ""}, /* e:2 may be another daemon's */
        {"c:1", "s:1", "e:1", "e:2", true, "c:1", "s:1"},
        {"c:1", NULL, NULL, NULL, false, "c:1", ""},
        {"0.0.0.0:5", NULL, NULL, NULL, true, "0.0.0.0:5", ""}, /* as it is given */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_locate_sources sources = {cases[i].connect, cases[i].status,
                                       cases[i].config ? config_path : NULL};
        char address[64], status[64];
        cuzk_error err;
        cuzk_error_clear(&err);
        unsetenv("CUZK_LISTEN");
        unsetenv("CUZK_STATUS_LISTEN");
        if (cases[i].env_listen != NULL) {
            setenv("CUZK_LISTEN", cases[i].env_listen, 1);
        }
        if (cases[i].env_status != NULL) {
            setenv("CUZK_STATUS_LISTEN", cases[i].env_status, 1);
        }
        assert_int_equal(cuzk_locate(address, status, sizeof address, &sources, &err), CUZK_OK);
        assert_string_equal(address, cases[i].address);
        assert_string_equal(status, cases[i].status_address);
    }
    unsetenv("CUZK_LISTEN");
    unsetenv("CUZK_STATUS_LISTEN");
}

static void test_places_at_fault(void **state)
{
    (void)state;
    char address[16], status[16], longer[17] = "0123456789abcdef";
    cuzk_error err;
    cuzk_locate_sources of_address = {.connect = longer}, of_status = {"c:1", longer, NULL};
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_locate(address, status, sizeof address, &of_address, &err),
                     CUZK_E_ARGUMENT);
    assert_holds(err.text, "longer than 15 characters");
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_locate(address, status, sizeof address, &of_status, &err),
                     CUZK_E_ARGUMENT);
    longer[15] = '\0';
    assert_int_equal(cuzk_locate(address, status, sizeof address, &of_status, &err), CUZK_OK);
    assert_string_equal(status, longer);
    cuzk_locate_sources nowhere = {.config_path = "/nowhere/cuzk.toml"};
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_locate(address, status, sizeof address, &nowhere, &err), CUZK_E_FILE);
    assert_holds(err.text, "looking for the daemon's address (--connect names it)");
    assert_holds(err.text, "/nowhere/cuzk.toml");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_text),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_options),
        cmocka_unit_test_setup_teardown(test_places, make_config, remove_config),
        cmocka_unit_test(test_places_at_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
