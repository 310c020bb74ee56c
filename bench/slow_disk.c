/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk of a given speed: preloaded into a PostgreSQL server, it makes each fdatasync(), with which the server flushes its WAL, take a fixed time. The
 * file slow_disk_us in the data directory, where all processes of the server run, has the microseconds. They replace the time of the real
 * disk, so that other programs that use that disk do not change the result; the data need not survive. Without the file nothing is changed.
 * commit_delay is no substitute: with stock commit_siblings it does nothing for a lone producer.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__attribute__((visibility("default"))) int fdatasync(int fd);

static long
delay_us(void)
{
    char text[16];
    long us = 0;
    ssize_t length;
    int fd = open("slow_disk_us", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 0;
    length = read(fd, text, sizeof(text));
    (void)close(fd); /* It was only read. */
    for (ssize_t i = 0; i < length && text[i] >= '0' && text[i] <= '9' && us < 1000000; i++)
        us = us * 10 + (text[i] - '0');
    return us;
}

int
fdatasync(int fd)
{
    int saved = errno;
    long us = delay_us();
    struct timespec wait = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

    if (us == 0)
        return (int)syscall(SYS_fdatasync, fd);
    (void)prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL,
        0UL); /* Without it, a short sleep is only less exact. */
    while (nanosleep(&wait, &wait) != 0 && errno == EINTR)
        ;
    errno = saved;
    return 0;
}
