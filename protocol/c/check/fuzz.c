/* Any bytes, any order of events: what must hold, holds. For libFuzzer:
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined ../x.c ... fuzz.c -o fuzz && ./fuzz
 *
 * The input is a script: a letter of what happens, then what it needs. Frames are given their check and, mostly, the
 * tag and number of the session, so that the search reaches what lies behind them.
 */
#include "../tl_board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(what) ((what) ? (void)0 : must_hold(#what, __LINE__))
#define SLOTS 5u
#define STEPS 64u
#define ATTEMPTS 4u

/* Each for itself, so that a byte beyond one is seen. */
static uint8_t receive[TL_ENCODED_LIMIT];
static uint8_t slots[SLOTS * TL_SLOT];
static uint8_t values[TL_ENTRIES * 8u];

static void must_hold(const char *what, int line)
{
    (void)fprintf(stderr, "line %d: %s does not hold\n", line, what);
    abort();
}

typedef struct {
    const uint8_t *data;
    size_t length;
    size_t at;
} script;

typedef struct {
    tl_board board;
    tl_board_buffers buffers;
    uint32_t now;
    uint32_t number;
    uint32_t halts;
    uint32_t losses;
    uint8_t begun[2][STEPS][ATTEMPTS];
    uint8_t refuses;
    uint8_t worked; /* operations in a row so far: an input has an end to what it may cost */
} world;

static uint8_t next(script *from)
{
    const uint8_t byte = (from->at < from->length) ? from->data[from->at] : 0u;

    from->at++;
    return byte;
}

static size_t take(script *from, uint8_t *out, size_t wanted)
{
    const size_t left = (from->at < from->length) ? (from->length - from->at) : 0u;
    const size_t length = (wanted < left) ? wanted : left;

    if (length > 0u) {
        memcpy(out, &from->data[from->at], length);
    }
    from->at += length;
    return length;
}

/* --- hooks -------------------------------------------------------------------------------------------------------- */

static uint32_t on_random(void *context)
{
    world *in = (world *)context;

    in->number = (in->number * 1664525u) + 1013904223u;
    return ((in->number >> 28) == 0u) ? 0u : in->number;
}

static uint8_t on_refusal(void *context, const tl_message *operation)
{
    const world *in = (const world *)context;

    MUST(TL_IS_OPERATION(operation->type));
    return in->refuses;
}

static void on_begin(void *context, const tl_message *operation)
{
    world *in = (world *)context;
    const tl_op_id *op = tl_operation_id(operation);

    MUST(in->board.stop_reason.length == 0u);
    MUST(in->board.spoken != 0u);
    MUST(in->refuses == 0u);
    if ((op->journal < 2u) && (op->hand == 0u) && (op->step < STEPS) && (op->attempt < ATTEMPTS)) {
        MUST(in->begun[op->journal][op->step][op->attempt] == 0u); /* never twice, whatever the line did */
        in->begun[op->journal][op->step][op->attempt] = 1u;
    }
}

static void on_request(void *context, const tl_message *message)
{
    world *in = (world *)context;
    tl_message answer;

    if (message->type == (uint8_t)TL_TYPE_IDENTIFY) {
        memset(&answer, 0, sizeof answer);
        answer.type = (uint8_t)TL_TYPE_IDENTITY;
        answer.as.identity.capabilities.sets = 1u;
        (void)tl_board_tell(&in->board, &answer);
    }
}

static void on_halt(void *context, tl_halt why)
{
    world *in = (world *)context;

    in->halts++;
    in->losses += (why == TL_HALT_HOST_LOST) ? 1u : 0u;
}

static const tl_board_hooks hooks = {on_random, on_refusal, on_begin, on_request, on_halt, NULL, NULL};

/* --- what happens ------------------------------------------------------------------------------------------------- */

static void say(world *in, const tl_frame *frame)
{
    uint8_t line[TL_FRAME_ROOM];
    const size_t length = tl_frame_encode(frame, line, sizeof line);

    MUST(length > 0u);
    tl_board_receive(&in->board, line, length, in->now);
}

static void say_data(world *in, const uint8_t *payload, uint8_t length)
{
    const tl_link *link = &in->board.link;
    tl_frame frame = {0u, (uint8_t)TL_FRAME_KIND_DATA, TL_LINK_VERSION, link->expected, link->next_seq, length,
                      link->tag, payload};

    say(in, &frame);
}

static void say_message(world *in, const tl_message *message)
{
    uint8_t data[TL_MESSAGE_LIMIT];
    size_t length = 0u;

    if (tl_encode(message, data, sizeof data, &length) == TL_OK) {
        say_data(in, data, (uint8_t)length);
    }
}

static void meet(world *in, script *from)
{
    const uint8_t window = next(from);
    const uint32_t number = 1u + next(from);
    tl_frame frame = {0u, (uint8_t)TL_FRAME_KIND_HELLO, TL_LINK_VERSION, 0u, 0u, 1u, number, &window};
    tl_message identify;

    say(in, &frame);
    frame.kind = (uint8_t)TL_FRAME_KIND_ACK;
    frame.length = 0u;
    frame.session = number ^ in->board.link.answer_own;
    say(in, &frame);
    memset(&identify, 0, sizeof identify);
    identify.type = (uint8_t)TL_TYPE_IDENTIFY;
    identify.as.identify.protocol_min = (uint8_t)(next(from) & 1u);
    identify.as.identify.protocol_max = 1u;
    say_message(in, &identify);
}

static void operate(world *in, script *from)
{
    static const uint8_t verbs[] = {(uint8_t)TL_TYPE_DICE_ROLL, (uint8_t)TL_TYPE_SORT_START};
    const uint8_t which = next(from);
    const uint8_t how = next(from);
    tl_message operation;

    memset(&operation, 0, sizeof operation);
    operation.type = verbs[how & 1u];
    operation.as.sort_start.set_no = 1u;
    operation.as.sort_start.op.journal = (how >> 1) & 1u;
    operation.as.sort_start.op.step = (uint16_t)(which % STEPS);
    operation.as.sort_start.op.attempt = (uint16_t)((which / STEPS) % ATTEMPTS);
    in->refuses = (uint8_t)(((how & 0x1Cu) == 0x1Cu) ? 2u : 0u);
    say_message(in, &operation);
    in->refuses = 0u;
}

static void finish(world *in, script *from)
{
    const tl_operation *running = tl_operations_running(&in->board.operations);
    const uint8_t length = (uint8_t)(next(from) % 10u);
    tl_message result;
    int done;

    memset(&result, 0, sizeof result);
    result.type = (uint8_t)TL_TYPE_OP_RESULT;
    result.as.op_result.side = TL_NONE;
    result.as.op_result.outcome = (uint8_t)(next(from) % 4u);
    result.as.op_result.values.length = length;
    if (running != NULL) {
        result.as.op_result.op = running->op;
    }
    done = tl_board_finish(&in->board, &result);
    MUST((running != NULL) || !done);
    MUST(!done || ((length <= 8u) && (result.as.op_result.outcome < 3u)));
}

/* The host acknowledges, asks again, or says anything at all in this session. */
static void speak(world *in, script *from)
{
    uint8_t payload[TL_PAYLOAD_LIMIT];
    const uint8_t kind = next(from);
    const uint8_t seq = next(from);
    const uint8_t ack = next(from);
    const size_t length = take(from, payload, next(from) % TL_PAYLOAD_LIMIT);
    const uint8_t version = (uint8_t)(((kind & 0x0Fu) < 14u) ? 1u : (kind & 0x0Fu));
    tl_frame frame = {(uint8_t)(kind >> 7), (uint8_t)((kind >> 4) & 7u), version,
                      (uint8_t)(in->board.link.expected + (seq & 0x0Fu) - 4u),
                      (uint8_t)(in->board.link.next_seq - (ack & 0x0Fu) + 2u), (uint8_t)length,
                      in->board.link.tag ^ (seq >> 7), payload};

    say(in, &frame);
}

/* Whatever the board says is a frame of a board, and its messages are messages of boards. */
static void listen(world *in, size_t room)
{
    static uint8_t buffer[TL_ENCODED_LIMIT];
    uint8_t out[4096];
    tl_decoder decoder;
    const size_t length = tl_board_outgoing(&in->board, out, room, in->now);

    MUST(length <= room);
    tl_decoder_init(&decoder, buffer);
    for (size_t at = 0u; at < length; at++) {
        tl_frame frame;
        tl_message message;
        const tl_cut what = tl_decoder_take(&decoder, out[at], &frame);

        MUST((what == TL_CUT_NOTHING) || (what == TL_CUT_FRAME));
        if (what == TL_CUT_FRAME) {
            MUST(frame.from_mcu != 0u);
            if (frame.kind == (uint8_t)TL_FRAME_KIND_DATA) {
                MUST(tl_decode(frame.payload, frame.length, &message) == TL_OK);
                MUST(message.type >= 0x80u);
            }
        }
    }
    MUST(decoder.length == 0u);
}

static void reset(world *in, script *from)
{
    uint8_t image[TL_IMAGE_ROOM(8u)];
    const size_t length = tl_operations_save(&in->board.operations, image, sizeof image);
    const uint8_t harm = next(from);

    MUST(length == sizeof image);
    if (harm < 16u) {
        tl_operations scratch = in->board.operations;
        uint8_t apart[sizeof values];

        scratch.values = apart;
        image[(size_t)harm * (sizeof image / 16u)] ^= 0x40u;
        MUST(!tl_operations_load(&scratch, image, length));
        return;
    }
    tl_board_init(&in->board, &in->buffers, &hooks, in);
    MUST(tl_operations_load(&in->board.operations, image, length));
    MUST(tl_operations_running(&in->board.operations) == NULL);
}

static void tell(world *in, script *from)
{
    uint8_t data[TL_MESSAGE_LIMIT];
    const size_t length = take(from, data, next(from) % TL_MESSAGE_LIMIT);
    uint8_t *exact = (uint8_t *)malloc(length + 1u); /* a place of just this size: a byte read beyond it is seen */
    tl_message message;
    tl_error error;

    MUST(exact != NULL);
    memcpy(&exact[1], data, length);
    error = tl_decode(&exact[1], length, &message);
    free(exact);
    if (error == TL_OK) {
        uint8_t again[TL_MESSAGE_LIMIT];
        size_t back = 0u;

        MUST(tl_encode(&message, again, sizeof again, &back) == TL_OK);
        MUST((back == length) && (memcmp(again, data, length) == 0));
        (void)tl_board_tell(&in->board, &message);
        if (message.type < 0x80u) {
            say_message(in, &message);
        }
    }
}

/* Many operations one after another, heard and acknowledged: the memory fills and forgets. */
static void work(world *in, script *from)
{
    const uint8_t first = next(from);
    const uint8_t many = next(from);
    const uint8_t count = (uint8_t)((many >> 1) % 40u);

    for (uint8_t more = 0u; (more < count) && (in->worked < 45u); more++) {
        const uint8_t which = (uint8_t)(first + more);
        const tl_operation *running;
        tl_message operation;
        tl_message result;
        tl_frame frame = {0u, (uint8_t)TL_FRAME_KIND_ACK, TL_LINK_VERSION, 0u, 0u, 0u, in->board.link.tag, NULL};

        in->worked++;
        memset(&operation, 0, sizeof operation);
        memset(&result, 0, sizeof result);
        operation.type = (uint8_t)TL_TYPE_DICE_ROLL;
        operation.as.dice_roll.op.journal = many & 1u;
        operation.as.dice_roll.op.step = (uint16_t)(which % STEPS);
        operation.as.dice_roll.op.attempt = (uint16_t)((which / STEPS) % ATTEMPTS);
        say_message(in, &operation);
        running = tl_operations_running(&in->board.operations);
        result.type = (uint8_t)TL_TYPE_OP_RESULT;
        result.as.op_result.side = TL_NONE;
        if (running != NULL) {
            result.as.op_result.op = running->op;
        }
        (void)tl_board_finish(&in->board, &result);
        listen(in, 4096u);
        frame.seq = in->board.link.expected;
        frame.ack = in->board.link.next_seq;
        say(in, &frame);
    }
}

static void happen(world *in, script *from)
{
    uint8_t bytes[300];
    size_t length;

    switch (next(from) % 13u) {
    case 0u:
        length = take(from, bytes, next(from));
        tl_board_receive(&in->board, bytes, length, in->now);
        break;
    case 1u:
        speak(in, from);
        break;
    case 2u:
        length = take(from, bytes, next(from) % TL_PAYLOAD_LIMIT);
        say_data(in, bytes, (uint8_t)length);
        break;
    case 3u:
        in->now += (uint32_t)next(from) * 7u;
        break;
    case 4u:
        tl_board_tick(&in->board, in->now);
        break;
    case 5u:
        listen(in, (size_t)next(from) * 9u);
        break;
    case 6u:
        tell(in, from);
        break;
    case 7u:
        finish(in, from);
        break;
    case 8u:
        meet(in, from);
        break;
    case 9u:
        operate(in, from);
        break;
    case 10u:
        length = take(from, bytes, next(from) % 60u);
        in->board.stop_held = (uint8_t)(next(from) & 1u);
        tl_board_stop(&in->board, bytes, (uint8_t)length);
        MUST(in->board.stop_reason.length > 0u);
        break;
    case 11u:
        work(in, from);
        break;
    default:
        switch (next(from) % 5u) {
        case 3u:
            memset(bytes, 0x55, sizeof bytes); /* noise without a zero, longer than a frame */
            tl_board_receive(&in->board, bytes, (size_t)next(from) + 40u, in->now);
            break;
        case 0u:
            tl_link_line_lost(&in->board.link);
            MUST(in->board.link.connected == 0u);
            break;
        case 1u:
            reset(in, from);
            break;
        case 2u:
            in->now += 0x10000000u; /* the clock goes round */
            break;
        default:
            listen(in, 4096u);
            break;
        }
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static world in;
    script from = {data, size, 0u};

    memset(&in, 0, sizeof in);
    in.now = 0xFFFFF000u; /* about to go round */
    in.buffers.link.receive = receive;
    in.buffers.link.slots = slots;
    in.buffers.link.slot_count = (uint8_t)SLOTS;
    in.buffers.link.window = 4u;
    in.buffers.values = values;
    in.buffers.value_size = 8u;
    tl_board_init(&in.board, &in.buffers, &hooks, &in);
    while (from.at < size) {
        const uint8_t was = in.board.link.connected;
        const uint32_t heard = in.board.link.heard_at;
        const uint32_t losses = in.losses;
        const uint32_t sessions = in.board.link.stats.sessions;

        happen(&in, &from);
        MUST(in.board.link.in_flight <= in.board.link.waiting);
        MUST(in.board.link.waiting <= SLOTS);
        MUST((in.board.link.connected == 0u) || (in.board.link.in_flight <= in.board.link.window));
        MUST((in.board.link.rto >= TL_RTO_LOWEST_MS) && (in.board.link.rto <= TL_RTO_HIGHEST_MS));
        MUST(in.board.operations.count <= TL_ENTRIES);
        /* Whenever a session ends, motors halt; and one that was silent for a second is never acted upon. */
        if (was && (in.board.link.stats.sessions >= sessions) && (!in.board.link.connected)) {
            MUST((in.losses > losses) || (in.board.link.stats.sessions == 0u));
        }
        if (was && ((uint32_t)(in.now - heard) >= TL_HOST_SILENCE_MS)) {
            tl_board_tick(&in.board, in.now);
            MUST((in.board.link.connected == 0u) || (in.board.link.heard_at != heard));
        }
    }
    return 0;
}
