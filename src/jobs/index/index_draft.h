/* Drafts of segments in memory: from documents, or from signatures (index_job.h), and the steps
 * that building and merging share. */
#pragma once

#include "jobs/index/index_job.h"

/* The name of a knob of the build in the settings of an index. */
const char *draft_knob_record(const struct search_method *method, unsigned knob);
cog_status draft_take_settings(const cog_index *index, struct segment_draft *draft,
                               cog_error *error);
/* Room for ids of that many bytes in all; then one after the other; then the table that finds them.
 */
cog_status draft_make_room_for_ids(struct segment_draft *draft, size_t rows, size_t size_bytes,
                                   cog_error *error);
void draft_append_id(struct segment_draft *draft, size_t row, struct bytes_view id);
/* The ids of a corpus. */
cog_status draft_copy_ids(const struct corpus *corpus, struct segment_draft *draft,
                          cog_error *error);
cog_status draft_index_ids(struct segment_draft *draft, cog_error *error);
/* The tables that the index's method keeps, if it keeps any. margins may be NULL; earlier: the
 * segment whose tables may know what holds for these rows, or NULL. */
cog_status draft_add_tables(const cog_index *index, const float *margins,
                            const struct segment *earlier, unsigned threads,
                            struct segment_draft *draft, cog_error *error);
/* Margins take much memory: only a method that cannot do without them gets them. */
bool draft_wants_margins(const cog_index *index);
/* Measures the recall of the methods that the draft has tables for (draft_recall.c). The margins of
 * its rows are given, come from the draft's vectors, or from the corpus that the draft was made of;
 * margins and corpus may be NULL. */
cog_status draft_measure_recall(const cog_index *index, const struct corpus *corpus,
                                const float *margins, unsigned threads, struct segment_draft *draft,
                                cog_error *error);
