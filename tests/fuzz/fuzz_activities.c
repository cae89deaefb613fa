/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* An export of Nsight Systems, and what is said of it. The decoder wants a file. */
#include "fuzz.h"
#include "timeline/beside.h"

#include <string.h>
#include <unistd.h>

/* For a value that lies on further pages SQLite notes their numbers, eight bytes for each page of
 * the length that the value claims, up to 2^32. */
size_t cuzk_fuzz_slack_bytes = 80 << 20;

static char path[] = "/dev/shm/cuzk_fuzz_XXXXXX";
static int file = -1;

static void put(const uint8_t *data, size_t size)
{
    CUZK_FUZZ_CHECK(ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
}

/* SQLite keeps memory from its first file on: not what is counted here. An empty file is a database
 * without tables. */
__attribute__((constructor)) static void begin(void)
{
    cuzk_activities a;
    cuzk_error err = {0};
    file = mkstemp(path);
    put((const uint8_t *)"", 0);
    cuzk_status status = cuzk_activities_open(&a, path, &err);
    CUZK_FUZZ_CHECK(status == CUZK_E_FORMAT || status == CUZK_E_UNSUPPORTED);
}

__attribute__((destructor)) static void end(void)
{
    unlink(path);
}

static void check(const cuzk_activities *a, size_t size)
{
    CUZK_FUZZ_CHECK(a->n > 0 && a->n <= size / 5 + 1 && a->n_names <= a->n);
    for (size_t i = 0; i < a->n; i++) {
        const cuzk_activity *row = &a->rows[i];
        CUZK_FUZZ_CHECK(row->begin_ns <= row->end_ns && row->kind < CUZK_ACTIVITY_KINDS);
        CUZK_FUZZ_CHECK(row->device < CUZK_ACTIVITY_DEVICES);
        CUZK_FUZZ_CHECK(row->kind != CUZK_ACTIVITY_KERNEL || row->name < a->n_names);
    }
}

void cuzk_fuzz_one(const uint8_t *data, size_t size)
{
    cuzk_activities a;
    cuzk_error err = {0};
    put(data, size);
    cuzk_status status = cuzk_activities_open(&a, path, &err);
    if (status != CUZK_OK) {
        CUZK_FUZZ_CHECK(err.text[0] != 0 && a.rows == NULL);
        return;
    }
    check(&a, size);
    cuzk_beside b;
    if (cuzk_beside_make(&b, &a, NULL, NULL, &err) == CUZK_OK) {
        for (size_t i = 0; i < b.n_devices; i++) {
            const cuzk_beside_device *d = &b.devices[i];
            CUZK_FUZZ_CHECK(d->theirs.kernel_ns <= d->theirs.work_ns);
            CUZK_FUZZ_CHECK(d->theirs.work_ns <= d->end_ns - d->begin_ns);
        }
        cuzk_text text = {0};
        cuzk_beside_put_text(&text, &b);
        cuzk_beside_put_json(&text, &b);
        CUZK_FUZZ_CHECK(text.failed || text.data[text.size - 1] == '\n');
        cuzk_text_clear(&text);
        cuzk_beside_clear(&b);
    }
    cuzk_activities_clear(&a);
}
