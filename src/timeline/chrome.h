/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef CUZK_TIMELINE_CHROME_H
#define CUZK_TIMELINE_CHROME_H

#include "timeline/recording.h"

/** Append a recording in the Trace Event Format that chrome://tracing and Perfetto read: a process
 *  for each device (rows: kernels, copies, a row a worker), one for jobs (a row each) and one for
 *  the host's threads. Times in microseconds from its first span. Source: the format's public
 *  description, "complete" (X), "instant" (i) and "metadata" (M) events. */
void cuzk_chrome_put(cuzk_text *text, const cuzk_recording *recording);

#endif
