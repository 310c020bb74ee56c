/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients and workers that ask for TLS and for a server that proves who it is: they work with the right one, and tell any other
 * nothing. In a cluster of this program's own, at an address of the loopback that no other process has.
 */
#include "cluster.h"
#include "fixture.h"
#include "scene.h"

#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    /* More than a TLS record holds, many times. */
    LARGE = 300000,
    DATABASE_BYTES = 2048
};

static struct cluster cluster;
static char address[32];
static bool has_tls;

static const char server_name[] = "db.pawl.test";

static int
open_cluster(void **state)
{
    char listen[64];
    const char *const settings[] = {listen, "log_connections=on", NULL};
    const struct cluster_options options = {.pawl = true, .settings = settings};
    unsigned pid = (unsigned)getpid();

    (void)state;
    (void)snprintf(address, sizeof(address), "127.%u.%u.%u", 1 + (pid >> 16) % 250,
        (pid >> 8) % 256, pid % 256);
    (void)snprintf(listen, sizeof(listen), "listen_addresses=%s", address);
    cluster_open(&cluster, &options);
    cluster_use(&cluster);
    has_tls = cluster_secure(&cluster, server_name);
    return 0;
}

static int
close_cluster(void **state)
{
    (void)state;
    cluster_close(&cluster);
    return 0;
}

/* The database by TCP, as a server of this name that an authority vouches for. */
static const char *
database(char *text, const char *name, const char *authority)
{
    (void)snprintf(text, DATABASE_BYTES,
        "host=%s hostaddr=%s port=%s dbname=%s sslmode=verify-full sslrootcert=%s/%s", name,
        address, cluster.direct_port, cluster.database, cluster.data, authority);
    return text;
}

static void
need_tls(void)
{
    if (!has_tls)
        skip();
}

/* How many lines of the server's log hold this. */
static long
count_logged(const char *part)
{
    char line[4096], path[PATH_MAX];
    FILE *file;
    long count = 0;

    (void)snprintf(path, sizeof(path), "%s/server.log", cluster.data);
    file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) != NULL)
        count += strstr(line, part) != NULL;
    (void)fclose(file); /* it was only read */
    return count;
}

/* Connections that have said who they are through TLS. */
static long
count_introduced(void)
{
    return count_logged("SSL enabled");
}

static pawl_status
write_much(pawl_run *run, void *userdata, pawl_bytes *output)
{
    char *text = pawl_run_alloc(run, LARGE + 3);

    (void)userdata;
    if (text == NULL)
        return PAWL_ENOMEM;
    memset(text, 'x', LARGE + 2);
    text[0] = text[LARGE + 1] = '"';
    text[LARGE + 2] = '\0';
    *output = pawl_text(text);
    return PAWL_OK;
}

static pawl_status
speak(pawl_run *run, pawl_bytes input, pawl_bytes *output)
{
    (void)input;
    return pawl_step(run, "much", write_much, NULL, output);
}

static void
a_client_and_a_worker_work_with_a_server_that_proves_who_it_is(void **state)
{
    struct scene *scene = *state;
    char text[DATABASE_BYTES];
    pawl_bytes output = {NULL, 0};
    pawl_error *error = NULL;
    pawl_client *client;

    need_tls();
    scene_set(scene, "database", database(text, server_name, "ca.crt"));
    scene_handle(scene, "tls.speak", speak, NULL);
    scene_work(scene);
    client = fixture_client((const char *[]){"database", text, NULL});
    fixture_trigger(client, "tls.speak", scene->run_id);
    fixture_expect(pawl_client_wait(client, scene->run_id, scene_patience_ms, &output, &error),
        PAWL_OK, &error);
    assert_int_equal(output.size, LARGE + 2);
    /* Two for work, one for heartbeats, and that of the client. */
    assert_int_equal(
        scene_number(scene,
            "select count(*) from pg_stat_ssl s join pg_stat_activity a using (pid)"
            " where a.application_name = 'pawl' and s.ssl and a.client_addr is not null",
            NULL),
        4);
    pawl_client_close(client);
}

/* A client and a worker come to nothing, and say why; nobody has told the server a word. */
static void
check_refused(struct scene *scene, const char *text, const char *why)
{
    long introduced = count_introduced();
    pawl_config *config = pawl_config_new();
    pawl_client *client = NULL;
    pawl_error *error = NULL;

    fixture_expect(pawl_config_set(config, "database", text, &error), PAWL_OK, &error);
    fixture_expect(pawl_config_set(config, "call_timeout", "2s", &error), PAWL_OK, &error);
    assert_int_equal(pawl_client_open(config, &client, &error), PAWL_ECONN);
    scene_has(pawl_error_message(error), why);
    pawl_error_free(error);
    error = NULL;
    pawl_config_free(config);

    scene_set(scene, "database", text);
    scene_set(scene, "connect_timeout", "2s");
    scene_handle(scene, "tls.speak", speak, NULL);
    assert_int_equal(pawl_worker_start(scene->worker, &error), PAWL_ECONN);
    scene_has(pawl_error_message(error), why);
    pawl_error_free(error);
    assert_int_equal(count_introduced(), introduced);
}

static void
a_server_that_a_stranger_vouches_for_is_told_nothing(void **state)
{
    char text[DATABASE_BYTES];

    need_tls();
    check_refused(*state, database(text, server_name, "stranger.crt"), "certificate verify failed");
}

static void
a_server_with_another_name_is_told_nothing(void **state)
{
    char text[DATABASE_BYTES];

    need_tls();
    check_refused(*state, database(text, "other.pawl.test", "ca.crt"),
        "does not match host name \"other.pawl.test\"");
}

static void
a_server_without_tls_is_told_nothing(void **state)
{
    struct scene *scene = *state;
    char text[DATABASE_BYTES];
    long authorized;

    need_tls();
    scene_do(scene, "alter system set ssl = off", NULL);
    scene_do(scene, "select pg_reload_conf()", NULL);
    scene_until(scene, "select setting = 'off' from pg_settings where name = 'ssl'", NULL);
    authorized = count_logged("connection authorized");
    check_refused(scene, database(text, server_name, "ca.crt"), "does not support SSL");
    assert_int_equal(count_logged("connection authorized"), authorized);
}

/* The limit for unacknowledged data of the one connection by TCP that this process has. */
static int
look_at_limit(int64_t took_us, void *userdata)
{
    unsigned *limit = userdata;

    (void)took_us;
    for (int fd = 3; fd < 256; fd++) {
        socklen_t size = sizeof(*limit);

        if (getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, limit, &size) == 0)
            return 0;
    }
    return 0;
}

/* The limit is short while the next host is to get its turn, and only then. */
static void
a_script_is_as_patient_with_several_hosts_as_with_one(void **state)
{
    char text[DATABASE_BYTES];
    pawl_config *config = pawl_config_new();
    pawl_error *error = NULL;
    unsigned limit = 0;

    (void)state;
    need_tls();
    (void)snprintf(text, sizeof(text), "host=a,b hostaddr=%s,%s port=%s sslmode=require", address,
        address, cluster.direct_port);
    fixture_expect(pawl_config_set(config, "database", text, &error), PAWL_OK, &error);
    fixture_expect(
        pawl_admin_measure(config, "select 1;\n", look_at_limit, &limit, &error), PAWL_OK, &error);
    assert_int_equal(limit, 20000);
    pawl_config_free(config);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_set_up, scene_tear_down)
        TEST(a_client_and_a_worker_work_with_a_server_that_proves_who_it_is),
        cmocka_unit_test(a_script_is_as_patient_with_several_hosts_as_with_one),
        TEST(a_server_that_a_stranger_vouches_for_is_told_nothing),
        TEST(a_server_with_another_name_is_told_nothing),
        TEST(a_server_without_tls_is_told_nothing),
#undef TEST
    };

    fixture_go_direct();
    return cmocka_run_group_tests_name("tls", tests, open_cluster, close_cluster);
}
