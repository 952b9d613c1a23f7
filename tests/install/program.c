/* A user's program, built only against the installed header and library. */
#include <cognate.h>
#include <stdio.h>
#include <string.h>

static int report_error(const cog_error *error) {
    fprintf(stderr, "%s: %s\n", cog_status_name(error->status), error->message);
    return 1;
}

int main(void) {
    const char *const texts[] = {
        "the quick brown fox jumps over the lazy dog near the old river bank",
        "the quick brown fox jumps over the lazy dog near the old river bend",
        "one document says nothing of the other and stands alone",
    };
    cog_document items[3];
    cog_documents *documents = NULL;
    cog_pairs *pairs = NULL;
    cog_error error = {COG_OK, 0, NULL, ""};
    cog_pairs_options options;
    memset(items, 0, sizeof items);
    for (int i = 0; i < 3; i++) {
        items[i].text = texts[i];
        items[i].text_size = strlen(texts[i]);
    }
    cog_pairs_options_init(&options, COG_MEASURE_JACCARD);
    if (cog_documents_from_memory(items, 3, &documents, &error) != COG_OK ||
        cog_pairs_find(documents, NULL, &options, NULL, &pairs, NULL, &error) != COG_OK)
        return report_error(&error);
    for (size_t i = 0; i < cog_pairs_count(pairs); i++) {
        cog_pair pair = cog_pairs_get(pairs, i);
        printf("%u %u %.6f\n", pair.a, pair.b, pair.similarity);
    }
    cog_pairs_free(pairs);
    cog_documents_close(documents);
    return strcmp(cog_version(), COG_VERSION) != 0;
}
