/* SPDX-License-Identifier: Apache-2.0 */
#include "server/own.h"

#include "server/ready.h"
#include "server/request.h"
#include "server/server.h"

#include <string.h>

void
own_answer(struct request *request)
{
    const char *name = request->match.route->verb;
    struct reply *reply = &request->reply;
    struct server *server = request->server;

    reply->status = 200;
    reply->type = "application/json";
    if (strcmp(name, "openapi") == 0) {
        pw_buf_add(&reply->body, server->document.data, server->document.size);
    } else if (strcmp(name, "ready") == 0) {
        bool ready = ready_now(server);

        reply->status = ready ? 200 : 503;
        pw_buf_adds(&reply->body, ready ? "{\"ready\":true}" : "{\"ready\":false}");
    } else {
        pw_buf_adds(&reply->body, "{\"alive\":true}");
    }
}
