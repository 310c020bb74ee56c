/* SPDX-License-Identifier: Apache-2.0 */
/* A directory with all that is in it. */
#ifndef PW_CLI_PROCESS_TREE_H
#define PW_CLI_PROCESS_TREE_H

/* Removes it as far as that is allowed, also where whoever made it took rights away; does not follow links. Harmless if there is none. */
void tree_remove(const char *path);

#endif
