/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef CUZK_TIMELINE_PLAIN_TEXT_H
#define CUZK_TIMELINE_PLAIN_TEXT_H

/** Make a text one that can stand in a line of a report and go to a terminal as it is: what is not
 *  UTF-8, control characters, line separators and changes of direction become '?', a byte each. */
void cuzk_plain_text(char *text);

#endif
