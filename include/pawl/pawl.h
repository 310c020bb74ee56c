/* SPDX-License-Identifier: Apache-2.0 */
/* libpawl: durable workflows on PostgreSQL. Includes all that programs need; tests add <pawl/test.h>. */
#ifndef PAWL_PAWL_H
#define PAWL_PAWL_H

#include <pawl/admin.h>
#include <pawl/api.h>
#include <pawl/client.h>
#include <pawl/config.h>
#include <pawl/error.h>
#include <pawl/json.h>
#include <pawl/log.h>
#include <pawl/run.h>
#include <pawl/version.h>
#include <pawl/worker.h>

#endif
