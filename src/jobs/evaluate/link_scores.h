/* Evaluates links against known links: how many are right, how many of the known links are found,
 * and how often the first choice of a source is right. link_curves.h evaluates the probabilities.
 *
 * Known links come from a file of two columns (source id TAB target id, escaped as in results) or
 * from a MediaWiki dump whose pages name their partners. Ids are stored as hashes: 16 bytes per
 * known link, 24 per judged link. */
#pragma once

#include "jobs/link/link_job.h"

/* Zero-initialise; link_gold_free releases. */
struct link_gold {
    struct known_link {
        uint64_t from, to;
    } * known; /* sorted and distinct once reading is complete */
    size_t known_count, known_capacity;
    struct judged_link {
        uint64_t from;
        double score;
        float probability; /* NaN: unknown */
        bool right;
    } * links;
    size_t link_count, link_capacity;
    uint64_t right_firsts, judged;
    uint64_t absent;       /* number of known links between documents that do not exist */
    uint64_t memory_bytes; /* maximum; 0: no limit */
};
void link_gold_free(struct link_gold *gold);

/* Adds the known links of a file. A source may have several partners; repeated links count once. */
cog_status link_gold_read(struct link_gold *gold, const char *path, cog_error *error);
/* Judges a link of the result or, with is_first, the first choice of a source document. An unknown
 * probability is NaN. */
cog_status link_gold_take(struct link_gold *gold, struct bytes_view from, struct bytes_view to,
                          double score, float probability, bool is_first, cog_error *error);
void link_gold_scores(struct link_gold *gold, cog_link_scores *scores);

/* Evaluates links in memory. An id in the file that does not occur on its side is tried as the
 * title of a wiki page: lists of language links write titles with underscores. */
cog_status evaluate_links(const cog_links *links, const char *gold_path, cog_link_scores *scores,
                          cog_error *error);
/* Evaluates a file written by `cognate link`. With dumps (of both languages; otherwise NULL),
 * gold_path is a wiki's table of language links (wiki_gold.h). Writes calibration and curve
 * (link_curves.h) to the files of these names unless NULL. */
cog_status evaluate_link_file(const char *found, const char *gold_path, const char *const dumps[2],
                              const char *calibration, const char *curve, uint64_t memory_bytes,
                              cog_link_scores *scores, cog_error *error);
