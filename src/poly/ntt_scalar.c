/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The transforms of one curve in scalar code; built for the portable and the ADX path. */
#include "poly/oct_scalar.h"

#include "poly/kernel_tmpl.h"
