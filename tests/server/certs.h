/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Certificates made on the spot. */
#ifndef CUZK_TESTS_CERTS_H
#define CUZK_TESTS_CERTS_H

typedef struct {
    char *cert, *key; /* PEM; free */
} pem_pair;

/** A certificate of a name, which is also its DNS name. issuer NULL: signed by itself, and it may
 *  sign others. */
pem_pair cert_make(const char *name, const pem_pair *issuer);
void cert_free(pem_pair *pair);

#endif
