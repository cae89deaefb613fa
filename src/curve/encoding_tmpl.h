/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Encoding and decoding of a point over one coordinate field: part of point_encoding.h, which
 * includes it once per group with the macros of point_tmpl.h bound. */

#define PT_AFFINE PT(affine)

/** Write a packed affine point: sizeof(CF_TYPE) bytes compressed, twice that uncompressed. */
static inline void PT(encode)(uint8_t *out, const void *packed, cuzk_point_form form)
{
    bool compressed = form == CUZK_POINT_COMPRESSED;
    PT_AFFINE a;
    PT(affine_load)(&a, packed);
    if (PT(affine_is_infinity)(&a)) {
        memset(out, 0, compressed ? sizeof(CF_TYPE) : sizeof(a));
        out[0] = POINT_INFINITY;
    } else {
        CF(encode)(out, &a.x);
        if (!compressed) {
            CF(encode)(out + sizeof(CF_TYPE), &a.y);
        } else if (CF(is_larger)(&a.y)) {
            out[0] |= POINT_LARGER_Y;
        }
    }
    if (compressed) {
        out[0] |= POINT_COMPRESSED;
    }
}

/* The rest of an encoding whose first byte has the infinity flag. */
static inline cuzk_point_status PT(decode_infinity)(const uint8_t *in, size_t n_bytes)
{
    uint8_t any = in[0] & (POINT_LARGER_Y | (uint8_t)~POINT_FLAGS);
    for (size_t i = 1; i < n_bytes; i++) {
        any |= in[i];
    }
    return any == 0 ? CUZK_POINT_OK : CUZK_POINT_BAD_FLAGS;
}

/* a->y from a->x, the larger root or the smaller one. */
static inline bool PT(solve_y)(PT_AFFINE *a, bool larger)
{
    static const CF_TYPE b = PT_B;
    CF_TYPE t;
    CF(sqr)(&t, &a->x);
    CF(mul)(&t, &t, &a->x);
    CF(add)(&t, &t, &b);
    if (!CF(sqrt)(&a->y, &t)) {
        return false;
    }
    if (CF(is_larger)(&a->y) != larger) {
        CF(neg)(&a->y, &a->y);
    }
    return true;
}

/** Read a point in the stated form into a packed affine point, which is written only on success. */
static inline cuzk_point_status PT(decode)(void *packed, const uint8_t *in, cuzk_point_form form,
                                           bool check_subgroup)
{
    bool compressed = form == CUZK_POINT_COMPRESSED;
    PT_AFFINE a;
    PT(affine_set_infinity)(&a);
    if (((in[0] & POINT_COMPRESSED) != 0) != compressed ||
        (!compressed && (in[0] & POINT_LARGER_Y) != 0)) {
        return CUZK_POINT_BAD_FLAGS;
    }
    if (in[0] & POINT_INFINITY) {
        cuzk_point_status status =
            PT(decode_infinity)(in, compressed ? sizeof(CF_TYPE) : sizeof(a));
        if (status != CUZK_POINT_OK) {
            return status;
        }
        PT(affine_store)(packed, &a);
        return CUZK_POINT_OK;
    }
    if (!CF(decode)(&a.x, in, POINT_FLAGS) ||
        (!compressed && !CF(decode)(&a.y, in + sizeof(CF_TYPE), 0))) {
        return CUZK_POINT_NOT_REDUCED;
    }
    if (compressed ? !PT(solve_y)(&a, (in[0] & POINT_LARGER_Y) != 0)
                   : (PT(affine_is_infinity)(&a) || !PT(affine_on_curve)(&a))) {
        return CUZK_POINT_NOT_ON_CURVE;
    }
    if (check_subgroup && !PT(in_subgroup)(&a)) {
        return CUZK_POINT_NOT_IN_SUBGROUP;
    }
    PT(affine_store)(packed, &a);
    return CUZK_POINT_OK;
}

#undef PT_AFFINE
#undef PT
#undef CF
#undef CF_TYPE
#undef PT_B
