/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "formats/sections.h"

#include "base/bytes.h"
#include "formats/detect.h"

#include <inttypes.h>
#include <string.h>

enum { FILE_HEADER_BYTES = 12, SECTION_HEADER_BYTES = 12 };

static cuzk_status check_magic(const char *kind, const uint8_t *data, uint64_t size,
                               cuzk_error *err)
{
    if (size < 4 || memcmp(data, kind, 4) != 0) {
        char found[64];
        cuzk_format_describe(found, sizeof found, data, size);
        return CUZK_FAIL(err, CUZK_E_FORMAT, "%s, expected a %s file (magic \"%s\")", found, kind,
                         kind);
    }
    CUZK_FAIL_IF(size < FILE_HEADER_BYTES, err, CUZK_E_TRUNCATED,
                 "%s file truncated: %" PRIu64 " bytes, the file header has 12", kind, size);
    return CUZK_OK;
}

cuzk_status cuzk_sections_open(cuzk_sections *out, const char *kind, uint32_t version_max,
                               const uint8_t *data, uint64_t size, cuzk_error *err)
{
    CUZK_TRY(check_magic(kind, data, size, err));
    cuzk_sections s;
    memset(&s, 0, sizeof s);
    s.kind = kind;
    s.file = (cuzk_span){data, size};
    s.version = cuzk_load_u32_le(data + 4);
    s.n_sections = cuzk_load_u32_le(data + 8);
    CUZK_FAIL_IF(s.version < 1 || s.version > version_max, err, CUZK_E_UNSUPPORTED,
                 "%s file has version %" PRIu32 ", expected %s%" PRIu32, kind, s.version,
                 version_max > 1 ? "1 to " : "", version_max);
    uint64_t offset = FILE_HEADER_BYTES;
    for (uint32_t i = 0; i < s.n_sections; i++) {
        CUZK_FAIL_IF(size - offset < SECTION_HEADER_BYTES, err, CUZK_E_TRUNCATED,
                     "%s file truncated: section %" PRIu32 " of %" PRIu32
                     " should start at offset %" PRIu64 ", file size is %" PRIu64,
                     kind, i + 1, s.n_sections, offset, size);
        uint32_t id = cuzk_load_u32_le(data + offset);
        uint64_t length = cuzk_load_u64_le(data + offset + 4);
        offset += SECTION_HEADER_BYTES;
        if (length > size - offset) {
            if (length > UINT64_MAX - offset) {
                return CUZK_FAIL(err, CUZK_E_FORMAT,
                                 "%s file: section with id %" PRIu32 " at offset %" PRIu64
                                 " has an impossible length %" PRIu64 ", file size is %" PRIu64,
                                 kind, id, offset, length, size);
            }
            return CUZK_FAIL(err, CUZK_E_TRUNCATED,
                             "%s file truncated: section with id %" PRIu32 " (%" PRIu32
                             " of %" PRIu32 ") at offset %" PRIu64 " should end at %" PRIu64
                             ", file size is %" PRIu64,
                             kind, id, i + 1, s.n_sections, offset, offset + length, size);
        }
        if (id < CUZK_SECTION_ID_COUNT) {
            if (s.n_found[id] == 0) {
                s.first[id] = (cuzk_section){id, offset, length};
            }
            s.n_found[id]++;
        }
        offset += length;
    }
    s.end = offset;
    *out = s;
    return CUZK_OK;
}

cuzk_status cuzk_sections_get(const cuzk_sections *sections, uint32_t id, const char *name,
                              cuzk_span *out, cuzk_error *err)
{
    CUZK_FAIL_IF(sections->n_found[id] == 0, err, CUZK_E_FORMAT,
                 "%s file has no section %" PRIu32 " (%s)", sections->kind, id, name);
    CUZK_FAIL_IF(sections->n_found[id] > 1, err, CUZK_E_FORMAT,
                 "%s file has %" PRIu32 " sections with id %" PRIu32 " (%s), expected one",
                 sections->kind, sections->n_found[id], id, name);
    const cuzk_section *s = &sections->first[id];
    *out = (cuzk_span){sections->file.data + s->offset, s->size};
    return CUZK_OK;
}

bool cuzk_sections_next(const cuzk_sections *sections, uint64_t *next_offset, cuzk_section *out)
{
    uint64_t offset = *next_offset == 0 ? FILE_HEADER_BYTES : *next_offset;
    if (offset >= sections->end) {
        return false;
    }
    const uint8_t *p = sections->file.data + offset;
    out->id = cuzk_load_u32_le(p);
    out->size = cuzk_load_u64_le(p + 4);
    out->offset = offset + SECTION_HEADER_BYTES;
    *next_offset = out->offset + out->size;
    return true;
}
