/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes between a client and a server, in pieces: the first byte of each says which way and how many. The flows stay in their bounds, and every look comes to an end. */
#include "proxy_wire.h"
#include "fuzz.h"

#include <string.h>

static void
check_flow(const struct wire_flow *flow)
{
    fuzz_check(
        flow->start <= flow->parsed && flow->parsed <= flow->end && flow->end <= wire_flow_bytes,
        "a flow out of its bounds");
}

/* Looks until there is nothing new; forwards what may be. */
static void
look(struct wire *wire, bool up, bool withhold)
{
    struct wire_request request;
    enum wire_event event = WIRE_MORE;
    bool failed = false;
    long turns = 0;

    do {
        event = up ? wire_look_up(wire, &request) : wire_look_down(wire, &failed);
        if (event == WIRE_REQUEST) {
            fuzz_check(strlen(request.name) + strlen(request.text) < 2 * wire_head_bytes,
                "a request without an end");
            (void)wire_matches(&request, "commit");
            if (withhold)
                wire_withhold(wire);
            wire_pass(wire);
        }
        check_flow(&wire->up);
        check_flow(&wire->down);
        fuzz_check(++turns <= wire_flow_bytes, "no end");
    } while (event != WIRE_MORE);
    wire->up.start = wire->up.parsed;
    wire->down.start = wire->down.parsed;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = fuzz_input(data, size);
    struct wire wire;

    wire_init(&wire);
    while (input.at < input.end) {
        unsigned char head = fuzz_byte(&input);
        bool up = (head & 128) == 0;
        struct wire_flow *flow = up ? &wire.up : &wire.down;
        size_t count = head & 63;
        size_t room;
        char *at = wire_room(flow, &room);

        count = count > (size_t)(input.end - input.at) ? (size_t)(input.end - input.at) : count;
        if (count > room)
            break;
        memcpy(at, input.at, count);
        input.at += count;
        flow->end += count;
        look(&wire, up, (head & 64) != 0);
    }
    wire_done(&wire);
    return 0;
}
