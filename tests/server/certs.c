/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "server/certs.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text_of(BIO *bio)
{
    char *data;
    long n = BIO_get_mem_data(bio, &data);
    char *out = calloc(1, (size_t)n + 1);
    memcpy(out, data, (size_t)n);
    BIO_free(bio);
    return out;
}

static void extend(X509 *cert, int nid, const char *value)
{
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    X509_add_ext(cert, e, -1);
    X509_EXTENSION_free(e);
}

pem_pair cert_make(const char *name, const pem_pair *issuer)
{
    static long serial;
    EVP_PKEY *key = EVP_EC_gen("P-256"), *signer = key;
    X509 *cert = X509_new(), *by = cert;
    X509_set_version(cert, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(cert), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(cert), -3600);
    X509_gmtime_adj(X509_getm_notAfter(cert), 86400);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(cert), "CN", MBSTRING_ASC,
                               (const unsigned char *)name, -1, -1, 0);
    X509_set_pubkey(cert, key);
    if (issuer != NULL) {
        BIO *bio = BIO_new_mem_buf(issuer->cert, -1);
        by = PEM_read_bio_X509(bio, NULL, NULL, NULL);
        BIO_free(bio);
        bio = BIO_new_mem_buf(issuer->key, -1);
        signer = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
        BIO_free(bio);
    }
    X509_set_issuer_name(cert, X509_get_subject_name(by));
    char names[256];
    snprintf(names, sizeof names, "DNS:%s", name);
    extend(cert, NID_subject_alt_name, names);
    extend(cert, NID_basic_constraints, issuer == NULL ? "critical,CA:TRUE" : "critical,CA:FALSE");
    X509_sign(cert, signer, EVP_sha256());

    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, cert);
    pem_pair pair = {.cert = text_of(bio)};
    bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
    pair.key = text_of(bio);
    if (issuer != NULL) {
        X509_free(by);
        EVP_PKEY_free(signer);
    }
    X509_free(cert);
    EVP_PKEY_free(key);
    return pair;
}

void cert_free(pem_pair *pair)
{
    free(pair->cert);
    free(pair->key);
    memset(pair, 0, sizeof *pair);
}
