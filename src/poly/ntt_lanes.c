/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The transforms of one curve on eight lanes; built for the path ifma and its emulation. */
#include "poly/oct_lanes.h"

#include "poly/kernel_tmpl.h"
