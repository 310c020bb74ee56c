/* SPDX-License-Identifier: Apache-2.0 */
/* A disk that can be filled; see the header. */
#include "disk.h"

#include "race.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    switches = 8,
    up_within_s = 120,
    name_bytes = cluster_name_bytes + 20
};

static void
must_run(const char *const *words)
{
    if (cluster_run(words) != 0)
        bench_die("%s failed", words[0]);
}

bool
disk_allow(void)
{
    return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

void
disk_open(struct disk *disk, struct cluster *cluster, const char *dir)
{
    char log[name_bytes], contents[name_bytes], reference[name_bytes];
    const char *const own[] = {"chown", reference, disk->path, NULL};
    const char *const copy[] = {"cp", "-a", contents, disk->path, NULL};
    const char *const clear[] = {"rm", "-rf", log, NULL};

    disk->cluster = cluster;
    if ((size_t)snprintf(disk->path, sizeof(disk->path), "%s/wal", dir) >= sizeof(disk->path))
        bench_die("too long a name: \"%s\"", dir);
    (void)snprintf(log, sizeof(log), "%s/pg_wal", cluster->data);
    (void)snprintf(contents, sizeof(contents), "%s/pg_wal/.", cluster->data);
    (void)snprintf(reference, sizeof(reference), "--reference=%s", cluster->data);
    /* The server's user has to get through. */
    if (chmod(dir, 0711) != 0 || mkdir(disk->path, 0700) != 0 ||
        mount("none", disk->path, "tmpfs", MS_NOSUID | MS_NODEV, "size=320m,mode=0700") != 0)
        bench_die("cannot mount at \"%s\": error %d", disk->path, errno);
    cluster_stop(cluster);
    must_run(own);
    must_run(copy);
    must_run(clear);
    if (symlink(disk->path, log) != 0)
        bench_die("cannot link \"%s\": error %d", log, errno);
    cluster_start(cluster);
}

static void
name_filler(const struct disk *disk, char path[name_bytes])
{
    (void)snprintf(path, name_bytes, "%s/filler", disk->path);
}

/* The server writes meanwhile, so there may be less room than there was. */
static void
take_room(const struct disk *disk)
{
    char path[name_bytes];
    struct statvfs room;
    off_t size = 0;
    int fd;

    name_filler(disk, path);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        bench_die("cannot open \"%s\": error %d", path, errno);
    while (fstatvfs(fd, &room) == 0 && room.f_bavail > 0) {
        off_t more = (off_t)(room.f_bavail * room.f_frsize);

        while (more >= (off_t)room.f_frsize && fallocate(fd, 0, size, more) != 0)
            more /= 2;
        if (more < (off_t)room.f_frsize)
            break;
        size += more;
    }
    (void)close(fd); /* Nothing was written. */
}

static void
ignore(void *userdata, const char *message)
{
    (void)userdata;
    (void)message;
}

/* Whether a statement could be executed; a connection that had to go is NULL afterwards. */
static bool
try_statement(PGconn **conn, const char *sql)
{
    bool ok;

    if (*conn == NULL) {
        *conn = race_try_connect_direct();
        (void)PQsetNoticeProcessor(*conn, ignore, NULL);
    }
    PGresult *res = PQexec(*conn, sql);
    ok = PQresultStatus(res) == PGRES_TUPLES_OK;
    PQclear(res);
    if (!ok) {
        PQfinish(*conn);
        *conn = NULL;
    }
    return ok;
}

void
disk_fill(const struct disk *disk)
{
    PGconn *conn = NULL;

    take_room(disk);
    for (int i = 0; i < switches; i++) {
        if (!try_statement(&conn, "select pg_logical_emit_message(true, 'disk', '')") ||
            !try_statement(&conn, "select pg_switch_wal()"))
            break;
    }
    PQfinish(conn);
}

bool
disk_free(const struct disk *disk)
{
    double until_s = bench_limit_s(up_within_s);
    char path[name_bytes];
    PGconn *conn = NULL;
    bool up;
    bool was_up;

    name_filler(disk, path);
    if (unlink(path) != 0)
        bench_die("cannot remove \"%s\": error %d", path, errno);
    was_up = up = try_statement(&conn, "select 1");
    while (!up) {
        if (!cluster_lives(disk->cluster))
            cluster_start(disk->cluster);
        if (bench_now_s() > until_s)
            bench_die("the server did not come back when its disk had room again");
        race_breathe();
        up = try_statement(&conn, "select 1");
    }
    PQfinish(conn);
    return !was_up;
}

long
disk_complaints(const struct disk *disk)
{
    char path[name_bytes], line[1000];
    FILE *file;
    long count = 0;

    (void)snprintf(path, sizeof(path), "%s/server.log", disk->cluster->data);
    file = fopen(path, "re");
    if (file == NULL)
        bench_die("cannot read \"%s\": error %d", path, errno);
    while (fgets(line, sizeof(line), file) != NULL)
        count += strstr(line, "No space left on device") != NULL;
    (void)fclose(file); /* It was only read. */
    return count;
}

void
disk_close(struct disk *disk)
{
    char log[name_bytes];
    const char *const copy[] = {"cp", "-a", disk->path, log, NULL};

    (void)snprintf(log, sizeof(log), "%s/pg_wal", disk->cluster->data);
    cluster_stop(disk->cluster);
    if (unlink(log) != 0)
        bench_die("cannot remove \"%s\": error %d", log, errno);
    must_run(copy);
    if (umount(disk->path) != 0 || rmdir(disk->path) != 0)
        bench_die("cannot remove \"%s\": error %d", disk->path, errno);
    memset(disk, 0, sizeof(*disk));
}
