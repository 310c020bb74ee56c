/* SPDX-License-Identifier: Apache-2.0 */
/* Namespaces of tests; see the header. */
#include "network.h"

#include "cluster.h"
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Says by a byte that it is in a namespace of its own, then waits to be killed. */
static void
keep_namespace(int told)
{
    char yes = 1;

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || unshare(CLONE_NEWNET) != 0 ||
        write(told, &yes, 1) != 1)
        _exit(1);
    (void)close(told); /* It has been said. */
    for (;;)
        (void)pause();
}

static bool
start_keeper(pid_t *pid)
{
    int told[2];
    char byte;
    bool ok;

    if (pipe2(told, O_CLOEXEC) != 0 || (*pid = fork()) < 0)
        bench_die("cannot start a process: error %d", errno);
    if (*pid == 0) {
        (void)close(told[0]); /* Ours is the other end. */
        keep_namespace(told[1]);
    }
    (void)close(told[1]);
    ok = read(told[0], &byte, 1) == 1;
    (void)close(told[0]);
    return ok;
}

bool
network_open(struct network *network)
{
    char numbers[network_places][16];
    const char *const words[] = {
        CRASH_SOURCE_ROOT "/tests/harness/make_network", numbers[0], numbers[1], NULL};

    for (int i = 0; i < network_places; i++)
        network->pids[i] = 0;
    if (unshare(CLONE_NEWNET) != 0)
        return false;
    for (int i = 0; i < network_places; i++) {
        if (!start_keeper(&network->pids[i])) {
            network_close(network);
            return false;
        }
        (void)snprintf(numbers[i], sizeof(numbers[i]), "%d", (int)network->pids[i]);
    }
    if (cluster_run(words) == 0)
        return true;
    network_close(network);
    return false;
}

const char *
network_address(int place)
{
    static const char *const addresses[network_places] = {"10.86.0.2", "10.86.0.3"};

    return addresses[place];
}

static void
set_port(int place, const char *state)
{
    static const char *const ports[network_places] = {"port0", "port1"};
    const char *const words[] = {"ip", "link", "set", ports[place], state, NULL};

    if (cluster_run(words) != 0)
        bench_die("cannot set %s %s", ports[place], state);
}

void
network_pull(int place)
{
    set_port(place, "down");
}

void
network_plug(int place)
{
    set_port(place, "up");
}

void
network_close(struct network *network)
{
    for (int i = 0; i < network_places; i++) {
        if (network->pids[i] <= 0)
            continue;
        if (kill(network->pids[i], SIGKILL) != 0)
            bench_die("cannot end process %d", (int)network->pids[i]);
        while (waitpid(network->pids[i], NULL, 0) < 0 && errno == EINTR) {
        }
        network->pids[i] = 0;
    }
}
