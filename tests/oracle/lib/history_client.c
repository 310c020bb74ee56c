/* SPDX-License-Identifier: Apache-2.0 */
/* Clients that call at the same time. One thread drives all connections, so that one counter orders what it sends and
 * sees: a call that was answered before another was sent comes before it. */
#include "history.h"

#include "harness.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    QUIET_MS = 3, /* nothing comes for so long: an open transaction may be in everybody's way */
};

static void
ignore_notice(void *userdata, const char *message)
{
    (void)userdata;
    (void)message;
}

void
history_silence(PGconn *conn)
{
    (void)PQsetNoticeProcessor(conn, ignore_notice, NULL); /* the old one is libpq's own */
}

void
history_connect(struct history_client *client)
{
    client->conn = bench_connect();
    history_silence(client->conn);
    bench_do(client->conn, "set timezone to 'UTC'; set client_min_messages to warning");
    player_prepare(client->conn);
    client->doing = HISTORY_READY;
}

static char *
copy_text(const char *text)
{
    char *copy = strdup(text);

    if (copy == NULL)
        bench_die("out of memory");
    return copy;
}

static void
send_text(struct history_client *client, const char *sql, enum history_doing doing)
{
    if (PQsendQuery(client->conn, sql) != 1)
        bench_die("cannot send: %s", PQerrorMessage(client->conn));
    client->doing = doing;
}

/* Nobody knows what became of the call. Its server process may still be at it. */
static void
lose(struct history *h, struct history_client *client)
{
    h->lost_pids[h->lost_count++] = PQbackendPID(client->conn);
    PQfinish(client->conn);
    PQclear(client->result);
    client->result = NULL;
    client->again = client->at;
    history_connect(client);
}

static void
end_by_server(struct history *h, const struct history_client *client)
{
    char sql[64];

    (void)snprintf(sql, sizeof(sql), "select pg_terminate_backend(%d)", PQbackendPID(client->conn));
    bench_do(h->player->conn, sql);
}

/* The call as the server gets it. A transaction that stays open says only that it does. */
static void
send_call(struct history *h, struct history_client *client)
{
    struct history_call *call = &h->calls[client->at];
    struct pw_buf sql;

    pw_buf_init(&sql, (size_t)1 << 20);
    pw_buf_addf(&sql, "%sexecute %s%s%s%s", call->held_open ? "begin; " : "",
        call_verb_name(call->call.verb), call->arguments[0] == '\0' ? "" : "(", call->arguments,
        call->arguments[0] == '\0' ? "" : ")");
    call->sent = ++h->clock;
    send_text(client, pw_buf_text(&sql), HISTORY_CALLING);
    pw_buf_done(&sql);
    if (client->doom == HISTORY_SERVER_ENDS)
        end_by_server(h, client);
    if (client->doom == HISTORY_CLIENT_ENDS)
        lose(h, client);
}

static void
start_call(struct history *h, int number)
{
    struct history_client *client = &h->clients[number];

    client->at = h->calls_count++;
    client->left--;
    h->calls[client->at] = (struct history_call){.client = number, .answered = HISTORY_UNKNOWN};
    history_choose(h, number, &h->calls[client->at]);
    client->again = -1;
    send_call(h, client);
}

/* What is believed goes on with every answer, if that can be: it is a guess, to choose calls by. */
static void
believe(struct history *h, int at)
{
    struct history_way way;
    struct oracle *kept = h->player->oracle;

    if (history_way(h, h->belief, at, 0, 0, &way))
        (void)history_apply(h, h->belief, &way); /* a wrong guess is only a worse choice */
    h->player->oracle = kept;
}

static bool
is_refused_as_a_whole(const struct history_call *call)
{
    return call->call.verb == CALL_COMMIT &&
        (strcmp(call->got, "PW010") == 0 || strcmp(call->got, "22P02") == 0 ||
            strcmp(call->got, "23505") == 0);
}

static void
take_answer(struct history *h, struct history_client *client)
{
    struct history_call *call = &h->calls[client->at];

    call->answered = ++h->clock;
    client->doing = HISTORY_READY;
    for (int i = 0; i < h->clients_count; i++)
        if (h->clients[i].doing == HISTORY_HOLDING)
            h->clients[i].wait--;
    if (is_refused_as_a_whole(call))
        client->again = client->at;
    if (call->chosen[0] != '\0') {
        const char *made = call->call.verb == CALL_TRIGGER ? strchr(call->got, ' ') : NULL;
        const char *answer = made == NULL || made[1] == 't' ? "created" : "existing";

        if (call->call.verb != CALL_TRIGGER)
            answer = call->call.verb == CALL_EMIT && strstr(call->got, " already ") != NULL
                ? "already"
                : "ok";
        if (call->call.other == 0 && call->id[0] == '\0')
            player_remember_made(h->player, &call->call, answer, call->chosen);
    }
    believe(h, client->at);
}

/* The answer of the call, which may come before the end of its transaction. */
static void
note_answer(struct history_call *call, const PGresult *result)
{
    bool good = PQresultStatus(result) == PGRES_TUPLES_OK;

    call->got = copy_text(player_column(result, 0));
    call->chosen = copy_text(good ? player_column(result, 1) : "");
}

static void
go_on(struct history *h, struct history_client *client)
{
    struct history_call *call = &h->calls[client->at];

    if (client->doing == HISTORY_ENDING) {
        PQclear(client->result);
        client->result = NULL;
        take_answer(h, client);
        return;
    }
    note_answer(call, client->result);
    PQclear(client->result);
    client->result = NULL;
    if (!call->held_open)
        take_answer(h, client);
    else if (PQtransactionStatus(client->conn) == PQTRANS_INERROR)
        send_text(client, "rollback", HISTORY_ENDING);
    else
        client->doing = HISTORY_HOLDING;
}

static void
forget_answer(struct history_call *call)
{
    free(call->got);
    free(call->chosen);
    call->got = call->chosen = NULL;
}

/* What has come on one connection. */
static void
read_client(struct history *h, struct history_client *client)
{
    PGresult *result;

    if (PQconsumeInput(client->conn) != 1 || PQstatus(client->conn) != CONNECTION_OK) {
        forget_answer(&h->calls[client->at]);
        lose(h, client);
        return;
    }
    while (PQisBusy(client->conn) == 0) {
        result = PQgetResult(client->conn);
        if (result == NULL) {
            go_on(h, client);
            return;
        }
        if (PQstatus(client->conn) != CONNECTION_OK) {
            PQclear(result);
            forget_answer(&h->calls[client->at]);
            lose(h, client);
            return;
        }
        /* The last one counts; before it there is only that of "begin". */
        PQclear(client->result);
        client->result = result;
    }
}

static void
end_holding(struct history *h, struct history_client *client)
{
    if (client->doom == HISTORY_ENDS_OPEN) {
        forget_answer(&h->calls[client->at]);
        end_by_server(h, client);
        lose(h, client);
        return;
    }
    send_text(client, "commit", HISTORY_ENDING);
    if (client->doom == HISTORY_ENDS_COMMITTING) {
        forget_answer(&h->calls[client->at]);
        lose(h, client);
    }
}

/* One look at all connections. False: nothing is under way any more. */
static bool
look(struct history *h)
{
    struct pollfd polled[HISTORY_CLIENTS_MAX];
    int owner[HISTORY_CLIENTS_MAX], count = 0, ready;
    bool holding = false;

    for (int i = 0; i < h->clients_count; i++) {
        struct history_client *client = &h->clients[i];

        holding = holding || client->doing == HISTORY_HOLDING;
        if (client->doing == HISTORY_CALLING || client->doing == HISTORY_ENDING) {
            if (PQflush(client->conn) < 0)
                bench_die("cannot send: %s", PQerrorMessage(client->conn));
            owner[count] = i;
            polled[count++] = (struct pollfd){.fd = PQsocket(client->conn), .events = POLLIN};
        }
    }
    if (count == 0 && !holding)
        return false;
    ready = poll(polled, (nfds_t)count, count == 0 ? 0 : holding ? QUIET_MS : 60000);
    if (ready < 0 || (ready == 0 && !holding))
        bench_die("no answer for a minute");
    for (int i = 0; i < count; i++)
        if (polled[i].revents != 0)
            read_client(h, &h->clients[owner[i]]);
    for (int i = 0; i < h->clients_count; i++)
        if (h->clients[i].doing == HISTORY_HOLDING && (ready == 0 || h->clients[i].wait <= 0))
            end_holding(h, &h->clients[i]);
    return true;
}

/* Calls of connections that are gone are over when their server processes are. */
static void
wait_for_lost(struct history *h)
{
    double until_s = bench_limit_s(60);
    struct pw_buf sql;

    if (h->lost_count == 0)
        return;
    pw_buf_init(&sql, 4096);
    pw_buf_adds(&sql, "select count(*) from pg_stat_activity where pid in (0");
    for (int i = 0; i < h->lost_count; i++)
        pw_buf_addf(&sql, ", %d", h->lost_pids[i]);
    pw_buf_adds(&sql, ")");
    while (bench_value(h->player->conn, pw_buf_text(&sql)) > 0) {
        if (bench_now_s() > until_s)
            bench_die("a server process of a lost connection does not end");
        (void)poll(NULL, 0, 1); /* a pause between two looks */
    }
    pw_buf_done(&sql);
    h->lost_count = 0;
}

void
history_play_phase(struct history *history)
{
    struct history *h = history;
    bool more = true;

    while (more) {
        for (int i = 0; i < h->clients_count; i++)
            while (h->clients[i].doing == HISTORY_READY && h->clients[i].left > 0)
                start_call(h, i);
        more = look(h);
    }
    wait_for_lost(h);
}
