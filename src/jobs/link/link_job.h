/* Links between two collections in different languages: each source document gets its best partner.
 *
 * In: both collections, a lexicon, options. Out: a struct cog_links with the chosen links, sorted
 * by source row. It owns everything in it except the lexicon.
 *
 * How partners are chosen: a document that is close to everything (a hub) attracts wrong links. A
 * link is therefore measured by 2 cos(x, y) minus the mean cosine of x to its nearest and of y to
 * its nearest (Conneau et al., "Word translation without parallel data", 2018, for word vectors).
 * With the two nearest, this decides which candidate is the partner: a page made from the same
 * template as the partner has its own partner, which is nearer. With more of the nearest, it is the
 * printed score. One-to-one links are chosen greedily, best first, each document once (the rule of
 * the WMT16 shared task). Which links are kept, and how likely each is to be right, is estimated in
 * every run: jobs/link/link_decision.h. */
#pragma once

#include "jobs/link/link_candidates.h"
#include "jobs/link/link_space.h"
#include "join/cosine/cosine_topk.h"

struct link {
    uint32_t from, to;
    float similarity;  /* cosine */
    float contrast;    /* relative to the two nearest; chooses among candidates */
    float score;       /* relative to more of the nearest */
    float probability; /* of being right */
};

struct cog_links {
    struct link_space space; /* for ids, explanations and sentences */
    struct link *items;      /* the requested links, by source row */
    size_t count;
    struct link *firsts; /* the best link of every source row, whatever its score */
    size_t first_count;
};

/* Reads both collections and brings them into one space, without links. The links must be zeroed;
 * links_reset releases them, also after a failure. */
cog_status link_prepare(cog_links *links, struct job *job, cog_documents *const documents[2],
                        const struct lexicon *lexicon, const cog_projection_options *options,
                        cog_error *error);
/* The same, with the links. */
cog_status link_documents(cog_links *links, struct job *job, cog_documents *const documents[2],
                          const struct lexicon *lexicon, const cog_link_options *options,
                          cog_error *error);
/* Only the last step: scores the candidates and keeps the links that the options request. The links
 * must be zeroed. */
cog_status links_choose(cog_links *links, const struct link_candidates *candidates,
                        const cog_link_options *options, unsigned threads, cog_report *report,
                        cog_error *error);
void links_reset(cog_links *links);
/* Writes TSV, JSON lines or numpy records: from, to, similarity, score, probability. */
cog_status links_write(const cog_links *links, cog_output_format format, const char *path,
                       cog_error *error);
/* Reads the linked documents again and writes the sentence pairs of each link
 * (jobs/link/sentences/sentence_pairs.h), each pair of texts once. */
cog_status links_write_sentences(const cog_links *links, struct job *job,
                                 cog_documents *const documents[2],
                                 const cog_sentence_options *options, const char *path,
                                 cog_error *error);

/* Mean cosines of the documents to their nearest; NULL: use the cosine itself. */
struct link_means {
    const float *from, *to;
};
/* Sets contrast and score from the similarity. */
void links_score(struct link *links, size_t count, struct link_means few, struct link_means many);
/* Keeps the best links of each source row by contrast, moves them to the front sorted by source row
 * and then best first, and sets *count. Ties: smaller rows first. */
void links_best(struct link *links, size_t *count, size_t per_source);
/* Chooses one-to-one links from the candidates of source rows: best contrast first, each row once.
 * *links is sorted by source row; the caller frees it. `both` are the means for contrast and for
 * score. */
cog_status links_one_to_one(const struct cosine_neighbours *candidates, size_t to_rows,
                            const struct link_means both[2], struct link **links, size_t *count,
                            cog_error *error);
