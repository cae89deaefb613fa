/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where it listens and whom it lets in: sockets, TLS, tokens, rights. */
#include "base/clock.h"
#include "base/map_file.h"
#include "server/certs.h"
#include "server/rpc_test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static char folder[64];
static setting s;

static int set_up(void **state)
{
    (void)state;
    memset(&s, 0, sizeof s);
    atomic_init(&s.is_ready, true);
    grpc_init();
    s.engine = double_create();
    folder_make(folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    double_destroy(s.engine);
    folder_remove(folder);
    grpc_shutdown();
    return 0;
}

static const char *in_folder(const char *name)
{
    static char paths[8][200];
    static unsigned k;
    k = (k + 1) % 8;
    snprintf(paths[k], sizeof paths[k], "%s/%s", folder, name);
    return paths[k];
}

static const char *unix_address(const char *name)
{
    static char addresses[4][220];
    static unsigned k;
    k = (k + 1) % 4;
    snprintf(addresses[k], sizeof addresses[k], "unix://%s", in_folder(name));
    return addresses[k];
}

static void write_text(const char *path, const char *text)
{
    cuzk_error err = {0};
    assert_int_equal(cuzk_write_file(path, text, strlen(text), &err), CUZK_OK);
}

static void expect_code(client *c, const char *method, grpc_status_code code)
{
    answer a;
    client_call(c, &a, method, "\x0a\x01x", strstr(method, "Status") != NULL ? 0 : 3, 5000);
    if (a.code != code) {
        fail_msg("%s: status %d \"%s\", expected %d", method, a.code, a.text, code);
    }
    answer_clear(&a);
}

static cuzk_rpc_options options_for(const char *const *address)
{
    cuzk_rpc_options options;
    setting_options(&s, &options);
    options.listen = address;
    return options;
}

static void start(const cuzk_rpc_options *options)
{
    cuzk_error err = {0};
    if (cuzk_rpc_create(&s.rpc, options, &err) != CUZK_OK) {
        fail_msg("%s", err.text);
    }
}

static void expect_refusal(const cuzk_rpc_options *options, cuzk_status status, const char *part)
{
    cuzk_rpc *rpc = NULL;
    cuzk_error err = {0};
    cuzk_status found = cuzk_rpc_create(&rpc, options, &err);
    if (found != status || strstr(err.text, part) == NULL) {
        fail_msg("%s \"%s\", expected %s \"…%s…\"", cuzk_status_name(found), err.text,
                 cuzk_status_name(status), part);
    }
}

static void addresses(void **state)
{
    (void)state;
    static const struct {
        const char *address;
        cuzk_status status;
        const char *text;
    } wrong[] = {
        {"localhost:1", CUZK_E_ARGUMENT, "names are not looked up"},
        {"127.0.0.1", CUZK_E_ARGUMENT, "expected unix:///PATH, IP:PORT"},
        {"127.0.0.1:99999", CUZK_E_ARGUMENT, "expected unix:///PATH"},
        {"unix://relative", CUZK_E_ARGUMENT, "begins with /"},
        {"0.0.0.0:0", CUZK_E_ARGUMENT, "plaintext there must be allowed explicitly"},
        {"[::]:0", CUZK_E_ARGUMENT, "plaintext there must be allowed explicitly"},
        {"192.0.2.1:1", CUZK_E_ARGUMENT, "plaintext there must be allowed explicitly"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cuzk_rpc_options options = options_for(&wrong[i].address);
        expect_refusal(&options, wrong[i].status, wrong[i].text);
    }
    char path[256];
    memset(path, 'x', sizeof path);
    memcpy(path, "unix:///", 8);
    path[8 + 107] = '\0';
    const char *address = path;
    cuzk_rpc_options options = options_for(&address);
    expect_refusal(&options, CUZK_E_ARGUMENT, "the path has 108 bytes, the system allows 107");

    const char *open = "0.0.0.0:0";
    options = options_for(&open);
    options.allow_plaintext = true;
    start(&options);
    cuzk_rpc_destroy(s.rpc);

    /* several at once; one address cannot be had twice */
    const char *two[] = {"127.0.0.1:0", unix_address("two.sock")};
    options = options_for(two);
    options.n_listen = 2;
    start(&options);
    client *a = client_open(cuzk_rpc_address(s.rpc, 0), NULL);
    client *b = client_open(cuzk_rpc_address(s.rpc, 1), NULL);
    assert_null(cuzk_rpc_address(s.rpc, 2));
    expect_code(a, PROVING "GetStatus", GRPC_STATUS_OK);
    expect_code(b, PROVING "GetStatus", GRPC_STATUS_OK);
    const char *taken = cuzk_rpc_address(s.rpc, 0);
    options = options_for(&taken);
    expect_refusal(&options, CUZK_E_FILE, "Address already in use");
    client_close(a);
    client_close(b);
    cuzk_rpc_destroy(s.rpc);
}

static void sockets(void **state)
{
    (void)state;
    const char *address = unix_address("a/b/c.sock"), *path = in_folder("a/b/c.sock");
    cuzk_rpc_options options = options_for(&address);
    options.socket_mode = 0600;
    start(&options);
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISSOCK(st.st_mode));
    assert_int_equal(st.st_mode & 0777, 0600);
    /* a live one is refused and goes on */
    expect_refusal(&options, CUZK_E_FILE, "another process listens there");
    client *c = client_open(address, NULL);
    expect_code(c, PROVING "GetStatus", GRPC_STATUS_OK);
    client_close(c);
    cuzk_rpc_destroy(s.rpc);
    assert_int_not_equal(lstat(path, &st), 0);

    /* a dead one is replaced */
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    snprintf(un.sun_path, sizeof un.sun_path, "%s", path);
    assert_int_equal(bind(fd, (struct sockaddr *)&un, sizeof un), 0);
    close(fd);
    options.socket_mode = 0;
    start(&options);
    assert_int_equal(lstat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0660);
    /* one that somebody else has put there meanwhile is not removed at the end */
    assert_int_equal(unlink(path), 0);
    write_text(path, "mine");
    cuzk_rpc_destroy(s.rpc);
    assert_int_equal(lstat(path, &st), 0);

    /* what is not a socket stays */
    expect_refusal(&options, CUZK_E_FILE, "not a socket; it stays");
    assert_int_equal(lstat(path, &st), 0);
    assert_int_equal(st.st_size, 4);
    unlink(path);
    options.socket_owner = "nobody-of-that-name";
    expect_refusal(&options, CUZK_E_ARGUMENT, "there is no user nobody-of-that-name");
    assert_int_not_equal(lstat(path, &st), 0);
    char owner[64];
    snprintf(owner, sizeof owner, "%u:%u", getuid(), getgid());
    options.socket_owner = owner;
    start(&options);
    cuzk_rpc_destroy(s.rpc);
    if (getuid() == 0) {
        options.socket_owner = "4711:4712";
        start(&options);
        assert_int_equal(lstat(path, &st), 0);
        assert_int_equal(st.st_uid, 4711);
        assert_int_equal(st.st_gid, 4712);
        cuzk_rpc_destroy(s.rpc);
    }
    write_text(in_folder("file"), "");
    address = unix_address("file/x.sock");
    expect_refusal(&options, CUZK_E_FILE, "file");
}

static void sockets_of_others(void **state)
{
    (void)state;
    int tcp = socket(AF_INET, SOCK_STREAM, 0), local = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    snprintf(un.sun_path, sizeof un.sun_path, "%s", in_folder("given.sock"));
    assert_int_equal(bind(tcp, (struct sockaddr *)&in, sizeof in), 0);
    assert_int_equal(bind(local, (struct sockaddr *)&un, sizeof un), 0);
    cuzk_rpc_options options = options_for(NULL);
    options.n_listen = 0;
    int not_listening = dup(tcp);
    options.listen_fds = &not_listening;
    options.n_listen_fds = 1;
    expect_refusal(&options, CUZK_E_ARGUMENT, "is not a listening socket");
    assert_int_equal(listen(tcp, 5) | listen(local, 5), 0);
    int fds[] = {tcp, local};
    options.listen_fds = fds;
    options.n_listen_fds = 2;
    start(&options);
    for (unsigned i = 0; i < 2; i++) {
        client *c = client_open(cuzk_rpc_address(s.rpc, i), NULL);
        expect_code(c, PROVING "GetStatus", GRPC_STATUS_OK);
        client_close(c);
    }
    cuzk_rpc_destroy(s.rpc);
    /* whoever made the file removes it */
    assert_int_equal(access(un.sun_path, F_OK), 0);
}

static void tls(void **state)
{
    (void)state;
    pem_pair ca = cert_make("test ca", NULL), server = cert_make("cuzk.test", &ca);
    pem_pair other_ca = cert_make("other ca", NULL), other = cert_make("cuzk.test", &other_ca);
    write_text(in_folder("cert.pem"), server.cert);
    write_text(in_folder("key.pem"), server.key);
    const char *addresses[] = {"127.0.0.1:0", "[::1]:0", unix_address("t.sock")};
    cuzk_rpc_options options = options_for(addresses);
    options.n_listen = 3;
    options.tls_cert = in_folder("cert.pem");
    options.tls_key = in_folder("key.pem");
    start(&options);
    client_options with = {.ca = ca.cert};
    client *c[3] = {client_open(cuzk_rpc_address(s.rpc, 0), &with),
                    client_open(cuzk_rpc_address(s.rpc, 1), &with),
                    client_open(cuzk_rpc_address(s.rpc, 2), NULL)};
    for (int i = 0; i < 3; i++) {
        expect_code(c[i], PROVING "GetStatus", GRPC_STATUS_OK);
        client_close(c[i]);
    }
    /* not without TLS, and not with another server's certificate */
    c[0] = client_open(cuzk_rpc_address(s.rpc, 0), NULL);
    expect_code(c[0], PROVING "GetStatus", GRPC_STATUS_UNAVAILABLE);
    client_close(c[0]);
    client_options with_other = {.ca = other_ca.cert};
    c[0] = client_open(cuzk_rpc_address(s.rpc, 0), &with_other);
    expect_code(c[0], PROVING "GetStatus", GRPC_STATUS_UNAVAILABLE);
    client_close(c[0]);

    /* a wrong pair changes nothing; a right one counts from the next connection on */
    cuzk_error err = {0};
    write_text(in_folder("cert.pem"), other.cert);
    assert_int_equal(cuzk_rpc_reload_files(s.rpc, NULL, NULL, &err), CUZK_E_MISMATCH);
    assert_non_null(strstr(err.text, "does not belong to the certificate"));
    c[0] = client_open(cuzk_rpc_address(s.rpc, 0), &with);
    expect_code(c[0], PROVING "GetStatus", GRPC_STATUS_OK);
    write_text(in_folder("key.pem"), other.key);
    cuzk_error_clear(&err);
    assert_int_equal(cuzk_rpc_reload_files(s.rpc, NULL, NULL, &err), CUZK_OK);
    expect_code(c[0], PROVING "GetStatus", GRPC_STATUS_OK);
    client_close(c[0]);
    c[0] = client_open(cuzk_rpc_address(s.rpc, 0), &with_other);
    expect_code(c[0], PROVING "GetStatus", GRPC_STATUS_OK);
    client_close(c[0]);
    c[0] = client_open(cuzk_rpc_address(s.rpc, 1), &with);
    expect_code(c[0], PROVING "GetStatus", GRPC_STATUS_UNAVAILABLE);
    client_close(c[0]);
    cuzk_rpc_destroy(s.rpc);

    /* what is wrong is said by name */
    options.tls_key = NULL;
    expect_refusal(&options, CUZK_E_ARGUMENT, "both a certificate and its key");
    options.tls_key = in_folder("nothing");
    expect_refusal(&options, CUZK_E_FILE, "nothing");
    options.tls_key = in_folder("cert.pem");
    expect_refusal(&options, CUZK_E_FORMAT, "cert.pem: there is no private key");
    options.tls_key = in_folder("key.pem");
    options.tls_cert = in_folder("key.pem");
    expect_refusal(&options, CUZK_E_FORMAT, "key.pem: there is no certificate");
    cert_free(&ca);
    cert_free(&server);
    cert_free(&other_ca);
    cert_free(&other);
}

/* Plain or TLS, the options' texts in static memory. */
static cuzk_rpc_options options_with_tls(bool is_tls, const pem_pair *server)
{
    static const char *const address = "127.0.0.1:0";
    cuzk_rpc_options options = options_for(&address);
    if (is_tls) {
        write_text(in_folder("cert.pem"), server->cert);
        write_text(in_folder("key.pem"), server->key);
        options.tls_cert = in_folder("cert.pem");
        options.tls_key = in_folder("key.pem");
    }
    return options;
}

static void large_messages_through_tls(void **state)
{
    (void)state;
    pem_pair ca = cert_make("test ca", NULL), server = cert_make("cuzk.test", &ca);
    cuzk_rpc_options options = options_with_tls(true, &server);
    options.max_message = 32 << 20;
    start(&options);
    client_options with = {.ca = ca.cert};
    client *c = client_open(cuzk_rpc_address(s.rpc, 0), &with);
    enum { SIZE = 10000019, CALLS = 3 };
    uint8_t *vanilla = malloc(SIZE), expected[DOUBLE_ANSWER_BYTES];
    for (size_t i = 0; i < SIZE; i++) {
        vanilla[i] = (uint8_t)(i * 2654435761u >> 13);
    }
    call *calls[CALLS];
    size_t n;
    uint8_t *request = make_prove(&n, "big", 1, vanilla, SIZE);
    for (int i = 0; i < CALLS; i++) {
        calls[i] = client_start(c, PROVING "Prove", request, n, 300000);
    }
    size_t n_inner;
    uint8_t *inner = make_submit(&n_inner, "big", 1, vanilla, SIZE);
    double_answer(expected, inner, n_inner);
    for (int i = 0; i < CALLS; i++) {
        answer a;
        call_wait(calls[i], &a);
        assert_int_equal(a.code, GRPC_STATUS_OK);
        Cuzk__V1__ProveResponse *m = cuzk__v1__prove_response__unpack(NULL, a.size, a.data);
        assert_non_null(m);
        assert_non_null(m->result);
        assert_string_equal(m->result->error_message, "");
        assert_int_equal(m->result->proof.len, DOUBLE_ANSWER_BYTES);
        assert_memory_equal(m->result->proof.data, expected, DOUBLE_ANSWER_BYTES);
        cuzk__v1__prove_response__free_unpacked(m, NULL);
        answer_clear(&a);
    }
    double_view view;
    double_look(s.engine, &view);
    assert_int_equal(view.last_payload_bytes, n_inner);
    free(request);
    free(inner);
    free(vanilla);
    cuzk_rpc_view counts;
    cuzk_rpc_look(s.rpc, &counts);
    assert_int_equal(counts.connections_total, 1);
    client_close(c);
    cuzk_rpc_destroy(s.rpc);
    cert_free(&ca);
    cert_free(&server);
}

static void descriptors_run_out(void **state)
{
    (void)state;
    pem_pair ca = cert_make("test ca", NULL), server = cert_make("cuzk.test", &ca);
    struct rlimit before, low;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    for (int is_tls = 0; is_tls < 2; is_tls++) {
        cuzk_rpc_options options = options_with_tls(is_tls == 1, &server);
        start(&options);
        client_options with = {.ca = is_tls == 1 ? ca.cert : NULL};
        client *old = client_open(cuzk_rpc_address(s.rpc, 0), &with);
        expect_code(old, PROVING "GetStatus", GRPC_STATUS_OK);
        low = (struct rlimit){160, before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
        struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        in.sin_port = htons((uint16_t)atoi(strrchr(cuzk_rpc_address(s.rpc, 0), ':') + 1));
        int fds[160];
        int n = 0;
        while (n < 160 && (fds[n] = socket(AF_INET, SOCK_STREAM, 0)) >= 0) {
            assert_int_equal(connect(fds[n++], (struct sockaddr *)&in, sizeof in), 0);
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        }
        expect_code(old, PROVING "GetStatus", GRPC_STATUS_OK);
        for (int i = 0; i < n; i++) {
            close(fds[i]);
        }
        nanosleep(&(struct timespec){0, 200000000}, NULL);
        client *fresh = client_open(cuzk_rpc_address(s.rpc, 0), &with);
        expect_code(fresh, PROVING "GetStatus", GRPC_STATUS_OK);
        setrlimit(RLIMIT_NOFILE, &before);
        client_close(old);
        client_close(fresh);
        cuzk_rpc_view view;
        cuzk_rpc_look(s.rpc, &view);
        assert_true(view.connections_total > 10);
        cuzk_rpc_destroy(s.rpc);
    }
    cert_free(&ca);
    cert_free(&server);
}

static void clients_with_certificates(void **state)
{
    (void)state;
    pem_pair ca = cert_make("test ca", NULL), server = cert_make("cuzk.test", &ca);
    pem_pair curio = cert_make("curio", &ca), operator= cert_make("operator", &ca);
    pem_pair stranger = cert_make("operator", NULL);
    write_text(in_folder("cert.pem"), server.cert);
    write_text(in_folder("key.pem"), server.key);
    write_text(in_folder("ca.pem"), ca.cert);
    static const char *const admin = "operator";
    const char *address = "127.0.0.1:0";
    cuzk_rpc_options options = options_for(&address);
    options.tls_cert = in_folder("cert.pem");
    options.tls_key = in_folder("key.pem");
    options.admin_names = &admin;
    options.n_admin_names = 1;
    expect_refusal(&options, CUZK_E_ARGUMENT, "admin names need clients' certificates");
    options.tls_client_ca = in_folder("ca.pem");
    start(&options);
    struct {
        const pem_pair *pair;
        grpc_status_code submit, admin;
    } cases[] = {{&curio, GRPC_STATUS_OK, GRPC_STATUS_PERMISSION_DENIED},
                 {&operator, GRPC_STATUS_OK, GRPC_STATUS_OK},
                 {&stranger, GRPC_STATUS_UNAVAILABLE, GRPC_STATUS_UNAVAILABLE},
                 {NULL, GRPC_STATUS_UNAVAILABLE, GRPC_STATUS_UNAVAILABLE}};
    for (int i = 0; i < 4; i++) {
        client_options with = {.ca = ca.cert};
        if (cases[i].pair != NULL) {
            with.cert = cases[i].pair->cert;
            with.key = cases[i].pair->key;
        }
        client *c = client_open(cuzk_rpc_address(s.rpc, 0), &with);
        expect_code(c, PROVING "GetStatus", cases[i].submit);
        expect_code(c, PROVING "EvictSRS", cases[i].admin);
        client_close(c);
    }
    cuzk_rpc_destroy(s.rpc);
    cert_free(&ca);
    cert_free(&server);
    cert_free(&curio);
    cert_free(&operator);
    cert_free(&stranger);
}

#define SUBMIT_TOKEN "submit-0123456789abcdef"
#define ADMIN_TOKEN  "admin-0123456789abcdef"

static void tokens(void **state)
{
    (void)state;
    write_text(in_folder("submit"), "# Curio\n\n" SUBMIT_TOKEN "\r\nanother-0123456789abcdef");
    write_text(in_folder("admin"), ADMIN_TOKEN "\n");
    const char *addresses[] = {"127.0.0.1:0", unix_address("t.sock")};
    static const char *const shown[] = {NULL, "wrong-0123456789abcdef", SUBMIT_TOKEN, ADMIN_TOKEN};
    enum {
        OK = GRPC_STATUS_OK,
        WHO = GRPC_STATUS_UNAUTHENTICATED,
        NO = GRPC_STATUS_PERMISSION_DENIED
    };
    static const struct {
        bool submit, admin;
        int expected[4][2]; /* by token: submit, administer */
    } cases[] = {
        {false, false, {{OK, OK}, {OK, OK}, {OK, OK}, {OK, OK}}},
        {true, false, {{WHO, WHO}, {WHO, WHO}, {OK, OK}, {WHO, WHO}}},
        {true, true, {{WHO, WHO}, {WHO, WHO}, {OK, NO}, {OK, OK}}},
        {false, true, {{OK, NO}, {OK, NO}, {OK, NO}, {OK, OK}}},
    };
    cuzk_rpc_options options = options_for(addresses);
    options.n_listen = 2;
    start(&options);
    for (int i = 0; i < 4; i++) {
        cuzk_error err = {0};
        assert_int_equal(cuzk_rpc_reload_files(s.rpc, cases[i].submit ? in_folder("submit") : "",
                                               cases[i].admin ? in_folder("admin") : NULL, &err),
                         CUZK_OK);
        for (int t = 0; t < 4; t++) {
            client_options with = {.token = shown[t]};
            client *c = client_open(cuzk_rpc_address(s.rpc, 0), &with);
            expect_code(c, PROVING "GetStatus", (grpc_status_code)cases[i].expected[t][0]);
            int may = cases[i].expected[t][1]; /* there is no device "x" */
            expect_code(c, PROVING "EvictSRS", (grpc_status_code)may);
            expect_code(c, DEVICES "ListDevices", (grpc_status_code)cases[i].expected[t][0]);
            expect_code(c, DEVICES "DrainDevice",
                        may == OK ? GRPC_STATUS_NOT_FOUND : (grpc_status_code)may);
            expect_code(c, DEVICES "AddDevice",
                        may == OK ? GRPC_STATUS_NOT_FOUND : (grpc_status_code)may);
            expect_code(c, "grpc.health.v1.Health/Check", GRPC_STATUS_NOT_FOUND);
            client_close(c);
        }
        client *c = client_open(cuzk_rpc_address(s.rpc, 1), NULL);
        expect_code(c, PROVING "EvictSRS", GRPC_STATUS_OK);
        client_close(c);
    }
    /* files that are wrong leave the old tokens */
    static const struct {
        const char *text, *said;
    } wrong[] = {
        {"short\n", "line 1: a token of 5 characters, expected 16 to 4096"},
        {"# nothing\n", "there is no token in it"},
        {"0123456789abcdef\n0123456789 abcdef\n", "line 2: a character that is not visible at 10"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cuzk_error err = {0};
        write_text(in_folder("wrong"), wrong[i].text);
        assert_int_equal(cuzk_rpc_reload_files(s.rpc, in_folder("wrong"), NULL, &err),
                         CUZK_E_FORMAT);
        assert_non_null(strstr(err.text, wrong[i].said));
    }
    client_options with = {.token = ADMIN_TOKEN};
    client *c = client_open(cuzk_rpc_address(s.rpc, 0), &with);
    expect_code(c, PROVING "EvictSRS", GRPC_STATUS_OK);
    client_close(c);
    cuzk_rpc_destroy(s.rpc);
    options.token_file = in_folder("wrong");
    expect_refusal(&options, CUZK_E_FORMAT, "tokens");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(addresses),
        TEST(sockets),
        TEST(sockets_of_others),
        TEST(tls),
        TEST(large_messages_through_tls),
        TEST(descriptors_run_out),
        TEST(clients_with_certificates),
        TEST(tokens),
#undef TEST
    };
    return cmocka_run_group_tests_name("rpc access", tests, NULL, NULL);
}
