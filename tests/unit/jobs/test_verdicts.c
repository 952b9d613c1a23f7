#include "jobs/dedup/report/verdicts.h"

#include "base/hash.h"
#include "test.h"

enum { ROWS = 10 };

/* Rows 0 to 3 are cluster 0 (0 is kept), 4 and 5 cluster 1 (5 is kept), the others alone. The ids
 * are "d0" to "d9", but row 9 has the id of row 8. */
static cog_status append_id(const void *context, uint32_t row, struct buffer *id,
                            cog_error *error) {
    static const char ids[ROWS][4] = {"d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d8"};
    (void)context;
    return buffer_append(id, ids[row], 2) ? COG_OK : error_memory(error, 2, "an id");
}

static struct duplicate_rows result(struct duplicate_row *rows) {
    static const uint32_t kept[ROWS] = {0, 0, 0, 0, 5, 5, 6, 7, 8, 9};
    for (uint32_t row = 0; row < ROWS; row++)
        rows[row] = (struct duplicate_row){.record = row,
                                           .cluster = row < 4   ? 0
                                                      : row < 6 ? 1
                                                                : NO_ROW,
                                           .kept_row = kept[row],
                                           .nearest_row = NO_ROW,
                                           .reference_row = NO_ROW,
                                           .similarity = kept[row] == row ? 1 : 0.9f,
                                           .identical = kept[row] == row};
    return (struct duplicate_rows){.rows = rows,
                                   .count = ROWS,
                                   .cluster_count = 2,
                                   .threshold = 0.8,
                                   .measure = "jaccard",
                                   .append_id = append_id};
}

static cog_status similarity(void *context, uint32_t a, uint32_t b, float *value, bool *identical,
                             cog_error *error) {
    (void)context;
    (void)error;
    *value = a + b == 4 ? 0.5f : 0.95f; /* rows 1 and 3 are far from each other */
    *identical = false;
    return COG_OK;
}

static cog_status judge(const char *text, struct duplicate_rows *rows, cog_report *report,
                        cog_error *error) {
    static const char *path;
    struct verdicts *verdicts = NULL;
    path = path ? path : test_path("verdicts.jsonl");
    write_at(path, text, strlen(text));
    TRY(verdicts_read(path, &verdicts, error));
    cog_status status = verdicts_apply(verdicts, rows, similarity, NULL, report, error);
    verdicts_free(verdicts);
    return status;
}

/* Whether every row is kept for itself, or for a row of its cluster that is; clusters have two or
 * more rows and are numbered by their first ones. */
static bool is_consistent(const struct duplicate_rows *rows) {
    uint32_t sizes[ROWS] = {0}, next = 0;
    for (uint32_t row = 0; row < rows->count; row++) {
        const struct duplicate_row *item = &rows->rows[row], *kept = &rows->rows[item->kept_row];
        if (kept->kept_row != item->kept_row || kept->cluster != item->cluster)
            return false;
        if (item->cluster == NO_ROW && item->kept_row != row)
            return false;
        if (item->cluster == NO_ROW)
            continue;
        if (item->cluster > next || item->cluster >= rows->cluster_count)
            return false;
        next += item->cluster == next;
        sizes[item->cluster]++;
    }
    for (uint32_t cluster = 0; cluster < rows->cluster_count; cluster++)
        if (sizes[cluster] < 2)
            return false;
    return next == rows->cluster_count;
}

static bool kept_rows_are(const struct duplicate_rows *rows, const uint32_t *kept) {
    for (uint32_t row = 0; row < ROWS; row++)
        if (rows->rows[row].kept_row != kept[row])
            return false;
    return is_consistent(rows);
}

static bool has_notice(const cog_report *report, const char *part) {
    for (size_t i = 0; i < cog_report_notice_count(report); i++)
        if (strstr(cog_report_notice(report, i), part))
            return true;
    return false;
}

TEST(verdict_keep_makes_a_member_the_survivor_of_all) {
    struct duplicate_row items[ROWS];
    struct duplicate_rows rows = result(items);
    cog_report *report = NULL;
    CHECK_OK(cog_report_create(&report, error));
    CHECK_OK(judge("{\"verdict\":\"keep\",\"id\":\"d3\",\"row\":3}\n", &rows, report, error));
    const uint32_t kept[ROWS] = {3, 3, 3, 3, 5, 5, 6, 7, 8, 9};
    CHECK(kept_rows_are(&rows, kept));
    CHECK(items[3].similarity == 1 && near(items[0].similarity, 0.95, 1e-6) &&
          near(items[1].similarity, 0.5, 1e-6));
    CHECK(cog_report_notice_count(report) == 1 && has_notice(report, "1 document is removed"));
    CHECK(items[5].similarity == 1 && near(items[4].similarity, 0.9, 1e-6));
    cog_report_free(report);
}

TEST(verdict_different_lets_the_removed_document_stay) {
    struct duplicate_row items[ROWS];
    struct duplicate_rows rows = result(items);
    CHECK_OK(judge("{\"verdict\":\"different\",\"a\":\"d0\",\"b\":\"d2\"}\n"
                   "{\"verdict\":\"different\",\"a\":\"d4\",\"b\":\"d5\"}\n"
                   "{\"verdict\":\"different\",\"a\":\"d6\",\"b\":\"d7\"}\n",
                   &rows, NULL, error));
    const uint32_t kept[ROWS] = {0, 0, 2, 0, 4, 5, 6, 7, 8, 9};
    CHECK(kept_rows_are(&rows, kept));
    CHECK(rows.cluster_count == 1 && items[4].cluster == NO_ROW && items[5].cluster == NO_ROW);
    CHECK(items[2].similarity == 1 && items[2].nearest_row == 0 &&
          near(items[2].nearest_similarity, 0.9, 1e-6));
}

TEST(verdict_duplicate_takes_clusters_together) {
    struct duplicate_row items[ROWS];
    struct duplicate_rows rows = result(items);
    CHECK_OK(judge("{\"verdict\":\"duplicate\",\"a\":\"d6\",\"b\":\"d0\"}\n"
                   "{\"verdict\":\"duplicate\",\"a\":\"d7\",\"b\":\"d4\"}\n",
                   &rows, NULL, error));
    /* d0 was a survivor: its cluster comes along. d4 was not: d5 stays, alone. */
    const uint32_t kept[ROWS] = {6, 6, 6, 6, 7, 5, 6, 7, 8, 9};
    CHECK(kept_rows_are(&rows, kept) && rows.cluster_count == 2 && items[5].cluster == NO_ROW);
    rows = result(items);
    CHECK_OK(judge("{\"verdict\":\"duplicate\",\"a\":\"d2\",\"b\":\"d5\"}\n", &rows, NULL, error));
    const uint32_t other[ROWS] = {2, 2, 2, 2, 2, 2, 6, 7, 8, 9};
    CHECK(kept_rows_are(&rows, other) && rows.cluster_count == 1);
}

TEST(verdicts_of_unknown_documents_are_notices) {
    struct duplicate_row items[ROWS];
    struct duplicate_rows rows = result(items);
    cog_report *report = NULL;
    CHECK_OK(cog_report_create(&report, error));
    CHECK_OK(judge("{\"verdict\":\"keep\",\"id\":\"nobody\",\"row\":1}\n\n"
                   "{\"verdict\":\"duplicate\",\"a\":\"d6\",\"b\":\"d8\",\"b_row\":9}\n"
                   "{\"verdict\":\"duplicate\",\"a\":\"d6\",\"b\":\"d8\"}\n"
                   "{\"verdict\":\"keep\",\"id\":\"d1\",\"row\":7}\n",
                   &rows, report, error));
    /* The id decides; rows tell only d8 from d8. */
    const uint32_t kept[ROWS] = {1, 1, 1, 1, 5, 5, 6, 7, 8, 6};
    CHECK(kept_rows_are(&rows, kept));
    CHECK(has_notice(report, ":1: verdict without effect: there is no document nobody"));
    CHECK(has_notice(report, ":4: verdict without effect: 2 documents have the id d8"));
    CHECK(cog_report_number(report, "verdicts_unknown") == 2);
    cog_report_free(report);
}

TEST(contradictory_verdicts_the_last_one_wins) {
    struct duplicate_row items[ROWS];
    struct duplicate_rows rows = result(items);
    cog_report *report = NULL;
    CHECK_OK(cog_report_create(&report, error));
    CHECK_OK(judge("{\"verdict\":\"keep\",\"id\":\"d1\"}\n"
                   "{\"verdict\":\"keep\",\"id\":\"d2\"}\n"
                   "{\"verdict\":\"different\",\"a\":\"d6\",\"b\":\"d7\"}\n"
                   "{\"verdict\":\"duplicate\",\"a\":\"d7\",\"b\":\"d6\"}\n",
                   &rows, report, error));
    const uint32_t kept[ROWS] = {2, 2, 2, 2, 5, 5, 7, 7, 8, 9};
    CHECK(kept_rows_are(&rows, kept));
    CHECK(has_notice(report, ":2: removes what line 1 keeps"));
    CHECK(has_notice(report, ":4: contradicts line 3"));
    CHECK(cog_report_number(report, "verdicts_contradicted") == 2);
    cog_report_free(report);
}

TEST(verdict_keep_brings_back_what_a_reference_removed) {
    struct duplicate_row items[ROWS];
    struct duplicate_rows rows = result(items);
    items[6].reference_row = items[7].reference_row = 12;
    items[6].similarity = items[7].similarity = 0.85f;
    CHECK_OK(judge("{\"verdict\":\"keep\",\"id\":\"d7\"}\n", &rows, NULL, error));
    CHECK(duplicate_row_is_kept(&rows, 7) && !duplicate_row_is_kept(&rows, 6));
    CHECK(items[7].similarity == 1 && items[7].cluster == NO_ROW && is_consistent(&rows));
}

static cog_status read_one(const char *text, size_t size, cog_error *error) {
    struct verdicts *verdicts = NULL;
    cog_status status = verdicts_read(write_file("bad.jsonl", text, size), &verdicts, error);
    verdicts_free(verdicts);
    return status;
}

TEST(bad_lines_of_verdicts_are_named) {
    static const char *const bad[][2] = {
        {"{\"verdict\":\"keep\",\"id\":\"x\"}\nnonsense\n", ":2: not a JSON object"},
        {"{\"verdict\":\"keep\"}", ":1: the verdict has no document; add the field: id"},
        {"{\"verdict\":\"different\",\"a\":\"x\"}", "add the field: b"},
        {"{\"verdict\":\"maybe\",\"id\":\"x\"}", "must be \"keep\""},
        {"{\"id\":\"x\"}", "must be \"keep\""},
        {"[1]", "not a JSON object"},
        {"{\"verdict\":\"keep\",\"id\":\"x\",\"row\":-1}", "whole number"},
        {"{\"verdict\":\"keep\",\"id\":\"x\",\"row\":1.5}", "whole number"},
        {"{\"verdict\":\"keep\",\"id\":\"x\",\"row\":99999999999}", "whole number"},
        {"{\"verdict\":\"keep\",\"id\":\"x\",\"row\":\"1\"}", "whole number"},
        {"{\"verdict\":\"keep\",\"id\":[\"x\"]}", "a string or a number"},
        {"{\"verdict\":\"keep\",\"id\":\"\xff\"}", "not valid UTF-8"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cog_error error = {0};
        CHECK_MSG(read_one(bad[i][0], strlen(bad[i][0]), &error) == COG_ERR_INPUT &&
                      strstr(error.message, "bad.jsonl:") && strstr(error.message, bad[i][1]),
                  "%s: %s", bad[i][0], error.message);
    }
    struct verdicts *verdicts = NULL;
    CHECK(verdicts_read("/nonexistent/verdicts", &verdicts, NULL) != COG_OK && !verdicts);
    static const char good[] =
        "\xef\xbb\xbf{\"verdict\":\"keep\",\"id\":7,\"row\":null,\"by\":{}}\r\n"
        "  \n{\"id\":\"\\u0041\\/\\n\",\"verdict\":\"keep\"}";
    CHECK_OK(verdicts_read(write_text("good.jsonl", good), &verdicts, error));
    CHECK(verdicts_count(verdicts) == 2);
    verdicts_free(verdicts);
}

TEST(any_verdicts_leave_a_consistent_result) {
    struct random random = random_seeded(3);
    for (int round = 0; round < 2000; round++) {
        char text[2048] = "";
        for (uint64_t lines = random_below(&random, 12); lines > 0; lines--) {
            unsigned a = (unsigned)random_below(&random, 9), b = (unsigned)random_below(&random, 9);
            const char *kinds[] = {"different", "duplicate"};
            if (random_below(&random, 3) == 0)
                sprintf(text + strlen(text), "{\"verdict\":\"keep\",\"id\":\"d%u\"}\n", a);
            else
                sprintf(text + strlen(text), "{\"verdict\":\"%s\",\"a\":\"d%u\",\"b\":\"d%u\"}\n",
                        kinds[random_below(&random, 2)], a, b);
        }
        struct duplicate_row items[ROWS];
        struct duplicate_rows rows = result(items);
        CHECK_OK(judge(text, &rows, NULL, error));
        CHECK_MSG(is_consistent(&rows), "%s", text);
    }
}
