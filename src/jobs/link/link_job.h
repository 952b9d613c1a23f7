/* Links between two collections of different languages: each source document gets its best partner.
 *
 * In: both collections, a lexicon, options. Out: a struct cog_links with the chosen links, by
 * source row. It owns everything in it except the lexicon.
 *
 * How partners are chosen: a document that is close to everything (a hub) draws links that it
 * should not have. A link is therefore measured by 2 cos(x, y) minus the mean cosine of x to its
 * nearest and of y to its nearest (Conneau et al., "Word translation without parallel data", 2018,
 * for word vectors). Against the two nearest this decides which candidate is the partner: a page
 * made from the same template as the partner has a partner of its own that is nearer. Against more
 * of the nearest it is the score that is printed. One-to-one links are taken greedily, the best
 * first, each document once (the rule of the WMT16 shared task). Which links are kept, and how
 * likely each is to be right, is estimated in every run: jobs/link/link_decision.h. */
#pragma once

#include "jobs/link/link_candidates.h"
#include "jobs/link/link_space.h"
#include "join/cosine/cosine_topk.h"

struct link {
    uint32_t from, to;
    float similarity;  /* cosine */
    float contrast;    /* against the two nearest: chooses among candidates */
    float score;       /* against more of the nearest */
    float strength;    /* how far it stands out: is it a partner at all */
    float probability; /* that it is right */
};

struct cog_links {
    struct link_space space; /* for ids, explanations and sentences */
    struct link *items;      /* the links that were asked for, by source row */
    size_t count;
    struct link *firsts; /* the best of every source row, whatever its score */
    size_t first_count;
};

/* Reads both collections and brings them into one space, without links. The links are zeroed
 * before; links_reset releases them, also after a failure. */
cog_status link_prepare(cog_links *links, struct job *job, cog_documents *const documents[2],
                        const struct lexicon *lexicon, const cog_projection_options *options,
                        cog_error *error);
/* The same, with the links. */
cog_status link_documents(cog_links *links, struct job *job, cog_documents *const documents[2],
                          const struct lexicon *lexicon, const cog_link_options *options,
                          cog_error *error);
/* The last step by itself: scores the candidates and keeps the links that the options ask for. The
 * links are zeroed before. */
cog_status links_choose(cog_links *links, const struct link_candidates *candidates,
                        const cog_link_options *options, unsigned threads, cog_report *report,
                        cog_error *error);
void links_reset(cog_links *links);
/* TSV, JSON lines or numpy records: from, to, similarity, score, probability. */
cog_status links_write(const cog_links *links, cog_output_format format, const char *path,
                       cog_error *error);
/* Reads the linked documents again and writes the sentence pairs of each link
 * (jobs/link/sentences/sentence_pairs.h), each pair of texts once. */
cog_status links_write_sentences(const cog_links *links, struct job *job,
                                 cog_documents *const documents[2],
                                 const cog_sentence_options *options, const char *path,
                                 cog_error *error);

/* Mean cosines of the documents to their nearest; NULL: the cosine itself counts. */
struct link_means {
    const float *from, *to;
};
/* Sets contrast and score from the similarity. */
void links_score(struct link *links, size_t count, struct link_means few, struct link_means many);
/* Keeps the best links of each source row by contrast, brings them to the front by source row, the
 * best first, and sets *count. Ties go to the smaller rows. */
void links_best(struct link *links, size_t *count, size_t per_source);
/* One-to-one links out of the candidates of source rows: the best by contrast is taken first, and
 * each row once. *links are by source row; the caller frees them. `both` are the means of contrast
 * and of score. */
cog_status links_one_to_one(const struct cosine_neighbours *candidates, size_t to_rows,
                            const struct link_means both[2], struct link **links, size_t *count,
                            cog_error *error);
