/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A journal's file checked as a whole, before anything of it is believed. */
#include "engine/journal_store_impl.h"

#include <string.h>

/* Units are looked up by key, so that one whose key is damaged would be missed by nobody. Written
 * and deleted with their job's state, all belong to an unfinished one. */
static cuzk_status check_unit_keys(cuzk_store *store, cuzk_error *err)
{
    static const char query[] =
        "SELECT key >> 12, key & 4095 FROM unit LEFT JOIN job ON seq = key >> 12"
        " WHERE seq IS NULL OR ended_ms IS NOT NULL OR key & 4095 >= n_units LIMIT 1";
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(store->db, query, -1, &s, NULL) != SQLITE_OK) {
        return cuzk_store_fail(store, err, "checking the units");
    }
    cuzk_status status = CUZK_OK;
    int rc = sqlite3_step(s);
    if (rc == SQLITE_ROW) {
        status =
            CUZK_FAIL(err, CUZK_E_FORMAT,
                      "unit %lld of job number %lld: there is no such unit of an unfinished "
                      "job",
                      (long long)sqlite3_column_int64(s, 1), (long long)sqlite3_column_int64(s, 0));
    } else if (rc != SQLITE_DONE) {
        status = cuzk_store_fail(store, err, "checking the units");
    }
    sqlite3_finalize(s);
    return status;
}

cuzk_status cuzk_store_check(cuzk_store *store, cuzk_error *err)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(store->db, "PRAGMA integrity_check(1)", -1, &s, NULL) != SQLITE_OK) {
        return cuzk_store_fail(store, err, "checking the structure");
    }
    cuzk_status status = CUZK_OK;
    if (sqlite3_step(s) != SQLITE_ROW) {
        status = cuzk_store_fail(store, err, "checking the structure");
    } else if (strcmp((const char *)sqlite3_column_text(s, 0), "ok") != 0) {
        status =
            CUZK_FAIL(err, CUZK_E_FORMAT, "structure: %s", (const char *)sqlite3_column_text(s, 0));
    }
    sqlite3_finalize(s);
    CUZK_TRY(status);
    CUZK_TRY(cuzk_store_each(store, true, NULL, NULL, err));
    CUZK_TRY(check_unit_keys(store, err));
    sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    /* pieces of an acceptance that was not completed; a full disk leaves them for the next time */
    sqlite3_exec(store->db, "DELETE FROM payload WHERE key >> 12 NOT IN (SELECT seq FROM job)",
                 NULL, NULL, NULL);
    return CUZK_OK;
}
