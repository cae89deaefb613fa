/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The descriptors of the files in proto/, as protoc writes them. */
#ifndef CUZK_PROTO_DESCRIPTORS_H
#define CUZK_PROTO_DESCRIPTORS_H

#include <stdint.h>

/* A google.protobuf.FileDescriptorSet in binary form, of cuzk/v1/proving.proto, cuzk/v1/circom.proto
 * and gRPC's health and reflection services: its bytes reach from the first symbol to the second.
 * In the target cuzk_proto. */
extern const uint8_t cuzk_proto_descriptors[];
extern const uint8_t cuzk_proto_descriptors_end[];

#endif
