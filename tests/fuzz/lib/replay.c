/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver of a target where there is no libFuzzer: gives it every file of the directories that are named, each in a block of memory that ends
 * where the file ends, so that the address sanitizer sees what reads beyond; and every beginning of the shorter ones.
 */
#include "fuzz.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    INPUT_MAX = 1024 * 1024,
    CUT_MAX = 256, /* inputs up to here are given in all their lengths */
};

int LLVMFuzzerInitialize(int *argc, char ***argv);

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static char shown[4096]; /* the file that is being given */

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
give_file(const char *path)
{
    static char data[INPUT_MAX];
    FILE *file = fopen(path, "re");
    size_t size;

    fuzz_check(file != NULL, "a file of the corpus cannot be read");
    size = fread(data, 1, sizeof(data), file);
    (void)fclose(file);
    (void)snprintf(shown, sizeof(shown), "%s", path);
    give(data, size);
    for (size_t cut = 0; size <= CUT_MAX && cut < size; cut++)
        give(data, cut);
}

static int
compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Gives all files of a directory, in the order of their names; returns how many. */
static size_t
give_directory(const char *path)
{
    DIR *directory = opendir(path);
    char **names = NULL;
    size_t count = 0;

    fuzz_check(directory != NULL, "no corpus");
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        char name[4096];

        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        names = realloc(names, (count + 1) * sizeof(*names));
        fuzz_check(names != NULL, "out of memory");
        names[count] = strdup(name);
        fuzz_check(names[count++] != NULL, "out of memory");
    }
    (void)closedir(directory);
    if (count > 0)
        qsort(names, count, sizeof(*names), compare);
    for (size_t i = 0; i < count; i++) {
        give_file(names[i]);
        free(names[i]);
    }
    free(names);
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
        count += give_directory(argv[i]);
    shown[0] = '\0';
    printf("%zu files\n", count);
    return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
