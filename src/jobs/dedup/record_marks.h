/* Marks: the decision about a document, added to its record as one more field, a JSON object:
 * {"cluster": 3, "kept": false, "twin": "id", "similarity": 0.91, "reason": "near"}; documents in
 * no cluster have {"kept": true}. A table gets one more column with the same objects. Nothing is
 * removed, so other programs can decide. */
#pragma once

#include "jobs/dedup/duplicates.h"

struct record_marks;

/* field, reader and duplicates are borrowed; members as from duplicates_clusters. */
cog_status record_marks_create(const char *field, const struct reader *reader,
                               const struct duplicates *duplicates,
                               const cog_cluster_member *members, size_t member_count,
                               struct record_marks **marks, cog_error *error);
/* Accepts NULL. */
void record_marks_free(struct record_marks *marks);

/* Rejects inputs whose records are neither JSON objects nor rows of tables, and tables that have
 * such a column. Objects that have such a field are rejected when they are parsed. */
cog_status record_marks_check(const char *field, cog_documents *documents, cog_error *error);

/* Appends a record with its mark; nothing for a record that is not a document. Thread-safe. */
cog_status record_marks_append(const struct record_marks *marks, uint64_t record,
                               const struct document *document, struct buffer *bytes,
                               cog_error *error);
/* Appends the content before the records of a file; for a table, the header row with the name of
 * the new column. */
cog_status record_marks_header(const struct record_marks *marks, uint32_t file,
                               struct bytes_view header, struct buffer *bytes, cog_error *error);
