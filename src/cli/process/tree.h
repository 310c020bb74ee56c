/* SPDX-License-Identifier: Apache-2.0 */
/* Removes a directory with everything in it. */
#ifndef PW_CLI_PROCESS_TREE_H
#define PW_CLI_PROCESS_TREE_H

/*
 * Removes the directory as far as that is allowed, even where its creator has removed rights. Does not follow links. Does nothing if there
 * is no such directory.
 */
void tree_remove(const char *path);

#endif
