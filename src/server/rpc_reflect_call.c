/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Server reflection, both versions: a stream of questions and answers. */
#include "proto/descriptors.h"
#include "server/rpc_internal.h"
#include "server/rpc_reflect.h"

#include <stdlib.h>

static void answer(cuzk_call *call, uint8_t *message, size_t size)
{
    cuzk_text out = {0};
    cuzk_error err = {0};
    cuzk_status status =
        cuzk_reflect(&out, message, size, cuzk_proto_descriptors,
                     (size_t)(cuzk_proto_descriptors_end - cuzk_proto_descriptors), &err);
    free(message);
    if (status != CUZK_OK) {
        cuzk_text_clear(&out);
        cuzk_call_fail_status(call, status, err.text);
        return;
    }
    cuzk_call_send(call, &out, true);
}

const cuzk_method *cuzk_rpc_reflect_methods(void)
{
    static const cuzk_method methods[] = {
        {"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", CUZK_GATE_SMALL,
         CUZK_RIGHT_NONE, .is_stream = true, .is_long = true, .handle = answer},
        {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", CUZK_GATE_SMALL,
         CUZK_RIGHT_NONE, .is_stream = true, .is_long = true, .handle = answer},
        {NULL},
    };
    return methods;
}
