/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver of a target where there is no libFuzzer: gives it every input of the corpus files that are named, each in a block of memory that ends
 * where the input ends, so that the address sanitizer sees what reads beyond; and every beginning of the shorter ones.
 */
#include "corpus.h"
#include "fuzz.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CUT_MAX = 256, /* inputs up to here are given in all their lengths */
};

int LLVMFuzzerInitialize(int *argc, char ***argv);

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static char shown[4096]; /* the input that is being given, as FILE:LINE */

static void
give(const char *data, size_t size)
{
    uint8_t *block = malloc(size > 0 ? size : 1);

    fuzz_check(block != NULL, "out of memory");
    memcpy(block, data, size);
    (void)LLVMFuzzerTestOneInput(block, size);
    free(block);
}

static void
give_entry(const struct fuzz_entry *entry)
{
    give(entry->data, entry->size);
    for (size_t cut = 0; entry->size <= CUT_MAX && cut < entry->size; cut++)
        give(entry->data, cut);
}

/* Gives all inputs of a corpus; returns how many. */
static size_t
give_corpus(const char *path)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    size_t count = 0;

    fuzz_check(file != NULL, "no corpus");
    for (ssize_t size = getline(&line, &room, file); size > 0; size = getline(&line, &room, file)) {
        struct fuzz_entry entry;

        (void)snprintf(shown, sizeof(shown), "%s:%zu", path, ++count);
        fuzz_check(line[size - 1] == '\n' && fuzz_corpus_line(line, (size_t)size - 1, &entry),
            "a line of the corpus is malformed");
        give_entry(&entry);
    }
    (void)fclose(file);
    free(line);
    return count;
}

/* What the program died of is told by name. */
static void
tell(void)
{
    if (shown[0] == '\0')
        return;
    (void)!write(STDERR_FILENO, "fuzz: it was ", 13);
    (void)!write(STDERR_FILENO, shown, strlen(shown));
    (void)!write(STDERR_FILENO, ", or a beginning of it\n", 23);
}

static void
die_of_signal(int number)
{
    tell();
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

int
main(int argc, char **argv)
{
    size_t count = 0;

    (void)LLVMFuzzerInitialize(&argc, &argv);
    if (__sanitizer_set_death_callback != NULL) {
        __sanitizer_set_death_callback(tell);
    } else {
        (void)signal(SIGSEGV, die_of_signal);
        (void)signal(SIGABRT, die_of_signal);
    }
    for (int i = 1; i < argc; i++)
        count += give_corpus(argv[i]);
    shown[0] = '\0';
    printf("%zu inputs\n", count);
    return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
