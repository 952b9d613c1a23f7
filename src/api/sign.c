/* Signing, and signatures that exist already: the public functions. */
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/memory.h"
#include "collection/row_signer.h"
#include "input/documents/text_bytes.h"
#include "input/npy.h"
#include "input/reader.h"
#include "jobs/sign/sign_job.h"

cog_status cog_sign(cog_documents *documents, const cog_sign_options *options,
                    const cog_statistics *statistics, const cog_sign_outputs *outputs,
                    const cog_run_options *run, cog_report *report, cog_error *error) {
    TRY(check_given(documents, "documents", error));
    TRY(check_given(options, "options", error));
    TRY(check_given(outputs, "outputs", error));
    TRY(check_given(outputs->signatures, "the path of signatures", error));
    struct job job;
    job_begin(&job, run, report);
    cog_status status = sign_documents(&job, documents, options, statistics, outputs, error);
    job_end(&job);
    return status;
}

/* Moves the rows of `size` bytes that lie one after the other to their positions; rows of skipped
 * documents become zeros. */
static void spread_rows(void *memory, size_t size, size_t rows, const uint64_t *skipped,
                        size_t skipped_count) {
    char *bytes = memory;
    size_t from = rows - skipped_count;
    for (size_t to = rows; bytes && to-- > 0 && skipped_count;) {
        bool is_skipped = skipped[skipped_count - 1] == to;
        if (is_skipped)
            memset(bytes + to * size, 0, size);
        else
            memmove(bytes + to * size, bytes + --from * size, size);
        skipped_count -= is_skipped;
    }
}

cog_status cog_sign_rows(cog_documents *documents, const cog_sign_options *options,
                         const cog_statistics *statistics, const cog_sign_buffers *buffers,
                         const cog_run_options *run, cog_report *report, cog_error *error) {
    TRY(check_given(documents, "documents", error));
    TRY(check_given(options, "options", error));
    TRY(check_given(buffers, "buffers", error));
    const size_t rows = cog_documents_count(documents);
    if (rows)
        TRY(check_given(buffers->signatures, "the memory of signatures", error));
    if (buffers->rows != rows)
        return error_set(error, COG_ERR_USAGE,
                         "memory for %zu rows and %zu documents in memory: give a row for each; "
                         "documents of files are signed into files",
                         buffers->rows, rows);
    struct job job;
    size_t documents_signed = 0;
    const uint64_t *skipped = NULL;
    job_begin(&job, run, report);
    cog_status status =
        sign_into_buffers(&job, documents, options, statistics, buffers, &documents_signed, error);
    job_end(&job);
    if (status != COG_OK)
        return status;
    size_t skipped_count = cog_documents_skipped(documents, &skipped);
    if (documents_signed + skipped_count != rows)
        return error_set(error, COG_ERR_INPUT, "the documents changed while they were signed");
    spread_rows(buffers->signatures, options->signature.bits / 8, rows, skipped, skipped_count);
    spread_rows(buffers->margins, options->signature.bits * sizeof(float), rows, skipped,
                skipped_count);
    spread_rows(buffers->term_counts, sizeof(uint32_t), rows, skipped, skipped_count);
    return COG_OK;
}

/* ---- One text at a time ---------------------------------------------------------------------- */

struct cog_signer {
    struct text_signer text_signer;
    struct text_signer_scratch scratch;
    struct analyzer *analyzer;
    struct bag_counter *counter;
    struct term_list terms;
    uint8_t *padded; /* a signature with its padding */
};

cog_status cog_signer_create(const cog_sign_options *options, const cog_statistics *statistics,
                             cog_signer **result, cog_error *error) {
    struct term_options terms;
    TRY(check_given(options, "options", error));
    TRY(check_given(result, "signer", error));
    TRY(options_terms(&options->terms, &terms, error));
    cog_signer *signer;
    TAKE_ZEROED(signer, 1, "a signer", error);
    cog_status status =
        statistics ? options_check_statistics(&options->terms, statistics, error) : COG_OK;
    THEN(status, text_signer_init(&signer->text_signer, options,
                                  statistics ? statistics->counts : NULL, error));
    THEN(status, text_signer_scratch_init(&signer->scratch, &signer->text_signer, error));
    THEN(status, analyzer_create(&terms, &signer->analyzer, error));
    THEN(status, bag_counter_create(&signer->counter, error));
    THEN(status, TAKEN(signer->padded, SIGNATURE_MAX_BITS / 8, "a signature", error));
    return HAND_OUT(status, signer, cog_signer_free, result);
}

void cog_signer_free(cog_signer *signer) {
    if (!signer)
        return;
    text_signer_reset(&signer->text_signer);
    text_signer_scratch_reset(&signer->scratch);
    analyzer_free(signer->analyzer);
    bag_counter_free(signer->counter);
    term_list_free(&signer->terms);
    free(signer->padded);
    free(signer);
}

size_t cog_signer_signature_bytes(const cog_signer *signer) {
    return (signer_options(signer->text_signer.signer)->bits + 7) / 8;
}

cog_status cog_signer_sign(cog_signer *signer, const char *text, size_t text_size, const char *lang,
                           uint8_t *signature, float *weights, size_t *term_count,
                           cog_error *error) {
    TRY(check_given(signer, "signer", error));
    TRY(check_given(text, "text", error));
    TRY(check_given(signature, "signature", error));
    if (!utf8_is_valid(text, text_size))
        return error_set(error, COG_ERR_INPUT, "the text is not valid UTF-8");
    struct bytes_view language = view_of(lang, lang ? strlen(lang) : 0);
    struct bag_view bag = {0};
    size_t terms = 0;
    cog_status status =
        analyzer_run(signer->analyzer, view_of(text, text_size), language, &signer->terms, error);
    if (status == COG_OK && text_signer_wants_bags(&signer->text_signer))
        status = bag_count(signer->counter, signer->terms.hashes, signer->terms.count, &bag, error);
    THEN(status, text_signer_sign(&signer->text_signer, &signer->scratch, &signer->terms, &bag,
                                  signer->padded, weights, &terms, error));
    if (status != COG_OK)
        return status;
    memcpy(signature, signer->padded, cog_signer_signature_bytes(signer));
    if (term_count)
        *term_count = terms;
    return COG_OK;
}

/* ---- Signatures that exist already ----------------------------------------------------------- */

bool cog_is_signature_file(cog_format format, const char *path) {
    return format == COG_FORMAT_NPY ||
           (format == COG_FORMAT_AUTO && input_format_of_name(path) == INPUT_NPY);
}

cog_status cog_signatures_open(const char *path, cog_signatures **result, cog_error *error) {
    cog_signatures *signatures = NULL;
    TRY(check_given(path, "path", error));
    TRY(check_given(result, "signatures", error));
    TAKE_ZEROED(signatures, 1, "signatures", error);
    cog_status status = npy_signatures_open(path, &signatures->file, error);
    return HAND_OUT(status, signatures, cog_signatures_free, result);
}

cog_status cog_signatures_from_memory(const uint8_t *data, size_t rows, unsigned bits,
                                      cog_signatures **result, cog_error *error) {
    cog_signatures *signatures = NULL;
    TRY(check_given(result, "signatures", error));
    if (bits == 0 || bits % 8 || bits > SIGNATURE_MAX_BITS)
        return error_set(error, COG_ERR_USAGE,
                         "signatures of %u bits: choose a multiple of 8 up to %d", bits,
                         SIGNATURE_MAX_BITS);
    if (rows)
        TRY(check_given(data, "data", error));
    TAKE_ZEROED(signatures, 1, "signatures", error);
    size_t stride = signature_stride_bytes(bits), packed = bits / 8;
    struct npy_signatures *file = &signatures->file;
    file->view = (struct signatures_view){data, rows, bits, stride};
    if (stride != packed || (uintptr_t)data % 8) {
        file->copy = memory_zeroed_array(rows, stride);
        if (!file->copy) {
            cog_signatures_free(signatures);
            return error_memory(error, rows * stride, "signatures");
        }
        for (size_t row = 0; row < rows; row++)
            memcpy(file->copy + row * stride, data + row * packed, packed);
        file->view.data = file->copy;
    }
    *result = signatures;
    return COG_OK;
}

void cog_signatures_free(cog_signatures *signatures) {
    if (!signatures)
        return;
    npy_signatures_close(&signatures->file);
    free(signatures);
}

size_t cog_signatures_rows(const cog_signatures *signatures) {
    return signatures->file.view.rows;
}

unsigned cog_signatures_bits(const cog_signatures *signatures) {
    return signatures->file.view.bits;
}
