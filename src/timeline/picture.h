/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef CUZK_TIMELINE_PICTURE_H
#define CUZK_TIMELINE_PICTURE_H

#include "timeline/analysis.h"

enum { CUZK_PICTURE_COLUMNS = 1200 }; /* pixels of a row; each is told for itself */

/** Append a recording's part as an SVG picture, 1,400 pixels wide: for each device a row of its
 *  kernels (gaps below it in the colour of their cause), copies, the lane and each worker, then a
 * row a stage. A row's height in a column is the share of that time (workers of stages with several
 *  threads: of the most that were open at once). Text can be selected; colours have names in a
 *  legend and differ in lightness; nothing is loaded from elsewhere.
 *
 *  analysis: of that part, with CUZK_PICTURE_COLUMNS slices at most. Errors: E_MEMORY. */
cuzk_status cuzk_picture_put(cuzk_text *text, const cuzk_recording *recording,
                             const cuzk_analysis *analysis, cuzk_error *err) CUZK_WARN_UNUSED;

#endif
