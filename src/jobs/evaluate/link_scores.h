/* Links measured against known links: how many are right, how many of the known links are found,
 * and how often the first choice of a source is right. link_curves.h has what the probabilities of
 * links are worth.
 *
 * Known links come from a file of two columns (source id TAB target id, escaped as results are) or
 * from a MediaWiki dump whose pages name their partners. Ids are kept as hashes: 16 bytes per known
 * link, 24 per link that is judged. */
#pragma once

#include "jobs/link/link_job.h"

/* Zero-initialise; link_gold_free releases. */
struct link_gold {
    struct known_link {
        uint64_t from, to;
    } * known; /* sorted, each once, when reading is over */
    size_t known_count, known_capacity;
    struct judged_link {
        uint64_t from;
        double score;
        float probability; /* NaN: not known */
        bool right;
    } * links;
    size_t link_count, link_capacity;
    uint64_t right_firsts, judged;
    uint64_t absent;       /* known links between documents that are not there */
    uint64_t memory_bytes; /* may be used at most; 0: any */
};
void link_gold_free(struct link_gold *gold);

/* Adds the known links of a file. A source may have several partners; a link that is listed twice
 * counts once. */
cog_status link_gold_read(struct link_gold *gold, const char *path, cog_error *error);
/* Judges one link of the result or, with is_first, the first choice for a source document. A link
 * whose probability is not known has a NaN. */
cog_status link_gold_take(struct link_gold *gold, struct bytes_view from, struct bytes_view to,
                          double score, float probability, bool is_first, cog_error *error);
void link_gold_scores(struct link_gold *gold, cog_link_scores *scores);

/* Of links in memory. An id that the file has and its side does not have is taken for the title of
 * a wiki page: lists of language links write titles with underscores. */
cog_status evaluate_links(const cog_links *links, const char *gold_path, cog_link_scores *scores,
                          cog_error *error);
/* Of a file that `cognate link` wrote. With dumps (of both languages; else NULL), gold_path is a
 * wiki's table of language links (wiki_gold.h). Calibration and curve (link_curves.h) go to the
 * files of these names, or to none if they are NULL. */
cog_status evaluate_link_file(const char *found, const char *gold_path, const char *const dumps[2],
                              const char *calibration, const char *curve, uint64_t memory_bytes,
                              cog_link_scores *scores, cog_error *error);
