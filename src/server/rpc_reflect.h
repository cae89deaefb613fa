/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Answers of server reflection from a set of descriptors. */
#ifndef CUZK_SERVER_RPC_REFLECT_H
#define CUZK_SERVER_RPC_REFLECT_H

#include "base/text.h"

#include <stdint.h>

/** Append the ServerReflectionResponse (v1 and v1alpha are the same) to a ServerReflectionRequest.
 *
 *  set: a FileDescriptorSet. What is not there is an error inside the answer, NOT_FOUND. Errors:
 *  E_FORMAT: the request is broken. */
cuzk_status cuzk_reflect(cuzk_text *out, const uint8_t *request, size_t size, const uint8_t *set,
                         size_t set_size, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
