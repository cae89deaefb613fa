/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The host side of transform.h: transforms and Groth16 quotients of one curve on a device.
 *
 * Elements are fr in Montgomery form, reduced, in device memory, 16-byte aligned. "Bit-reversed"
 * order of 2^lg_n values: the value of exponent e stands at e with its lg_n bits reversed. */
#ifndef CUZK_BACKEND_CUDA_TRANSFORMER_H
#define CUZK_BACKEND_CUDA_TRANSFORMER_H

#include "backend/cuda/driver.h"
#include "backend/cuda/transform.h"
#include "curve/curve.h"

/* A kernel of passes. */
typedef struct {
    CUfunction function;
    unsigned lg_tile; /* elements of a block */
} cuzk_transform_kernel;

typedef struct {
    const cuzk_cuda_api *api;
    const cuzk_curve *curve;
    unsigned lg_max;     /* largest transform */
    unsigned layers_max; /* of a pass: CUZK_TRANSFORM_LAYERS_MAX; tests take 3 or 6 */
    unsigned lg_factors; /* entries of the table; below lg_max it is a short one */
    CUdeviceptr factors, second;
    CUmodule passes, table;
    cuzk_transform_kernel forward_first, forward, inverse, forward_fused, inverse_fused, turn;
    CUfunction make_factors, permute;
} cuzk_transformer;

/** Bytes of the factor tables for transforms up to 2^lg_max: 64 an element of a whole table
 *  (lg_factors = lg_max), which is fastest. A short one of 2^lg_factors entries costs a second
 *  multiplication in each layer beyond them. Pure. */
size_t cuzk_transformer_bytes(unsigned lg_max, unsigned lg_factors);

/** Load the kernels into the current context and start making the table on a stream.
 *
 *  generator: the g of cuzk_curve.fr_root_of_unity. The root w of a transform of 2^lg is that root;
 *  it is the square of the one of 2^(lg+1). lg_max: transforms modulo X^n - 1 up to 2^lg_max,
 * modulo X^n + 1 up to 2^lg_max or half the order of the largest root, whichever is less.
 * lg_factors: lg_max, or less but at least 3. factors: cuzk_transformer_bytes(lg_max, lg_factors)
 * bytes of device memory, 16-byte aligned, borrowed until close. Errors: E_UNSUPPORTED (lg_max
 * above 28 or the curve's two-adicity), E_ARGUMENT (lg_factors), E_DEVICE. */
cuzk_status cuzk_transformer_open(cuzk_transformer *out, const cuzk_cuda_api *api,
                                  const cuzk_curve *curve, unsigned generator, unsigned lg_max,
                                  unsigned lg_factors, CUdeviceptr factors, CUstream stream,
                                  cuzk_error *err) CUZK_WARN_UNUSED;

/** Unload; nothing may be running. */
void cuzk_transformer_close(cuzk_transformer *t);

/* What a transform is modulo: values at the powers of w, or at the odd powers of w's square root.
 */
typedef enum { CUZK_TRANSFORM_PLAIN = 0, CUZK_TRANSFORM_SHIFTED = 1 } cuzk_transform_kind;

/** Coefficients (natural order) to values (bit-reversed order), in place. Returns without waiting.
 *
 *  values: 2^lg_n elements. Errors: E_ARGUMENT (lg_n too large for t), E_UNSUPPORTED (shifted and
 *  no root of order 2^(lg_n+1)), E_DEVICE. Cost: lg_n/9 trips through memory, rounded up. */
cuzk_status cuzk_transform_forward(const cuzk_transformer *t, cuzk_transform_kind kind,
                                   unsigned lg_n, CUdeviceptr values, CUstream stream,
                                   cuzk_error *err) CUZK_WARN_UNUSED;

/** Values (bit-reversed order) to coefficients (natural order) times n·scale, in place.
 *
 *  scale: NULL for 1; pass 1/n for the inverse of cuzk_transform_forward. Otherwise as that. */
cuzk_status cuzk_transform_inverse(const cuzk_transformer *t, cuzk_transform_kind kind,
                                   unsigned lg_n, CUdeviceptr values, const cuzk_fr *scale,
                                   CUstream stream, cuzk_error *err) CUZK_WARN_UNUSED;

/** Exchange natural and bit-reversed order, in place. Errors: E_DEVICE. */
cuzk_status cuzk_transform_permute(const cuzk_transformer *t, unsigned lg_n, CUdeviceptr values,
                                   CUstream stream, cuzk_error *err) CUZK_WARN_UNUSED;

/* The two quotients of poly/domain.h: values on the shifted coset for a circom key, coefficients
 * for a bellperson key. */
typedef enum { CUZK_DEVICE_QUOTIENT_CIRCOM, CUZK_DEVICE_QUOTIENT_PLAIN } cuzk_device_quotient_form;

/** The scalars of an H query from the rows a = A·w and b = B·w: poly/domain.h says which, for each
 *  form. Six transforms. Returns without waiting.
 *
 *  a, b: 2^lg_n values on the domain each, bit-reversed order; destroyed. c: room for as many. The
 *  result is in `a` in plain form (canonical): bit-reversed order for circom, natural order for the
 *  other. Errors: as cuzk_transform_forward with a shifted transform. */
cuzk_status cuzk_transform_quotient(const cuzk_transformer *t, cuzk_device_quotient_form form,
                                    unsigned lg_n, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c,
                                    CUstream stream, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
