/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/crontab.h"

#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

static const char blanks[] = " \t\r";

static bool
is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* "NAME = value", "NAME='value'". Returns false if the line is something else. */
static bool
read_setting(struct crontab_line *line, char *text)
{
    char *at = text;
    char *end;
    size_t size;

    if (!is_name_start(*at))
        return false;
    while (is_name_start(*at) || (*at >= '0' && *at <= '9'))
        at++;
    end = at;
    at += strspn(at, blanks);
    if (*at != '=')
        return false;
    at++;
    at += strspn(at, blanks);
    *end = '\0';
    size = strlen(at);
    while (size > 0 && strchr(blanks, at[size - 1]) != NULL)
        at[--size] = '\0';
    if (size >= 2 && (at[0] == '"' || at[0] == '\'') && at[size - 1] == at[0]) {
        at[size - 1] = '\0';
        at++;
    }
    line->kind = CRONTAB_SETTING;
    line->name = text;
    line->command = at;
    return true;
}

/* Takes the next word out of *at and ends it with a NUL. Returns NULL if there is none. */
static char *
take_word(char **at)
{
    char *word = *at + strspn(*at, blanks);
    size_t size = strcspn(word, blanks);

    if (size == 0)
        return NULL;
    *at = word + size;
    if (**at != '\0')
        *(*at)++ = '\0';
    return word;
}

/* Copies the fields into cron. Returns false if one is missing or they are too long. */
static bool
take_fields(struct crontab_line *line, char **at, size_t count)
{
    size_t size = 0;

    for (size_t i = 0; i < count; i++) {
        const char *word = take_word(at);
        int written;

        if (word == NULL)
            return false;
        written =
            snprintf(line->cron + size, sizeof(line->cron) - size, "%s%s", i > 0 ? " " : "", word);
        if (written < 0 || (size_t)written >= sizeof(line->cron) - size)
            return false;
        size += (size_t)written;
    }
    return true;
}

/* Splits the command at its first %: \% is a percent sign, and further ones are newlines. */
static void
split_command(struct crontab_line *line)
{
    char *out = line->command;

    for (const char *at = line->command; *at != '\0'; at++) {
        if (*at == '\\' && at[1] == '%')
            *out++ = *++at;
        else if (*at != '%')
            *out++ = *at;
        else if (line->input != NULL)
            *out++ = '\n';
        else {
            *out++ = '\0';
            line->input = out;
        }
    }
    *out = '\0';
}

static void
refuse(struct crontab_line *line, const char *problem)
{
    line->kind = CRONTAB_REFUSED;
    line->problem = problem;
}

void
crontab_read(struct crontab_line *line, char *text, bool system)
{
    char *at = text + strspn(text, blanks);

    *line = (struct crontab_line){.kind = CRONTAB_NOTHING};
    if (*at == '\0' || *at == '#' || read_setting(line, at))
        return;
    line->kind = CRONTAB_JOB;
    if (strncmp(at, "@reboot", 7) == 0) {
        refuse(line, "a schedule knows no reboot: start it as a service of the machine");
        return;
    }
    if (!take_fields(line, &at, *at == '@' ? 1 : 5)) {
        refuse(line, "the line has no five fields, or they are too long");
        return;
    }
    if (system && (line->user = take_word(&at)) == NULL) {
        refuse(line, "the line has no user");
        return;
    }
    at += strspn(at, blanks);
    if (*at == '\0') {
        refuse(line, "the line has no command");
        return;
    }
    line->command = at;
    split_command(line);
}

/* Adds a part that most lines do not have. An empty text and a letter before it keep it apart from other parts. */
static void
add_part(struct pw_sha256_state *hash, char letter, const char *part)
{
    const char before[] = {'\0', letter};

    if (part == NULL)
        return;
    pw_sha256_add(hash, before, sizeof(before));
    pw_sha256_add(hash, part, strlen(part) + 1);
}

void
crontab_name(const struct crontab_line *line, const char *zone, char name[static CRONTAB_WORD_SIZE])
{
    enum {
        PART = 40,
        DIGITS = 4, /* bytes of the digest, two hexadecimal digits each */
    };
    uint8_t digest[PW_SHA256_SIZE];
    struct pw_sha256_state hash;
    const char *first = line->command;
    size_t size = strcspn(first, blanks);
    size_t used = 0;

    pw_sha256_init(&hash);
    pw_sha256_add(&hash, line->cron, strlen(line->cron) + 1);
    pw_sha256_add(&hash, line->command, strlen(line->command) + 1);
    if (line->input != NULL)
        pw_sha256_add(&hash, line->input, strlen(line->input) + 1);
    add_part(&hash, 'u', line->user);
    add_part(&hash, 'z', zone);
    pw_sha256_end(&hash, digest);
    for (size_t i = 0; i < size; i++)
        if (first[i] == '/' && i + 1 < size)
            used = i + 1;
    first += used;
    size = size - used < PART ? size - used : PART;
    used = 0;
    for (size_t i = 0; i < size; i++) {
        char c = first[i];

        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        name[used++] = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ? c : '-';
    }
    name[used++] = '-';
    for (size_t i = 0; i < DIGITS; i++)
        used += (size_t)snprintf(name + used, CRONTAB_WORD_SIZE - used, "%02x", digest[i]);
}
