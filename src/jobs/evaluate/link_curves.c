#include "jobs/evaluate/link_curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/io/compression.h"
#include "base/io/output.h"
#include "base/memory.h"
#include "base/strings.h"
#include "estimate/interval.h"

static int by_falling_probability(const void *x, const void *y) {
    float a = ((const struct judged_link *)x)->probability;
    float b = ((const struct judged_link *)y)->probability;
    return ORDER(b, a);
}

/* Consecutive links in the order of their probabilities. */
struct link_run {
    double stated;            /* the sum of their probabilities */
    struct share_tally right; /* one trial per link */
};

static void add_link(struct link_run *run, const struct judged_link *link) {
    share_tally_add(&run->right, link->right, 1);
    run->stated += (double)link->probability;
}

/* ---- Pictures -------------------------------------------------------------------------------- */

/* A square of SIDE by SIDE, with room for labels: x from 0 to 1, y from `least` to 1. */
enum { SIDE = 400, LEFT = 60, TOP = 20, STEPS = 5 };

static double svg_x(double x) {
    return LEFT + SIDE * x;
}

static double svg_y(double y, double least) {
    return TOP + SIDE * (1 - y) / (1 - least);
}

static bool append_axes(struct buffer *text, const char *x_name, const char *y_name, double least) {
    bool fits = buffer_printf(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" "
        "fill=\"white\"/>\n<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" "
        "stroke=\"black\"/>\n",
        SIDE + LEFT + 30, SIDE + TOP + 50, LEFT, TOP, SIDE, SIDE);
    for (int i = 0; i <= STEPS && fits; i++) {
        double at = (double)i / STEPS, height = least + at * (1 - least);
        fits = buffer_printf(text,
                             "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.1f</text>\n"
                             "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.*f</text>\n",
                             svg_x(at), TOP + SIDE + 16, at, LEFT - 6, svg_y(height, least) + 4,
                             least > 0.5 ? 2 : 1, height);
    }
    return fits && buffer_printf(text,
                                 "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n"
                                 "<text transform=\"translate(16 %.1f) rotate(-90)\" "
                                 "text-anchor=\"middle\">%s</text>\n",
                                 svg_x(0.5), TOP + SIDE + 36, x_name, svg_y(0.5, 0), y_name);
}

static bool append_stroke(struct buffer *text, double x0, double y0, double x1, double y1,
                          const char *style) {
    return buffer_printf(text, "<path d=\"M%.1f %.1fL%.1f %.1f\" %s/>\n", svg_x(x0), svg_y(y0, 0),
                         svg_x(x1), svg_y(y1, 0), style);
}

/* ---- Calibration ----------------------------------------------------------------------------- */

/* The lower limits of the bins; they are narrow in the range of kept links. */
static const double bin_starts[] = {0,   0.1, 0.2, 0.3,  0.4,  0.5, 0.6,
                                    0.7, 0.8, 0.9, 0.95, 0.98, 0.99};
enum { BINS = sizeof bin_starts / sizeof *bin_starts };

static void fill_bins(const struct link_gold *gold, struct link_run bins[BINS]) {
    for (size_t i = 0; i < gold->link_count; i++) {
        size_t bin = BINS - 1;
        while (bin > 0 && gold->links[i].probability < (float)bin_starts[bin])
            bin--;
        add_link(&bins[bin], &gold->links[i]);
    }
}

static bool append_bin(struct buffer *text, const struct link_run *bins, size_t bin, bool svg) {
    const struct link_run *run = &bins[bin];
    struct measured_share right = measured_share(&run->right);
    double stated = run->stated / (double)run->right.trials;
    if (svg)
        return append_stroke(text, stated, right.low, stated, right.high, "stroke=\"steelblue\"") &&
               buffer_printf(text, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"steelblue\"/>\n",
                             svg_x(stated), svg_y(right.share, 0));
    return buffer_printf(text, "%g,%g,%llu,%llu,%.6f,%.6f,%.6f,%.6f\n", bin_starts[bin],
                         bin + 1 < BINS ? bin_starts[bin + 1] : 1,
                         (unsigned long long)run->right.trials, (unsigned long long)run->right.hits,
                         stated, right.share, right.low, right.high);
}

static bool append_calibration(const struct link_gold *gold, bool svg, struct buffer *text) {
    struct link_run bins[BINS] = {{0}};
    fill_bins(gold, bins);
    bool fits = svg ? append_axes(text, "stated probability", "share of right links", 0) &&
                          append_stroke(text, 0, 0, 1, 1, "stroke=\"silver\"")
                    : buffer_append_text(text, "from,to,links,right,stated,true,low,high\n");
    for (size_t bin = 0; bin < BINS && fits; bin++)
        if (bins[bin].right.trials)
            fits = append_bin(text, bins, bin, svg);
    return fits && (!svg || buffer_append_text(text, "</svg>\n"));
}

/* ---- Precision and recall -------------------------------------------------------------------- */

/* The lower end of the precision axis. Links are rarely bad, so on an axis from 0 the curve would
 * merge with the frame. */
static double least_precision(const struct link_gold *gold) {
    static const double starts[] = {0.95, 0.9, 0.8, 0.5};
    struct link_run run = {0};
    double least = 1;
    for (size_t i = 0; i < gold->link_count; i++) {
        add_link(&run, &gold->links[i]);
        if (i + 1 == gold->link_count ||
            gold->links[i + 1].probability != gold->links[i].probability)
            least = fmin(least, (double)run.right.hits / (double)run.right.trials);
    }
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (starts[i] <= least)
            return starts[i];
    return 0;
}

/* Appends the point for the links with at least this probability. */
static bool append_point(struct buffer *text, const struct link_run *run, double probability,
                         uint64_t known, bool svg, double least) {
    double links = (double)run->right.trials, right = (double)run->right.hits;
    double recall = known ? right / (double)known : 0;
    if (svg)
        return buffer_printf(text, "%.1f,%.1f ", svg_x(recall), svg_y(right / links, least));
    return buffer_printf(text, "%.6f,%.0f,%.0f,%.6f,%.6f,%.6f\n", probability, links, right,
                         right / links, recall, run->stated / links);
}

static bool append_curve(const struct link_gold *gold, bool svg, struct buffer *text) {
    struct link_run run = {0};
    const double least = least_precision(gold);
    bool fits =
        svg ? append_axes(text, "recall", "precision", least) &&
                  buffer_append_text(text, "<polyline fill=\"none\" stroke=\"steelblue\" points=\"")
            : buffer_append_text(text, "probability,links,right,precision,recall,stated\n");
    for (size_t i = 0; i < gold->link_count && fits; i++) {
        float probability = gold->links[i].probability;
        add_link(&run, &gold->links[i]);
        if (i + 1 == gold->link_count || gold->links[i + 1].probability != probability)
            fits = append_point(text, &run, (double)probability, gold->known_count, svg, least);
    }
    return fits && (!svg || buffer_append_text(text, "\"/>\n</svg>\n"));
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* A name that promises a picture of another kind is refused. */
static cog_status check_name(const char *path, cog_error *error) {
    static const char *const others[] = {".png", ".pdf", ".jpg", ".jpeg", ".gif", ".webp", ".eps"};
    for (size_t i = 0; path && i < sizeof others / sizeof *others; i++)
        if (name_ends_in(path, others[i]))
            return error_set(error, COG_ERR_USAGE, "%s: give a name that ends in .svg or .csv",
                             path);
    return COG_OK;
}

static cog_status write_file(const struct link_gold *gold, const char *path,
                             bool (*append)(const struct link_gold *, bool, struct buffer *),
                             cog_error *error) {
    if (!path)
        return COG_OK;
    struct buffer text = {0};
    cog_status status = append(gold, name_ends_in(path, ".svg"), &text)
                            ? output_write_file(path, text.data, text.size, error)
                            : error_memory(error, text.size, "the curve of links");
    buffer_free(&text);
    return status;
}

cog_status link_curves_write(struct link_gold *gold, const char *found, const char *calibration,
                             const char *curve, cog_error *error) {
    size_t without = 0;
    for (size_t i = 0; i < gold->link_count; i++)
        without += isnan(gold->links[i].probability) != 0;
    if (without)
        return error_set(error, COG_ERR_INPUT,
                         "%s: %zu of its %zu link%s %s no probability, which is the fifth column: "
                         "link the documents again",
                         found, without, gold->link_count, plural(gold->link_count, "", "s"),
                         plural(without, "has", "have"));
    TRY(check_name(calibration, error));
    TRY(check_name(curve, error));
    if (gold->link_count)
        qsort(gold->links, gold->link_count, sizeof *gold->links, by_falling_probability);
    TRY(write_file(gold, calibration, append_calibration, error));
    return write_file(gold, curve, append_curve, error);
}
