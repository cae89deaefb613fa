/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A program as one writes it for rapidsnark: key, witness and verifying key in memory, JSON out. It
 * links with libcuzk unchanged.
 *
 *     cc rapidsnark_client.c $(pkg-config --cflags --libs cuzk) -o client
 *     ./client circuit.zkey witness.wtns verification_key.json
 */
#include <prover.h>
#include <verifier.h>

#include <stdio.h>
#include <stdlib.h>

/* A whole file with a final NUL. Returned: free with free; NULL on failure. */
static char *read_file(const char *path, unsigned long long *size)
{
    FILE *f = fopen(path, "rb");
    char *data = NULL;
    if (f != NULL && fseek(f, 0, SEEK_END) == 0) {
        long n = ftell(f);
        rewind(f);
        data = n < 0 ? NULL : malloc((size_t)n + 1);
        if (data != NULL && fread(data, 1, (size_t)n, f) != (size_t)n) {
            free(data);
            data = NULL;
        }
        if (data != NULL) {
            data[n] = '\0';
            *size = (unsigned long long)n;
        }
    }
    if (f != NULL) {
        fclose(f);
    }
    return data;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: client KEY.zkey WITNESS.wtns VERIFICATION_KEY.json\n");
        return 2;
    }
    unsigned long long zkey_size = 0, wtns_size = 0, vkey_size = 0;
    char *zkey = read_file(argv[1], &zkey_size);
    char *wtns = read_file(argv[2], &wtns_size);
    char *vkey = read_file(argv[3], &vkey_size);
    char *proof = NULL, *public_values = NULL;
    char error[256] = "cannot read the files";
    unsigned long long proof_size = 0, public_size = 0;
    int code = PROVER_ERROR;
    if (zkey != NULL && wtns != NULL && vkey != NULL) {
        code = groth16_public_size_for_zkey_buf(zkey, zkey_size, &public_size, error, sizeof error);
    }
    if (code == PROVER_OK) {
        groth16_proof_size(&proof_size);
        proof = malloc((size_t)proof_size);
        public_values = malloc((size_t)public_size);
        code = groth16_prover(zkey, zkey_size, wtns, wtns_size, proof, &proof_size, public_values,
                              &public_size, error, sizeof error);
    }
    if (code == PROVER_OK) {
        printf("%.*s\n%.*s\n", (int)proof_size, proof, (int)public_size, public_values);
        code = groth16_verify(proof, public_values, vkey, error, sizeof error);
    }
    if (code != 0) {
        fprintf(stderr, "error %d: %s\n", code, error);
    }
    free(zkey);
    free(wtns);
    free(vkey);
    free(proof);
    free(public_values);
    return code == 0 ? 0 : 1;
}
