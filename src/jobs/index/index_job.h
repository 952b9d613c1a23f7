/* Parts of building and opening an index that changing one needs too. */
#pragma once

#include "jobs/index/index_handle.h"

/* Reports what indexing documents will take; COG_ERR_MEMORY where the budget is less. */
cog_status index_check_memory(const cog_documents *documents, const cog_run_options *run,
                              cog_report *report, cog_error *error);
/* The name of a knob of the build in the settings of an index. */
const char *index_knob_record(const struct search_method *method, unsigned knob);
/* Moves a draft into an index in memory. */
cog_status index_take_draft(cog_index *index, struct segment_draft *draft, cog_error *error);
/* is_empty[row] is 1 where no term of the row weighs anything by the index's statistics; *unknown
 * counts those of them that have terms. */
cog_status index_mark_empty(const cog_index *index, const struct corpus *corpus, uint8_t *is_empty,
                            size_t *unknown, cog_error *error);
/* Takes rows out of the corpus that have no term of weight: they could not be found. */
cog_status index_drop_empty_rows(const cog_index *index, struct corpus *corpus, cog_report *report,
                                 cog_error *error);
/* What segment_write wants, borrowed from the segment. */
struct segment_parts index_parts_of(const struct segment *segment);

/* One process changes a folder at a time; the lock goes with its descriptor. */
cog_status index_lock(const char *folder, int *lock, cog_error *error);
void index_unlock(int lock);
/* Opens the folder's present state in place of the one that the handle has, which stays where that
 * fails. */
cog_status index_reload(cog_index *index, cog_error *error);

/* Everything that follows from the settings, once they are known. */
cog_status index_interpret_settings(cog_index *index, cog_error *error);
/* Closes segments; the handle and its statistics stay. */
void index_forget_parts(cog_index *index);

/* ---- Statistics ------------------------------------------------------------------------------ */

cog_status index_collect_statistics(cog_index *index, const struct corpus *corpus,
                                    const cog_term_options *terms, unsigned threads,
                                    cog_error *error);
/* The numbers of the vectors' columns, by the statistics. */
cog_status index_make_columns(cog_index *index, cog_error *error);
/* Notes in the settings which statistics they are, by a fingerprint. */
cog_status index_record_statistics(const cog_index *index, struct settings *settings,
                                   cog_error *error);
/* Whether the statistics are those that the settings speak of. */
bool index_statistics_fit(const cog_index *index);
cog_status index_save_statistics(const cog_index *index, const char *folder, cog_error *error);
/* From the folder, with the columns; COG_ERR_FORMAT where they do not fit. */
cog_status index_load_statistics(cog_index *index, cog_error *error);
/* Whether the index was made of no documents: the first that are added bring its statistics. */
bool index_awaits_statistics(const cog_index *index);
/* Takes statistics and columns from the corpus, notes them in the settings, and writes them to the
 * folder if there is one. */
cog_status index_take_statistics(cog_index *index, const struct corpus *corpus, unsigned threads,
                                 cog_error *error);
