/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Certificates: read and checked here, so that what is wrong is said by file and reason; handed to
 * gRPC, which asks again at each handshake, so that new ones are used without a restart. */
#include "base/read_file.h"
#include "server/rpc_internal.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *cert, *key, *client_ca; /* PEM; client_ca NULL: none */
} pems;

struct cuzk_tls {
    char *cert_path, *key_path, *client_ca_path; /* client_ca_path NULL: none */
    pthread_mutex_t lock;                        /* guards what follows */
    pems current;
    unsigned version; /* of current, from 1 */
};

static void clear(pems *p)
{
    if (p->key != NULL) {
        OPENSSL_cleanse(p->key, strlen(p->key));
    }
    free(p->cert);
    free(p->key);
    free(p->client_ca);
    memset(p, 0, sizeof *p);
}

/* The first certificate, or NULL. Free with X509_free. */
static X509 *parse_cert(const char *pem)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509 *cert = bio != NULL ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    BIO_free(bio);
    return cert;
}

/* A key with a passphrase is not asked for one. */
static int no_passphrase(char *buffer, int size, int for_writing, void *user)
{
    (void)buffer, (void)size, (void)for_writing, (void)user;
    return 0;
}

static cuzk_status check(const pems *p, const struct cuzk_tls *tls, cuzk_error *err)
{
    BIO *bio = BIO_new_mem_buf(p->key, -1);
    EVP_PKEY *key = bio != NULL ? PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL) : NULL;
    BIO_free(bio);
    X509 *cert = parse_cert(p->cert);
    X509 *ca = p->client_ca != NULL ? parse_cert(p->client_ca) : NULL;
    cuzk_status status = CUZK_OK;
    if (cert == NULL) {
        status = CUZK_FAIL(err, CUZK_E_FORMAT, "%s: there is no certificate in it (PEM)",
                           tls->cert_path);
    } else if (key == NULL) {
        status = CUZK_FAIL(err, CUZK_E_FORMAT,
                           "%s: there is no private key in it (PEM, without a passphrase)",
                           tls->key_path);
    } else if (X509_check_private_key(cert, key) != 1) {
        status =
            CUZK_FAIL(err, CUZK_E_MISMATCH, "%s: the key does not belong to the certificate %s",
                      tls->key_path, tls->cert_path);
    } else if (p->client_ca != NULL && ca == NULL) {
        status = CUZK_FAIL(err, CUZK_E_FORMAT, "%s: there is no certificate in it (PEM)",
                           tls->client_ca_path);
    }
    ERR_clear_error();
    EVP_PKEY_free(key);
    X509_free(cert);
    X509_free(ca);
    return status;
}

cuzk_status cuzk_tls_reload(struct cuzk_tls *tls, cuzk_error *err)
{
    pems fresh = {0};
    cuzk_status status = cuzk_read_small_file(&fresh.cert, NULL, "tls.cert", tls->cert_path, err);
    if (status == CUZK_OK) {
        status = cuzk_read_small_file(&fresh.key, NULL, "tls.key", tls->key_path, err);
    }
    if (status == CUZK_OK && tls->client_ca_path != NULL) {
        status =
            cuzk_read_small_file(&fresh.client_ca, NULL, "tls.client_ca", tls->client_ca_path, err);
    }
    if (status == CUZK_OK) {
        status = check(&fresh, tls, err);
    }
    if (status != CUZK_OK) {
        cuzk_error_prefix(err, "TLS");
        clear(&fresh);
        return status;
    }
    pthread_mutex_lock(&tls->lock);
    pems old = tls->current;
    tls->current = fresh;
    tls->version++;
    pthread_mutex_unlock(&tls->lock);
    clear(&old);
    return CUZK_OK;
}

/* gRPC asks at the start and at each handshake. */
static grpc_ssl_certificate_config_reload_status fetch(void *user,
                                                       grpc_ssl_server_certificate_config **out)
{
    cuzk_listener_tls *seen = user;
    struct cuzk_tls *tls = seen->tls;
    pthread_mutex_lock(&tls->lock);
    bool is_new = seen->version != tls->version;
    if (is_new) {
        grpc_ssl_pem_key_cert_pair pair = {tls->current.key, tls->current.cert};
        /* gRPC insists on roots; where clients are not asked for certificates it does not use them
         */
        const char *roots =
            tls->current.client_ca != NULL ? tls->current.client_ca : pair.cert_chain;
        *out = grpc_ssl_server_certificate_config_create(roots, &pair, 1);
        seen->version = tls->version;
    }
    pthread_mutex_unlock(&tls->lock);
    return is_new ? GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW
                  : GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
}

grpc_server_credentials *cuzk_tls_credentials(struct cuzk_tls *tls, cuzk_listener_tls *seen)
{
    seen->tls = tls;
    return grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(
            tls->client_ca_path != NULL ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                        : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
            fetch, seen));
}

static bool is_set(const char *text)
{
    return text != NULL && text[0] != '\0';
}

cuzk_status cuzk_tls_create(struct cuzk_tls **out, const cuzk_rpc_options *options, cuzk_error *err)
{
    *out = NULL;
    CUZK_FAIL_IF(is_set(options->tls_cert) != is_set(options->tls_key), err, CUZK_E_ARGUMENT,
                 "TLS needs both a certificate and its key");
    CUZK_FAIL_IF(is_set(options->tls_client_ca) && !is_set(options->tls_cert), err, CUZK_E_ARGUMENT,
                 "clients' certificates need TLS: a certificate and its key");
    CUZK_FAIL_IF(options->n_admin_names > 0 && !is_set(options->tls_client_ca), err,
                 CUZK_E_ARGUMENT, "admin names need clients' certificates");
    if (!is_set(options->tls_cert)) {
        return CUZK_OK;
    }
    struct cuzk_tls *tls = calloc(1, sizeof *tls);
    CUZK_FAIL_IF(tls == NULL, err, CUZK_E_MEMORY, "out of memory");
    pthread_mutex_init(&tls->lock, NULL);
    tls->cert_path = strdup(options->tls_cert);
    tls->key_path = strdup(options->tls_key);
    tls->client_ca_path = is_set(options->tls_client_ca) ? strdup(options->tls_client_ca) : NULL;
    cuzk_status status = tls->cert_path == NULL || tls->key_path == NULL
                             ? CUZK_FAIL(err, CUZK_E_MEMORY, "out of memory")
                             : cuzk_tls_reload(tls, err);
    if (status != CUZK_OK) {
        cuzk_tls_destroy(tls);
        return status;
    }
    *out = tls;
    return CUZK_OK;
}

void cuzk_tls_destroy(struct cuzk_tls *tls)
{
    if (tls == NULL) {
        return;
    }
    clear(&tls->current);
    free(tls->cert_path);
    free(tls->key_path);
    free(tls->client_ca_path);
    pthread_mutex_destroy(&tls->lock);
    free(tls);
}
