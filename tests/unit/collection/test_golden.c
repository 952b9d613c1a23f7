/* From text to bits: the same texts give the same signatures in every build. If this fails after a
 * library was updated, the versions that files record must have changed as well. */
#include "base/hash.h"
#include "collection/options.h"
#include "test.h"

static const char *const texts[] = {
    "The quick brown foxes were jumping over the lazy dogs; nationalities don't matter to them.",
    "Die H\xc3\xa4user der Stra\xc3\x9f"
    "e wurden verkauft, und niemand fragte die Bewohner danach.",
    "\xe6\x9d\xb1\xe4\xba\xac\xe9\x83\xbd\xe3\x81\xaf\xe6\x97\xa5\xe6\x9c\xac\xe3\x81\xae"
    "\xe9\xa6\x96\xe9\x83\xbd\xe3\x81\xa7\xe3\x81\x99",
    "Cafe\xcc\x81 \xef\xbc\xa1\xef\xbc\xa2 na\xc3\xafve co-operate 3,141.59 \xf0\x9f\x98\x80"};
static const char *const languages[] = {"en", "de", "ja", "fr"};

static uint64_t hash_of_signatures(cog_signature_kind kind, cog_tokens tokens) {
    enum { TEXTS = sizeof texts / sizeof *texts };
    cog_document items[TEXTS];
    cog_documents *documents = NULL;
    cog_sign_options options;
    cog_sign_outputs outputs = {.signatures = test_path("golden.npy")};
    for (size_t i = 0; i < TEXTS; i++)
        items[i] = (cog_document){
            .text = texts[i], .text_size = strlen(texts[i]), .lang = languages[i], .lang_size = 2};
    cog_sign_options_init(&options, kind);
    options.terms.tokens = tokens;
    options.signature.bits = 512;
    options.weights.min_collection_frequency = 0;
    uint64_t hash = 0;
    if (cog_documents_from_memory(items, TEXTS, &documents, NULL) == COG_OK &&
        cog_sign(documents, &options, NULL, &outputs, NULL, NULL, NULL) == COG_OK) {
        char bytes[4096];
        FILE *file = fopen(outputs.signatures, "rb");
        size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
        hash = hash_bytes(bytes, size);
        if (file)
            fclose(file);
    }
    cog_documents_close(documents);
    return hash;
}

TEST(golden_texts_have_their_bits) {
    static const struct {
        cog_signature_kind kind;
        cog_tokens tokens;
        uint64_t hash;
    } known[] = {{COG_SIGNATURE_RP, COG_TOKENS_WORDS, 0xce81a10a89d1da20},
                 {COG_SIGNATURE_SIMHASH, COG_TOKENS_WORDS, 0x91b826758573fdae},
                 {COG_SIGNATURE_TOPSIG, COG_TOKENS_REGEX, 0xa5b6559706684e00},
                 {COG_SIGNATURE_MINHASH, COG_TOKENS_CHARS, 0x58d1c876280c978c}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        uint64_t hash = hash_of_signatures(known[i].kind, known[i].tokens);
        CHECK_MSG(hash == known[i].hash, "%zu: 0x%016llx", i, (unsigned long long)hash);
    }
}

TEST(files_made_with_other_text_libraries_are_refused) {
    cog_sign_options options, read;
    struct settings settings = {0};
    const char *versions;
    cog_error failure = {0};
    cog_sign_options_init(&options, COG_SIGNATURE_RP);
    CHECK_OK(options_record_signing(&options, &settings, error));
    CHECK(settings_get_text(&settings, "versions of text libraries", &versions));
    CHECK_MSG(strstr(versions, "icu ") && strstr(versions, " unicode ") &&
                  strstr(versions, " stemmer ") && strstr(versions, " stop words ") &&
                  strstr(versions, " detector "),
              "%s", versions);
    CHECK_OK(options_read_signing(&settings, &read, error));
    CHECK_OK(
        settings_set_text(&settings, "versions of text libraries", "icu 3 unicode 4.1", error));
    CHECK(options_read_signing(&settings, &read, &failure) == COG_ERR_FORMAT);
    CHECK(strstr(failure.message, "icu 3") && strstr(failure.message, "make it again"));
    struct cog_statistics statistics = {.terms = settings};
    CHECK(options_check_statistics(&options.terms, &statistics, &failure) == COG_ERR_USAGE);
    settings_free(&settings);
    options.terms.tokens = COG_TOKENS_CHARS; /* only ICU decides about characters */
    CHECK_OK(options_record_terms(&options.terms, &settings, error));
    CHECK(settings_get_text(&settings, "versions of text libraries", &versions));
    CHECK(!strstr(versions, "stemmer") && !strstr(versions, "detector"));
    settings_free(&settings);
}
