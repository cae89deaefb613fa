/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "timeline/cause.h"

static const char *const names[] = {
#define CUZK_CAUSE_NAME(identifier, name, sentence) name,
    CUZK_CAUSES(CUZK_CAUSE_NAME)
#undef CUZK_CAUSE_NAME
};

static const char *const sentences[] = {
#define CUZK_CAUSE_SENTENCE(identifier, name, sentence) sentence,
    CUZK_CAUSES(CUZK_CAUSE_SENTENCE)
#undef CUZK_CAUSE_SENTENCE
};

const char *cuzk_cause_name(cuzk_cause cause)
{
    return names[cause];
}

const char *cuzk_cause_sentence(cuzk_cause cause)
{
    return sentences[cause];
}
