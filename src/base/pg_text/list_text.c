/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pg_text/list_text.h"

#include "base/json_write.h"

#include <stdlib.h>
#include <string.h>

/* An element of a list: its text, and whether it is null. */
struct element {
    char *text; /* has room for the whole list */
    bool is_null;
};

/* Reads the element that begins at *at, and moves *at to the comma or brace after it. Returns false if it is malformed. */
static bool
read_element(const char **at, struct element *element)
{
    const char *from = *at;
    bool quoted = *from == '"';
    size_t size = 0;

    for (from += quoted; *from != '\0'; from++) {
        if (quoted ? *from == '"' : *from == ',' || *from == '}')
            break;
        if (*from == '{' && !quoted) /* a list of lists */
            return false;
        if (*from == '\\' && from[1] != '\0')
            from++;
        element->text[size++] = *from;
    }
    if (*from == '\0')
        return false;
    element->text[size] = '\0';
    element->is_null = !quoted && strcmp(element->text, "NULL") == 0;
    *at = from + quoted;
    return true;
}

/* Calls add for each element. Returns false if the text is not a list, or if out of memory. */
static bool
walk(struct pw_buf *out, const char *list,
    void (*add)(struct pw_buf *out, const struct element *element, bool first))
{
    struct element element = {.text = malloc(strlen(list) + 1)};
    const char *at = list + 1;
    bool good = element.text != NULL && list[0] == '{';

    if (good && strcmp(at, "}") == 0) {
        free(element.text);
        return true;
    }
    while (good) {
        bool first = at == list + 1;

        good = read_element(&at, &element) && (*at == ',' || strcmp(at, "}") == 0);
        if (!good)
            break;
        add(out, &element, first);
        if (*at++ == '}')
            break;
    }
    free(element.text);
    return good;
}

static void
add_text(struct pw_buf *out, const struct element *element, bool first)
{
    pw_buf_adds(out, first ? "" : ", ");
    pw_buf_adds(out, element->text);
}

static void
add_json(struct pw_buf *out, const struct element *element, bool first)
{
    pw_buf_adds(out, first ? "" : ", ");
    if (element->is_null)
        pw_buf_adds(out, "null");
    else
        pw_json_string(out, element->text, strlen(element->text));
}

void
pw_list_text_write(struct pw_buf *out, const char *list)
{
    struct pw_buf made;

    pw_buf_init(&made, out->max);
    pw_buf_adds(out, walk(&made, list, add_text) && pw_buf_ok(&made) ? pw_buf_text(&made) : list);
    pw_buf_done(&made);
}

void
pw_list_text_write_json(struct pw_buf *out, const char *list)
{
    struct pw_buf made;

    pw_buf_init(&made, out->max);
    if (walk(&made, list, add_json) && pw_buf_ok(&made)) {
        pw_buf_addc(out, '[');
        pw_buf_adds(out, pw_buf_text(&made));
        pw_buf_addc(out, ']');
    } else {
        pw_json_string(out, list, strlen(list));
    }
    pw_buf_done(&made);
}
