/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Compiling a circom constraint file to a shape. */
#ifndef CUZK_R1CS_SHAPE_R1CS_H
#define CUZK_R1CS_SHAPE_R1CS_H

#include "formats/r1cs_file.h"
#include "r1cs/shape.h"

/** Make a shape of a .r1cs: public outputs and public inputs become the inputs, all other wires aux
 *  variables; wire numbers are variable numbers. Terms keep the order of the file.
 *
 *  out: returned: free with cuzk_shape_destroy; does not refer to the file. Errors: E_FORMAT,
 *  E_TRUNCATED (a bad constraint), E_UNSUPPORTED (custom gates; too many wires), E_MEMORY. */
cuzk_status cuzk_shape_from_r1cs(cuzk_shape **out, const cuzk_r1cs *r1cs,
                                 cuzk_error *err) CUZK_WARN_UNUSED;

#endif
