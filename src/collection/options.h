/* Converts public options to those of the modules, and to the settings recorded in files. */
#pragma once

#include "input/reader.h"
#include "signature/signer.h"
#include "store/settings.h"
#include "text/analyzer.h"
#include "vector/statistics.h"

/* Checks that the reserved words of an options struct are 0; other values are options of a later
 * version. `name` is that of the struct in cognate.h without cog_ and _options. */
cog_status options_check_reserved(const uint64_t *words, size_t count, const char *name,
                                  cog_error *error);

/* Each of these checks its argument and explains what is wrong with it. */
cog_status options_terms(const cog_term_options *options, struct term_options *terms,
                         cog_error *error);
/* Options for terms of sets compared by a measure: with Jaccard, short texts are compared by words.
 */
cog_status options_set_terms(const cog_term_options *options, cog_measure measure,
                             struct term_options *terms, cog_error *error);
cog_status options_weighting(const cog_weight_options *options, struct weighting *weighting,
                             cog_error *error);
cog_status options_signature(const cog_signature_options *options,
                             struct signature_options *signature, cog_error *error);

cog_status options_check_signing(const cog_sign_options *options, cog_error *error);

/* Records everything that determines a text's terms, including the versions of the text libraries.
 */
cog_status options_record_terms(const cog_term_options *options, struct settings *settings,
                                cog_error *error);
/* Records everything that determines a text's bits. */
cog_status options_record_signing(const cog_sign_options *options, struct settings *settings,
                                  cog_error *error);

/* COG_ERR_FORMAT if settings record different versions of the text libraries than this program has;
 * `what` ("the index") is for the message. Settings without versions, written before they were
 * recorded, pass. */
cog_status options_check_versions(const struct settings *settings, const struct term_options *terms,
                                  const char *what, cog_error *error);

/* The options recorded in settings. The language is borrowed from the settings. COG_ERR_FORMAT if
 * something is missing or unknown, or the versions of the text libraries differ. */
cog_status options_read_signing(const struct settings *settings, cog_sign_options *options,
                                cog_error *error);

/* The same for terms only. */
cog_status options_read_terms(const struct settings *settings, cog_term_options *options,
                              cog_error *error);

struct cog_statistics {
    struct statistics *counts;
    struct settings terms; /* how the terms were made */
    unsigned extra_owners; /* number of additional owners */
    uint64_t state;        /* identifies the counts if they no longer change; otherwise 0 */
};

/* COG_ERR_USAGE, naming the first difference, if the statistics' terms were made differently. */
cog_status options_check_statistics(const cog_term_options *options,
                                    const struct cog_statistics *statistics, cog_error *error);
