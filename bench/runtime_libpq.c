/* SPDX-License-Identifier: Apache-2.0 */
/* Holds connections with libpq and nothing else, so that its memory can be set beside a worker's. Ends by a signal. */
#include <libpq-fe.h>
#include <unistd.h>

enum {
    CONNECTIONS_MAX = 9
};

int
main(int argc, char **argv)
{
    int count = argc == 3 ? argv[1][0] - '0' : 0, fd = 0;

    if (count < 1 || count > CONNECTIONS_MAX)
        return 2;
    for (int i = 0; argv[2][i] >= '0' && argv[2][i] <= '9' && i < 6; i++)
        fd = fd * 10 + (argv[2][i] - '0');
    for (int i = 0; i < count; i++) {
        PGconn *conn = PQconnectdb("");
        PGresult *res = PQexec(conn, "select 1");

        if (PQresultStatus(res) != PGRES_TUPLES_OK)
            return 1;
        PQclear(res);
    }
    if (write(fd, "", 1) != 1)
        return 1;
    (void)pause();
    return 0;
}
