/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The two groups of one curve under short names: g1_affine, g1_jac, g1_xyzz, g1_add … over fp and
 * g2_… over fp2; see point_tmpl.h for the list and the contracts.
 *
 * Include it in a source that is built once per curve and CPU path, like field/fields.h. */
#ifndef CUZK_CURVE_GROUPS_H
#define CUZK_CURVE_GROUPS_H

#include "field/fields.h"

#define PT(name) g1_##name
#define CF(name) fp_##name
#define CF_TYPE  fp
#define PT_B     CUZK_CC(B)
#include "curve/point_tmpl.h"

#define PT(name) g2_##name
#define CF(name) fp2_##name
#define CF_TYPE  fp2
#define PT_B     CUZK_CC(B2)
#include "curve/point_tmpl.h"

#endif
