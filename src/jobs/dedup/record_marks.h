/* Marks: what was decided of a document, added to its record as one more field, an object of JSON:
 * {"cluster": 3, "kept": false, "twin": "id", "similarity": 0.91, "reason": "near"}; documents in
 * no cluster have {"kept": true}. A table gets one more column with the same objects. Nothing is
 * removed, so that other programs can decide. */
#pragma once

#include "jobs/dedup/duplicates.h"

struct record_marks;

/* field, reader and duplicates are borrowed; members as duplicates_clusters gives them. */
cog_status record_marks_create(const char *field, const struct reader *reader,
                               const struct duplicates *duplicates,
                               const cog_cluster_member *members, size_t member_count,
                               struct record_marks **marks, cog_error *error);
/* Accepts NULL. */
void record_marks_free(struct record_marks *marks);

/* Refuses inputs whose records are neither JSON objects nor rows of tables. */
cog_status record_marks_check(const char *field, const cog_documents *documents, cog_error *error);

/* Appends a record with its mark. Nothing for a record that is no document. Threads may call at
 * once. */
cog_status record_marks_append(const struct record_marks *marks, uint64_t record,
                               const struct document *document, struct buffer *bytes,
                               cog_error *error);
/* Appends what stands before the records of a file; the header row of a table with the name of the
 * column. Refuses a table that has such a column. */
cog_status record_marks_header(const struct record_marks *marks, uint32_t file,
                               struct bytes_view header, struct buffer *bytes, cog_error *error);
