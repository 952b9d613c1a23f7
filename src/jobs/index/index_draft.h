/* Drafts of segments in memory, from documents or signatures (index_job.h), and steps shared by
 * building and merging. */
#pragma once

#include "jobs/index/index_job.h"

/* The key of a build knob in the settings of an index. */
const char *draft_knob_record(const struct search_method *method, unsigned knob);
cog_status draft_take_settings(const cog_index *index, struct segment_draft *draft,
                               cog_error *error);
/* Copies the ids of a corpus. */
cog_status draft_copy_ids(const struct corpus *corpus, struct segment_draft *draft,
                          cog_error *error);
cog_status draft_index_ids(struct segment_draft *draft, cog_error *error);
/* Adds the tables of the index's method, if any. `margins` may be NULL. `earlier`: a segment whose
 * tables may have learned settings that apply to these rows, or NULL. */
cog_status draft_add_tables(const cog_index *index, const float *margins,
                            const struct segment *earlier, unsigned threads,
                            struct segment_draft *draft, cog_error *error);
/* Margins take much memory, so only a method that needs them gets them. */
bool draft_wants_margins(const cog_index *index);
/* Measures the recall of the methods with tables in the draft (draft_recall.c). The margins of its
 * rows are given, or come from the draft's vectors or the corpus that the draft was made from;
 * `margins` and `corpus` may be NULL. */
cog_status draft_measure_recall(const cog_index *index, const struct corpus *corpus,
                                const float *margins, unsigned threads, struct segment_draft *draft,
                                cog_error *error);
