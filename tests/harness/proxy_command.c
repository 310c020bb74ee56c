/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scripts can tell the proxy, a line each:
 *
 *   cut before|after TEXT [nth N] [one_in N] [most N]   a rule; TEXT * is in every request
 *   clear                                               no rules
 *   delay MS                                            every answer so much later; 0 for none
 *   normal | blackhole [MS] | hold [MS] | refuse [MS]   the mode, for so long or for good
 *   cut_all                                             cuts every connection now
 *   counts FILE                                         writes "name value" lines; FILE appears when it is complete
 */
#include "harness.h"
#include "proxy.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
    words_max = 10,
    line_bytes = 512
};

/* Splits a line at blanks, in place; returns how many words there are. */
static int
split(char *line, char **words)
{
    int count = 0;

    for (char *at = line; *(at += strspn(at, " \t")) != '\0';) {
        if (count == words_max)
            bench_die("too many words for the proxy");
        words[count++] = at;
        at += strcspn(at, " \t");
        if (*at != '\0')
            *at++ = '\0';
    }
    return count;
}

static void
add_rule(struct proxy *proxy, int count, char **words)
{
    struct proxy_rule rule = {0};

    if (count < 3 || count % 2 == 0)
        bench_die("say: cut before|after TEXT [nth N] [one_in N] [most N]");
    if (strcmp(words[1], "before") == 0)
        rule.when = PROXY_BEFORE;
    else if (strcmp(words[1], "after") == 0)
        rule.when = PROXY_AFTER;
    else
        bench_die("a cut is before or after, not \"%s\"", words[1]);
    rule.text = strcmp(words[2], "*") == 0 ? "" : words[2];
    for (int i = 3; i < count; i += 2) {
        long number = bench_number(words[i + 1], words[i], 1, INT_MAX);

        if (strcmp(words[i], "nth") == 0)
            rule.nth = number;
        else if (strcmp(words[i], "one_in") == 0)
            rule.one_in = (unsigned)number;
        else if (strcmp(words[i], "most") == 0)
            rule.cuts_max = number;
        else
            bench_die("a cut knows no \"%s\"", words[i]);
    }
    (void)proxy_rule_add(proxy, &rule);
}

static void
write_counts(struct proxy *proxy, const char *path)
{
    struct proxy_counts counts = proxy_counts(proxy);
    char new[PATH_MAX];
    FILE *file;

    if ((size_t)snprintf(new, sizeof(new), "%s.new", path) >= sizeof(new))
        bench_die("too long a name of a file");
    file = fopen(new, "w");
    if (file == NULL)
        bench_die("cannot write \"%s\": error %d", new, errno);
    (void)fprintf(file, "open %ld\nconnections %ld\nunreachable %ld\nrequests %ld\nanswers %ld\n",
        counts.open, counts.connections, counts.unreachable, counts.requests, counts.answers);
    (void)fprintf(file, "cuts_before %ld\ncuts_after %ld\ncuts_by_hand %ld\nswallowed_bytes %ld\n",
        counts.cuts_before, counts.cuts_after, counts.cuts_by_hand, counts.swallowed_bytes);
    if (ferror(file) != 0 || fclose(file) != 0 || rename(new, path) != 0)
        bench_die("cannot write \"%s\"", path);
}

/* Whether the word is a mode; sets it. */
static bool
change_mode(struct proxy *proxy, const char *word, const char *duration)
{
    static const char *const names[] = {
        [PROXY_NORMAL] = "normal",
        [PROXY_BLACKHOLE] = "blackhole",
        [PROXY_HOLD] = "hold",
        [PROXY_REFUSE] = "refuse",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(word, names[i]) == 0) {
            long for_ms = duration != NULL ? bench_number(duration, word, 1, INT_MAX) : 0;

            proxy_mode(proxy, (enum proxy_mode)i, (int)for_ms);
            return true;
        }
    }
    return false;
}

void
proxy_command(struct proxy *proxy, const char *line)
{
    char copy[line_bytes];
    char *words[words_max] = {NULL};
    int count;

    if ((size_t)snprintf(copy, sizeof(copy), "%s", line) >= sizeof(copy))
        bench_die("too long a line for the proxy");
    count = split(copy, words);
    if (count == 0)
        return;
    if (strcmp(words[0], "cut") == 0)
        add_rule(proxy, count, words);
    else if (strcmp(words[0], "clear") == 0 && count == 1)
        proxy_rules_clear(proxy);
    else if (strcmp(words[0], "delay") == 0 && count == 2)
        proxy_delay(proxy, (int)bench_number(words[1], "delay", 0, INT_MAX));
    else if (strcmp(words[0], "cut_all") == 0 && count == 1)
        proxy_cut_all(proxy);
    else if (strcmp(words[0], "counts") == 0 && count == 2)
        write_counts(proxy, words[1]);
    else if (count > 2 || !change_mode(proxy, words[0], words[1]))
        bench_die("the proxy does not understand \"%s\"", line);
}
