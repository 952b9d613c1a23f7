#include "two_languages.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

cog_status two_languages_train(int vocabulary, cog_lexicon **lexicon, cog_error *error) {
    const char *path = test_path("two_languages.tsv");
    cog_lexicon_options options;
    FILE *file = fopen(path, "w");
    for (int w = 0; file && w < vocabulary; w++)
        fprintf(file, "Fq%dx\tTz%dy\nFq%dx\tTz%dy\n", w, w, w, w);
    if (file)
        fclose(file);
    cog_lexicon_options_init(&options);
    options.from = "de";
    options.to = "en";
    options.terms.stem = false;
    return cog_lexicon_train(&path, 1, &options, NULL, lexicon, NULL, error);
}

cog_status two_languages_read(const char *texts, size_t stride, size_t count, cog_document *items,
                              cog_documents **documents, cog_error *error) {
    for (size_t i = 0; i < count; i++, texts += stride)
        items[i] = (cog_document){.text = texts, .text_size = strlen(texts)};
    return cog_documents_from_memory(items, count, documents, error);
}
