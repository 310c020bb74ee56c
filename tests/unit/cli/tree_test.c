/* SPDX-License-Identifier: Apache-2.0 */
/* Directories as a program leaves them that does not want them to be removed: without rights, deep, with links to elsewhere. */
#include "cli/process/tree.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    DEPTH = 500 /* beyond what a path can name */
};

static char place[] = "/tmp/pawl-tree-XXXXXX";

/* Root removes anything; so it is not quite root here. */
static int
begin(void **state)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};

    (void)state;
    memcpy(strrchr(place, '-'), "-XXXXXX", 8);
    return syscall(SYS_capset, &header, none) == 0 && mkdtemp(place) != NULL && chdir(place) == 0 &&
            mkdir("tree", 0700) == 0
        ? 0
        : -1;
}

static int
end(void **state)
{
    (void)state;
    return chdir("/") == 0 && rmdir(place) == 0 ? 0 : -1;
}

static void
make_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    (void)close(fd);
}

static void
assert_gone(const char *path)
{
    assert_int_equal(access(path, F_OK), -1);
}

static void
what_was_made_without_rights_is_removed(void **state)
{
    (void)state;
    assert_int_equal(mkdir("tree/none", 0700), 0);
    make_file("tree/none/file");
    assert_int_equal(mkdir("tree/none/inside", 0700), 0);
    make_file("tree/none/inside/file");
    assert_int_equal(chmod("tree/none/inside", 0), 0);
    assert_int_equal(chmod("tree/none", 0), 0);
    assert_int_equal(mkdir("tree/read", 0700), 0);
    make_file("tree/read/file");
    assert_int_equal(chmod("tree/read", 0500), 0);
    assert_int_equal(mkdir("tree/blind", 0700), 0);
    make_file("tree/blind/file");
    assert_int_equal(chmod("tree/blind", 0600), 0);
    assert_int_equal(chmod("tree", 0), 0);
    tree_remove("tree");
    assert_gone("tree");
}

static void
what_is_deeper_than_a_path_can_be_is_removed(void **state)
{
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)state;
    assert_int_equal(chdir("tree"), 0);
    for (int i = 0; i < DEPTH; i++) {
        assert_int_equal(mkdir("a_rather_long_name", 0700), 0);
        assert_int_equal(mkdir("beside", 0700), 0);
        make_file("beside/file");
        assert_int_equal(chdir("a_rather_long_name"), 0);
    }
    assert_int_equal(fchdir(here), 0);
    (void)close(here);
    tree_remove("tree");
    assert_gone("tree");
}

static void
links_are_removed_and_not_followed(void **state)
{
    (void)state;
    assert_int_equal(mkdir("kept", 0700), 0);
    make_file("kept/file");
    assert_int_equal(symlink("../kept", "tree/link"), 0);
    assert_int_equal(mkdir("tree/inside", 0700), 0);
    assert_int_equal(symlink("../../kept", "tree/inside/link"), 0);
    tree_remove("tree");
    assert_gone("tree");
    assert_int_equal(symlink("kept", "tree"), 0);
    tree_remove("tree");
    assert_int_equal(access("kept/file", F_OK), 0);
    assert_int_equal(unlink("tree"), 0);
    tree_remove("kept");
    assert_gone("kept");
    tree_remove("kept"); /* there is none */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_made_without_rights_is_removed, begin, end),
        cmocka_unit_test_setup_teardown(what_is_deeper_than_a_path_can_be_is_removed, begin, end),
        cmocka_unit_test_setup_teardown(links_are_removed_and_not_followed, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
