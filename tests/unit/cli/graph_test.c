/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs as text. */
#include "cli/flow/graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    NODES_MAX = 600,
    EDGES_MAX = 4000,
};

static struct {
    struct graph_node nodes[NODES_MAX];
    struct graph_edge edges[EDGES_MAX];
    char names[NODES_MAX][64];
    struct graph graph;
} made;

static size_t
find_node(const char *name, size_t size)
{
    for (size_t i = 0; i < made.graph.node_count; i++)
        if (strlen(made.names[i]) == size && strncmp(made.names[i], name, size) == 0)
            return i;
    fail_msg("no node %.*s", (int)size, name);
    return 0;
}

static void
add_edge(size_t from, size_t to)
{
    assert_true(made.graph.edge_count < EDGES_MAX);
    made.edges[made.graph.edge_count++] = (struct graph_edge){from, to};
}

static size_t
add_node(const char *name, size_t size)
{
    size_t at = made.graph.node_count++;

    assert_true(at < NODES_MAX);
    (void)snprintf(made.names[at], sizeof(made.names[at]), "%.*s", (int)size, name);
    made.nodes[at] = (struct graph_node){.name = made.names[at]};
    return at;
}

static void
begin(void)
{
    made.graph = (struct graph){.nodes = made.nodes, .edges = made.edges};
}

/* "a b<a c<a d<b,c": nodes, and what each depends on. */
static void
make(const char *text)
{
    begin();
    while (*text != '\0') {
        size_t size = strcspn(text, " <");
        size_t node = add_node(text, size);

        text += size;
        while (*text == '<' || *text == ',') {
            size = strcspn(++text, " ,");
            add_edge(find_node(text, size), node);
            text += size;
        }
        text += strspn(text, " ");
    }
}

static char *
draw(size_t columns, bool utf8)
{
    struct graph_look look = {.columns = columns, .utf8 = utf8};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_true(graph_print(out, &made.graph, &look));
    assert_int_equal(fclose(out), 0);
    return text;
}

/* With GRAPH_TEST_SHOW set, shows all drawings, for people to judge. */
static void
check_made(size_t columns, bool utf8, const char *expected)
{
    char *text = draw(columns, utf8);

    if (getenv("GRAPH_TEST_SHOW") != NULL)
        (void)fprintf(stderr, "%s\f", text);
    else
        assert_string_equal(text, expected);
    free(text);
}

static void
check(const char *nodes, const char *expected)
{
    make(nodes);
    check_made(80, true, expected);
}

static void
boxes_stand_below_what_they_depend_on(void **state)
{
    (void)state;
    check("a",
        "┌───┐\n"
        "│ a │\n"
        "└───┘\n");
    check("fetch store<fetch",
        "┌───────┐\n"
        "│ fetch │\n"
        "└───┬───┘\n"
        "    │\n"
        "┌───┴───┐\n"
        "│ store │\n"
        "└───────┘\n");
    check("fetch sentiment<fetch summary<fetch report<sentiment,summary",
        "         ┌───────┐\n"
        "         │ fetch │\n"
        "         └───┬───┘\n"
        "      ┌──────┴──────┐\n"
        "┌─────┴─────┐  ┌────┴────┐\n"
        "│ sentiment │  │ summary │\n"
        "└─────┬─────┘  └────┬────┘\n"
        "      └──────┬──────┘\n"
        "        ┌────┴────┐\n"
        "        │ report  │\n"
        "        └─────────┘\n");
}

static void
several_roots_and_leaves(void **state)
{
    (void)state;
    check("a b c<a,b d<c e<c",
        "┌───┐  ┌───┐\n"
        "│ a │  │ b │\n"
        "└─┬─┘  └─┬─┘\n"
        "  └───┬──┘\n"
        "    ┌─┴─┐\n"
        "    │ c │\n"
        "    └─┬─┘\n"
        "   ┌──┴───┐\n"
        " ┌─┴─┐  ┌─┴─┐\n"
        " │ d │  │ e │\n"
        " └───┘  └───┘\n");
    check("a b",
        "┌───┐  ┌───┐\n"
        "│ a │  │ b │\n"
        "└───┘  └───┘\n");
    check("a b c d e<a,b,c,d",
        "┌───┐  ┌───┐  ┌───┐  ┌───┐\n"
        "│ a │  │ b │  │ c │  │ d │\n"
        "└─┬─┘  └─┬─┘  └─┬─┘  └─┬─┘\n"
        "  └──────┴───┬──┴──────┘\n"
        "           ┌─┴─┐\n"
        "           │ e │\n"
        "           └───┘\n");
    check("a x b<a c<b d<c,x",
        "       ┌───┐\n"
        "       │ a │\n"
        "       └─┬─┘\n"
        "         │\n"
        "       ┌─┴─┐\n"
        "       │ b │\n"
        "       └─┬─┘\n"
        "         │\n"
        "┌───┐  ┌─┴─┐\n"
        "│ x │  │ c │\n"
        "└─┬─┘  └─┬─┘\n"
        "  └───┬──┘\n"
        "    ┌─┴─┐\n"
        "    │ d │\n"
        "    └───┘\n");
}

static void
lines_that_pass_a_layer(void **state)
{
    (void)state;
    check("a b<a c<a,b",
        "  ┌───┐\n"
        "  │ a │\n"
        "  └─┬─┘\n"
        "  ┌─┴──┐\n"
        "┌─┴─┐  │\n"
        "│ b │  │\n"
        "└─┬─┘  │\n"
        "  └───┬┘\n"
        "    ┌─┴─┐\n"
        "    │ c │\n"
        "    └───┘\n");
    check("a b<a c<b d<c,a",
        "  ┌───┐\n"
        "  │ a │\n"
        "  └─┬─┘\n"
        "  ┌─┴──┐\n"
        "┌─┴─┐  │\n"
        "│ b │  │\n"
        "└─┬─┘  │\n"
        "  │    │\n"
        "┌─┴─┐  │\n"
        "│ c │  │\n"
        "└─┬─┘  │\n"
        "  └───┬┘\n"
        "    ┌─┴─┐\n"
        "    │ d │\n"
        "    └───┘\n");
    check("extract clean<extract load<clean audit<extract,load",
        "  ┌─────────┐\n"
        "  │ extract │\n"
        "  └────┬────┘\n"
        "    ┌──┴───┐\n"
        "┌───┴───┐  │\n"
        "│ clean │  │\n"
        "└───┬───┘  │\n"
        "    │      │\n"
        "┌───┴───┐  │\n"
        "│ load  │  │\n"
        "└───┬───┘  │\n"
        "    └─────┬┘\n"
        "      ┌───┴───┐\n"
        "      │ audit │\n"
        "      └───────┘\n");
}

static void
lines_that_cross(void **state)
{
    (void)state;
    check("a b c<a,b d<a,b",
        "┌───┐  ┌───┐\n"
        "│ a │  │ b │\n"
        "└─┬─┘  └─┬─┘\n"
        "  ├──────┤\n"
        "┌─┴─┐  ┌─┴─┐\n"
        "│ c │  │ d │\n"
        "└───┘  └───┘\n");
    check("a b c<a d<b e<a,b",
        "   ┌───┐  ┌───┐\n"
        "   │ a │  │ b │\n"
        "   └─┬─┘  └─┬─┘\n"
        "  ┌──┴───┐  │\n"
        "  │      ├──┴───┐\n"
        "┌─┴─┐  ┌─┴─┐  ┌─┴─┐\n"
        "│ c │  │ e │  │ d │\n"
        "└───┘  └───┘  └───┘\n");
    check("a b c d<a,b e<b,c f<a,c",
        "┌───┐  ┌───┐  ┌───┐\n"
        "│ a │  │ b │  │ c │\n"
        "└┬──┘  └┬──┘  └┬──┘\n"
        " └─┬────│─┐    │\n"
        "   ├────┴─│────│─┐\n"
        "   │      ├────┴─┤\n"
        "┌──┴┐  ┌──┴┐  ┌──┴┐\n"
        "│ d │  │ f │  │ e │\n"
        "└───┘  └───┘  └───┘\n");
    check("a b c d<a,b,c e<a,b f<b,c g<d,e,f",
        "┌───┐  ┌───┐  ┌───┐\n"
        "│ a │  │ b │  │ c │\n"
        "└┬──┘  └┬──┘  └┬──┘\n"
        " └─┬────│─┐    │\n"
        "   ├────┴─┼────│─┐\n"
        "   │      ├────┴─┤\n"
        "┌──┴┐  ┌──┴┐  ┌──┴┐\n"
        "│ e │  │ d │  │ f │\n"
        "└─┬─┘  └─┬─┘  └─┬─┘\n"
        "  └──────┼──────┘\n"
        "       ┌─┴─┐\n"
        "       │ g │\n"
        "       └───┘\n");
}

static void
without_unicode(void **state)
{
    (void)state;
    make("fetch sentiment<fetch summary<fetch report<sentiment,summary");
    check_made(80, false,
        "         +-------+\n"
        "         | fetch |\n"
        "         +---+---+\n"
        "      +------+------+\n"
        "+-----+-----+  +----+----+\n"
        "| sentiment |  | summary |\n"
        "+-----+-----+  +----+----+\n"
        "      +------+------+\n"
        "        +----+----+\n"
        "        | report  |\n"
        "        +---------+\n");
    check_made(20, false,
        "fetch    \n"
        "sentiment\n"
        "summary  \n"
        "report   \n");
}

static void
notes_are_a_second_line(void **state)
{
    (void)state;
    make("fetch thumb[]<fetch report<thumb[]");
    made.nodes[0].note = "SUCCESS";
    made.nodes[1].note = "17/200 RUNNING";
    check_made(80, true,
        "    ┌─────────┐\n"
        "    │  fetch  │\n"
        "    │ SUCCESS │\n"
        "    └────┬────┘\n"
        "         │\n"
        "┌────────┴────────┐\n"
        "│     thumb[]     │\n"
        "│ 17/200 RUNNING  │\n"
        "└────────┬────────┘\n"
        "         │\n"
        "    ┌────┴────┐\n"
        "    │ report  │\n"
        "    │         │\n"
        "    └─────────┘\n");
}

/* "check_00" ... all between the same two others. */
static void
make_wide(size_t count)
{
    size_t first;
    size_t last;

    begin();
    first = add_node("begin", 5);
    last = add_node("end", 3);
    for (size_t i = 0; i < count; i++) {
        char name[32];
        size_t node;

        (void)snprintf(name, sizeof(name), "check_%02zu", i);
        node = add_node(name, strlen(name));
        add_edge(first, node);
        add_edge(node, last);
    }
}

static void
what_stands_alike_becomes_one_where_it_does_not_fit(void **state)
{
    (void)state;
    make_wide(5);
    check_made(80, true,
        "                                ┌───────┐\n"
        "                                │ begin │\n"
        "                                └───┬───┘\n"
        "      ┌──────────────┬──────────────┼──────────────┬──────────────┐\n"
        "┌─────┴─────┐  ┌─────┴─────┐  ┌─────┴─────┐  ┌─────┴─────┐  ┌─────┴─────┐\n"
        "│ check_00  │  │ check_01  │  │ check_02  │  │ check_03  │  │ check_04  │\n"
        "└─────┬─────┘  └─────┬─────┘  └─────┬─────┘  └─────┬─────┘  └─────┬─────┘\n"
        "      └──────────────┴──────────────┼──────────────┴──────────────┘\n"
        "                                 ┌──┴──┐\n"
        "                                 │ end │\n"
        "                                 └─────┘\n");
    make_wide(40);
    check_made(80, true,
        "      ┌───────┐\n"
        "      │ begin │\n"
        "      └───┬───┘\n"
        "          │\n"
        "┌─────────┴─────────┐\n"
        "│ check_00 +39 more │\n"
        "└─────────┬─────────┘\n"
        "          │\n"
        "       ┌──┴──┐\n"
        "       │ end │\n"
        "       └─────┘\n");
    for (size_t i = 0; i < made.graph.node_count; i++) {
        made.nodes[i].note = "SUCCESS";
        made.nodes[i].style = i % 4 == 3 ? TERM_BAD : TERM_GOOD;
    }
    check_made(80, true,
        "     ┌─────────┐\n"
        "     │  begin  │\n"
        "     │ SUCCESS │\n"
        "     └────┬────┘\n"
        "          │\n"
        "┌─────────┴─────────┐\n"
        "│ check_00 +39 more │\n"
        "│       30/40       │\n"
        "└─────────┬─────────┘\n"
        "          │\n"
        "     ┌────┴────┐\n"
        "     │   end   │\n"
        "     │ SUCCESS │\n"
        "     └─────────┘\n");
}

static void
names_are_cut_where_they_do_not_fit(void **state)
{
    (void)state;
    make("a_rather_long_name_of_a_step another_rather_long_name_of_a_step "
         "end<a_rather_long_name_of_a_step,another_rather_long_name_of_a_step");
    check_made(80, true,
        "┌───────────────────────────────┐  ┌─────────────────────────────────────┐\n"
        "│ a_rather_long_name_of_a_step  │  │ another_rather_long_name_of_a_step  │\n"
        "└───────────────┬───────────────┘  └──────────────────┬──────────────────┘\n"
        "                └──────────────────┬──────────────────┘\n"
        "                                ┌──┴──┐\n"
        "                                │ end │\n"
        "                                └─────┘\n");
    check_made(50, true,
        "┌───────────────────┐  ┌───────────────────┐\n"
        "│ a_rather_long_n…  │  │ another_rather_…  │\n"
        "└─────────┬─────────┘  └─────────┬─────────┘\n"
        "          └───────────┬──────────┘\n"
        "                   ┌──┴──┐\n"
        "                   │ end │\n"
        "                   └─────┘\n");
    check_made(50, false,
        "+-------------------+  +-------------------+\n"
        "| a_rather_long_n~  |  | another_rather_~  |\n"
        "+---------+---------+  +---------+---------+\n"
        "          +-----------+----------+\n"
        "                   +--+--+\n"
        "                   | end |\n"
        "                   +-----+\n");
}

/* Each depends on two of those before, so that no two stand alike. */
static void
make_tangle(size_t count)
{
    begin();
    for (size_t i = 0; i < count; i++) {
        char name[32];
        size_t node;

        (void)snprintf(name, sizeof(name), "step_%zu", i);
        node = add_node(name, strlen(name));
        if (i > 2) {
            add_edge(i / 2, node);
            add_edge((i * 7) % i == i / 2 ? i - 1 : (i * 7) % i, node);
        }
    }
}

static void
the_last_resort_is_a_list(void **state)
{
    (void)state;
    make_tangle(12);
    made.nodes[2].note = "SUCCESS";
    check_made(20, true,
        "step_0        \n"
        "step_1        \n"
        "step_2   SUCC…\n"
        "step_3        \n"
        "step_4        \n"
        "step_5        \n"
        "step_6        \n"
        "step_7        \n"
        "step_8        \n"
        "step_9        \n"
        "step_10       \n"
        "step_11       \n");
    check_made(40, true,
        "step_0          \n"
        "step_1          \n"
        "step_2   SUCCESS\n"
        "step_3            after step_1, step_0\n"
        "step_4            after step_2, step_0\n"
        "step_5            after step_2, step_0\n"
        "step_6            after step_3, step_0\n"
        "step_7            after step_3, step_0\n"
        "step_8            after step_4, step_0\n"
        "step_9            after step_4, step_0\n"
        "step_10           after step_5, step_0\n"
        "step_11           after step_5, step_0\n");
    make_wide(12);
    made.nodes[13].name = "a_rather_long_name_of_a_step";
    add_edge(13, 12);
    check_made(25, false,
        "begin       \n"
        "check_00      after begin\n"
        "check_01      after begin\n"
        "check_02      after begin\n"
        "check_03      after begin\n"
        "check_04      after begin\n"
        "check_05      after begin\n"
        "check_06      after begin\n"
        "check_07      after begin\n"
        "check_08      after begin\n"
        "check_09      after begin\n"
        "a_rather_lo~  after begin\n"
        "check_10      after 2\n"
        "end           after 12\n");
}

static size_t
widest(const char *text)
{
    size_t most = 0;
    size_t columns = 0;

    for (; *text != '\0'; text++) {
        columns = *text == '\n' ? 0 : columns + (((unsigned char)*text & 0xc0U) != 0x80);
        most = columns > most ? columns : most;
    }
    return most;
}

/* Whatever the graph, no line is longer than the terminal, and each name is there or is counted. */
static void
nothing_is_wider_than_the_terminal(void **state)
{
    (void)state;
    for (size_t count = 1; count <= NODES_MAX; count += count < 40 ? 1 : 80)
        for (size_t columns = 20; columns <= 200; columns += 60)
            for (int form = 0; form < 2; form++) {
                char *text;

                if (form == 0)
                    make_tangle(count);
                else
                    make_wide(count - (count > 2 ? 2 : 0));
                text = draw(columns, count % 2 == 0);
                assert_true(widest(text) <= columns);
                assert_true(form == 1 || count > 40 || strstr(text, "step_0") != NULL);
                free(text);
            }
}

static void
a_long_chain_takes_little_time(void **state)
{
    char *text;

    (void)state;
    begin();
    for (size_t i = 0; i < NODES_MAX; i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "s%zu", i);
        (void)add_node(name, strlen(name));
        if (i > 0)
            add_edge(i - 1, i);
        if (i > 1)
            add_edge(i - 2, i);
    }
    text = draw(80, true);
    assert_true(widest(text) <= 80);
    assert_non_null(strstr(text, " s599 "));
    free(text);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_stand_below_what_they_depend_on),
        cmocka_unit_test(several_roots_and_leaves),
        cmocka_unit_test(lines_that_pass_a_layer),
        cmocka_unit_test(lines_that_cross),
        cmocka_unit_test(without_unicode),
        cmocka_unit_test(notes_are_a_second_line),
        cmocka_unit_test(what_stands_alike_becomes_one_where_it_does_not_fit),
        cmocka_unit_test(names_are_cut_where_they_do_not_fit),
        cmocka_unit_test(the_last_resort_is_a_list),
        cmocka_unit_test(nothing_is_wider_than_the_terminal),
        cmocka_unit_test(a_long_chain_takes_little_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
