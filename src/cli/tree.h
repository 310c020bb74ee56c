/* SPDX-License-Identifier: Apache-2.0 */
/* A directory with all that is in it. */
#ifndef PW_CLI_TREE_H
#define PW_CLI_TREE_H

/* Removes it as far as that is allowed; does not follow links. Harmless if there is none. */
void tree_remove(const char *path);

#endif
