/* SPDX-License-Identifier: Apache-2.0 */
/* What libpq is told: our defaults give way to the user's words, and those to what must be so. */
#include "pg/target.h"

#include <pawl/error.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The place of a keyword, or -1. */
static int
place_of(const struct pw_target *target, const char *keyword)
{
    for (int i = 0; target->keywords[i] != NULL; i++)
        if (strcmp(target->keywords[i], keyword) == 0)
            return i;
    return -1;
}

static struct pw_target
make_target(const char *conninfo)
{
    struct pw_target target;
    struct pw_error err = {0};

    assert_int_equal(pw_target_init(&target, conninfo, "test", &err), PAWL_OK);
    return target;
}

static void
defaults_stand_before_the_users_words_and_the_encoding_behind(void **state)
{
    struct pw_target target = make_target("host=a keepalives_idle=99");
    int dbname = place_of(&target, "dbname");

    (void)state;
    assert_true(dbname > 0);
    assert_string_equal(target.values[dbname], "host=a keepalives_idle=99");
    assert_in_range(place_of(&target, "keepalives_idle"), 0, dbname - 1);
    assert_in_range(place_of(&target, "keepalives_interval"), 0, dbname - 1);
    assert_in_range(place_of(&target, "keepalives_count"), 0, dbname - 1);
    assert_in_range(place_of(&target, "tcp_user_timeout"), 0, dbname - 1);
    assert_in_range(place_of(&target, "fallback_application_name"), 0, dbname - 1);
    assert_true(place_of(&target, "client_encoding") > dbname);
    assert_int_equal(place_of(&target, "target_session_attrs"), -1);
    assert_false(target.raise_unacked);
}

static void
without_words_libpqs_own_variables_count(void **state)
{
    struct pw_target target = make_target(NULL);

    (void)state;
    assert_int_equal(place_of(&target, "dbname"), -1);
    target = make_target("");
    assert_int_equal(place_of(&target, "dbname"), -1);
}

static void
several_hosts_must_be_writable_unless_the_user_says_otherwise(void **state)
{
    static const struct {
        const char *conninfo;
        bool several, writable, raised;
    } cases[] = {
        {"host=a", false, false, false},
        {"host=a,b", true, true, true},
        {"hostaddr=10.0.0.1,10.0.0.2", true, true, true},
        {"postgresql://a:1,b:2/d", true, true, true},
        {"postgresql://a,b/d?target_session_attrs=any", true, false, true},
        {"host=a,b target_session_attrs=primary", true, false, true},
        {"host=a,b tcp_user_timeout=5", true, true, false},
        {NULL, true, true, true}, /* by the variable below */
        {"dbname=x", true, true, true},
    };

    (void)state;
    assert_int_equal(setenv("PGHOST", "c,d", 1), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pw_target target = make_target(cases[i].conninfo);

        assert_int_equal(place_of(&target, "target_session_attrs") >= 0, cases[i].writable);
        assert_int_equal(target.raise_unacked, cases[i].raised);
        assert_string_equal(target.values[place_of(&target, "tcp_user_timeout")],
            cases[i].several ? "3000" : "20000");
    }
    assert_int_equal(setenv("PGTARGETSESSIONATTRS", "standby", 1), 0);
    {
        struct pw_target target = make_target(NULL);

        assert_int_equal(place_of(&target, "target_session_attrs"), -1);
    }
    assert_int_equal(unsetenv("PGTARGETSESSIONATTRS"), 0);
    assert_int_equal(unsetenv("PGHOST"), 0);
}

static void
hosts_and_limits_of_a_service_count_like_those_of_the_user(void **state)
{
    static const char services[] = "[two]\nhost=a,b\n"
                                   "[own]\nhost=a,b\ntarget_session_attrs=primary\n"
                                   "tcp_user_timeout=7\nkeepalives_idle=99\n";
    char path[] = "/tmp/pawl-service.XXXXXX";
    int fd = mkstemp(path);
    struct pw_target target;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, services, sizeof(services) - 1), sizeof(services) - 1);
    assert_int_equal(close(fd), 0);
    assert_int_equal(setenv("PGSERVICEFILE", path, 1), 0);

    target = make_target("service=two");
    assert_int_equal(place_of(&target, "target_session_attrs") >= 0, true);
    assert_string_equal(target.values[place_of(&target, "tcp_user_timeout")], "3000");
    assert_true(target.raise_unacked);
    /* What the user says himself goes before it, and what is in no file is for libpq to complain about. */
    target = make_target("service=two host=c");
    assert_int_equal(place_of(&target, "target_session_attrs"), -1);
    target = make_target("service=none");
    assert_int_equal(place_of(&target, "target_session_attrs"), -1);

    for (int i = 0; i < 2; i++) {
        target = make_target(i == 0 ? "service=own" : "dbname=x");
        assert_int_equal(place_of(&target, "target_session_attrs"), -1);
        assert_int_equal(place_of(&target, "tcp_user_timeout"), -1);
        assert_int_equal(place_of(&target, "keepalives_idle"), -1);
        assert_int_equal(place_of(&target, "keepalives_count") >= 0, true);
        assert_false(target.raise_unacked);
        assert_int_equal(setenv("PGSERVICE", "own", 1), 0);
    }
    assert_int_equal(unsetenv("PGSERVICE"), 0);
    assert_int_equal(unsetenv("PGSERVICEFILE"), 0);
    assert_int_equal(unlink(path), 0);
}

/* As psql has it, and so that a worker and the command pawl read PAWL_DATABASE_URL alike. */
static void
a_word_alone_is_the_name_of_a_database(void **state)
{
    struct pw_target target = make_target("it's \\ a name");

    (void)state;
    assert_string_equal(target.values[place_of(&target, "dbname")], "it's \\ a name");
}

static void
words_that_cannot_be_read_are_not_repeated(void **state)
{
    static const char *const bad[] = {"password=sesame open", "u:sesame@db.example/shop",
        "db.example:5432:shop:me:sesame", "http://sesame", "postgresql://u:sesame@[::1/",
        "nothing=sesame", "postgresql://u:sesame/3@db.example/shop",
        "postgresql://u:sesame,1/3@db.example/shop", "postgresql://u:12345678/open@db.example/shop",
        "postgresql://u:0/open@db.example/shop", "postgresql://u:open@sesame@db.example/shop",
        "postgresql://u:open@a,sesame@db.example/", "port=5432,sesame", "host=db port='1 sesame'",
        "host=a,open@b"};
    struct pw_target target;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct pw_error err = {0};

        assert_int_equal(pw_target_init(&target, bad[i], "test", &err), PAWL_EINVAL);
        assert_null(strstr(err.message, "sesame"));
        assert_null(strstr(err.message, "open"));
        assert_null(strstr(err.hint, "sesame"));
    }
}

static void
all_ports_and_hosts_of_libpq_are_taken(void **state)
{
    static const char *const good[] = {"port=5432", "port=' 5432 '", "port=5432,,1", "port=''",
        "port=65535", "host=/tmp/a@b", "host=@abstract", "host=db,/tmp/a@b,@abstract,",
        "postgresql://u:a%2Fb%40c@db.example:5432/shop", "postgresql://u:p@db.example/a@b"};

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        (void)make_target(good[i]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_stand_before_the_users_words_and_the_encoding_behind),
        cmocka_unit_test(without_words_libpqs_own_variables_count),
        cmocka_unit_test(several_hosts_must_be_writable_unless_the_user_says_otherwise),
        cmocka_unit_test(hosts_and_limits_of_a_service_count_like_those_of_the_user),
        cmocka_unit_test(a_word_alone_is_the_name_of_a_database),
        cmocka_unit_test(words_that_cannot_be_read_are_not_repeated),
        cmocka_unit_test(all_ports_and_hosts_of_libpq_are_taken),
    };

    /* The suite may run with a cluster around it. */
    if (unsetenv("PGHOST") != 0 || unsetenv("PGTARGETSESSIONATTRS") != 0)
        return 1;
    return cmocka_run_group_tests_name("pg/target", tests, NULL, NULL);
}
