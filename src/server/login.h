/* SPDX-License-Identifier: Apache-2.0 */
/* The login of the server: it must be a gateway, which may do nothing without a token. */
#ifndef PW_SERVER_LOGIN_H
#define PW_SERVER_LOGIN_H

#include <pawl/pawl.h>
#include <stdbool.h>

/* Asks the database once. Returns false after a message if the login is certainly not a gateway; a database that is away is no reason. */
bool login_is_gateway(const pawl_config *config);

#endif
