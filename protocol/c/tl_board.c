#include "tl_board.h"

#include <string.h>

/* The state fits the memory that is promised: an array of negative size would not compile. */
typedef char tl_board_fits[(sizeof(tl_board) <= TL_STATE_LIMIT) ? 1 : -1];

static void say(tl_board *board, const tl_message *message)
{
    if ((board->identified != 0u) && !tl_link_send(&board->link, message)) {
        board->dropped++; /* the host asks again */
    }
}

static void keep(tl_board *board)
{
    if (board->hooks->keep != NULL) {
        board->hooks->keep(board->context);
    }
}

static void changed(tl_board *board)
{
    if (board->hooks->changed != NULL) {
        board->hooks->changed(board->context);
    }
}

/* --- stops ------------------------------------------------------------------------------------------------------- */

static int tell_stop(tl_board *board, uint16_t req)
{
    tl_message message;

    memset(&message, 0, sizeof message);
    message.type = (uint8_t)TL_TYPE_STOP_LATCHED;
    message.as.stop_latched.reason = board->stop_reason;
    message.as.stop_latched.req = req;
    return (board->identified == 0u) || tl_link_send(&board->link, &message);
}

void tl_board_stop(tl_board *board, const uint8_t *reason, uint8_t length)
{
    static const uint8_t unnamed[] = {'s', 't', 'o', 'p', 'p', 'e', 'd'};

    board->hooks->halt(board->context, TL_HALT_STOP);
    if (board->stop_reason.length == 0u) {
        if ((length == 0u) || (length > sizeof board->stop_reason.bytes)) {
            board->stop_reason.length = (uint8_t)sizeof unnamed;
            memcpy(board->stop_reason.bytes, unnamed, sizeof unnamed);
        } else {
            board->stop_reason.length = length;
            memcpy(board->stop_reason.bytes, reason, length);
        }
        keep(board);
        changed(board);
    }
    board->stop_untold = (uint8_t)(tell_stop(board, 0u) ? 0u : 1u);
}

static void clear_stop(tl_board *board, uint16_t req)
{
    tl_message message;

    if (board->stop_held != 0u) {
        board->dropped += tell_stop(board, req) ? 0u : 1u;
        return;
    }
    board->stop_reason.length = 0u;
    board->stop_untold = 0u;
    keep(board);
    memset(&message, 0, sizeof message);
    message.type = (uint8_t)TL_TYPE_STOP_CLEARED;
    message.as.stop_cleared.req = req;
    say(board, &message);
    changed(board);
}

/* --- operations -------------------------------------------------------------------------------------------------- */

static void refuse(tl_board *board, const tl_message *operation, uint8_t reason)
{
    tl_message answer;

    memset(&answer, 0, sizeof answer);
    answer.type = (uint8_t)TL_TYPE_OP_REFUSED;
    answer.as.op_refused.op = *tl_operation_id(operation);
    answer.as.op_refused.reason = reason;
    say(board, &answer);
}

static void on_operation(tl_board *board, const tl_message *operation)
{
    const tl_operation *known;
    tl_message answer;
    uint8_t reason = 0u;

    switch (tl_operations_admit(&board->operations, operation, &known)) {
    case TL_ADMIT_RUNNING:
    case TL_ADMIT_ENDED:
        tl_operations_answer(&board->operations, known, &answer);
        say(board, &answer);
        return;
    case TL_ADMIT_REFUSED:
        refuse(board, operation, (uint8_t)TL_REFUSAL_BAD_ARGUMENT);
        return;
    case TL_ADMIT_NEW:
    default:
        break;
    }
    if (board->spoken == 0u) {
        reason = (uint8_t)TL_REFUSAL_UNSUPPORTED;
    } else if (board->stop_reason.length > 0u) {
        reason = (uint8_t)TL_REFUSAL_LATCHED;
    } else if (tl_operations_full(&board->operations)) {
        reason = (uint8_t)TL_REFUSAL_BUSY;
    } else {
        reason = board->hooks->refusal(board->context, operation);
    }
    if (reason != 0u) {
        refuse(board, operation, reason);
        return;
    }
    (void)tl_operations_begin(&board->operations, operation);
    keep(board);
    memset(&answer, 0, sizeof answer);
    answer.type = (uint8_t)TL_TYPE_OP_ACCEPTED;
    answer.as.op_accepted.op = *tl_operation_id(operation);
    say(board, &answer);
    board->hooks->begin(board->context, operation);
}

int tl_board_finish(tl_board *board, const tl_message *op_result)
{
    const tl_op_result *ended = &op_result->as.op_result;
    const tl_operation *stored;
    tl_message told;
    uint8_t bytes[TL_MESSAGE_LIMIT];
    size_t length = 0u;

    if ((op_result->type != (uint8_t)TL_TYPE_OP_RESULT) ||
        (tl_encode(op_result, bytes, sizeof bytes, &length) != TL_OK)) {
        return 0;
    }
    if ((board->link.connected != 0u) && (tl_link_room(&board->link) == 0u)) {
        return 0;
    }
    stored = tl_operations_finish(&board->operations, &ended->op, ended->outcome, ended->fault, ended->side,
                                  ended->values.bytes, ended->values.length);
    if (stored == NULL) {
        return 0;
    }
    tl_operations_answer(&board->operations, stored, &told);
    keep(board); /* a result is not told before it is written */
    say(board, &told);
    return 1;
}

/* --- what comes from the link ------------------------------------------------------------------------------------ */

static uint32_t on_random(void *context)
{
    const tl_board *board = (const tl_board *)context;

    return board->hooks->random(board->context);
}

static void on_started(void *context, uint32_t session)
{
    tl_board *board = (tl_board *)context;

    (void)session;
    board->identified = 0u;
    board->spoken = 0u;
    changed(board);
}

static void on_lost(void *context, tl_lost why, uint16_t undelivered)
{
    tl_board *board = (tl_board *)context;

    board->identified = 0u;
    board->spoken = 0u;
    board->stop_untold = 0u; /* the next Identity tells it */
    board->last_loss = (uint8_t)why;
    board->last_undelivered = undelivered;
    board->hooks->halt(board->context, TL_HALT_HOST_LOST);
    changed(board);
}

static void on_message(void *context, const tl_message *message)
{
    tl_board *board = (tl_board *)context;
    tl_message answer;

    if (TL_IS_OPERATION(message->type)) {
        on_operation(board, message);
        return;
    }
    switch ((tl_type_code)message->type) {
    case TL_TYPE_PING:
        memset(&answer, 0, sizeof answer);
        answer.type = (uint8_t)TL_TYPE_PONG;
        answer.as.pong.req = message->as.ping.req;
        say(board, &answer);
        break;
    case TL_TYPE_EMERGENCY_STOP:
        tl_board_stop(board, message->as.emergency_stop.reason.bytes, message->as.emergency_stop.reason.length);
        break;
    case TL_TYPE_CLEAR_STOP:
        clear_stop(board, message->as.clear_stop.req);
        break;
    case TL_TYPE_IDENTIFY:
        board->spoken = ((message->as.identify.protocol_min <= TL_PROTOCOL) &&
                         (message->as.identify.protocol_max >= TL_PROTOCOL))
                            ? 1u
                            : 0u;
        board->hooks->request(board->context, message);
        break;
    default:
        board->hooks->request(board->context, message);
        break;
    }
}

static const tl_link_hooks link_hooks = {on_random, on_started, on_message, NULL, on_lost, NULL};

/* --- what the caller calls --------------------------------------------------------------------------------------- */

void tl_board_init(tl_board *board, const tl_board_buffers *buffers, const tl_board_hooks *hooks, void *context)
{
    memset(board, 0, sizeof *board);
    board->hooks = hooks;
    board->context = context;
    board->boot_id = hooks->random(context);
    tl_link_init(&board->link, &buffers->link, &link_hooks, board);
    tl_operations_init(&board->operations, buffers->values, buffers->value_size);
}

void tl_board_receive(tl_board *board, const uint8_t *bytes, size_t length, uint32_t now)
{
    tl_link_receive(&board->link, bytes, length, now);
}

void tl_board_tick(tl_board *board, uint32_t now)
{
    tl_link_tick(&board->link, now);
    if ((board->stop_untold != 0u) && tell_stop(board, 0u)) {
        board->stop_untold = 0u;
    }
}

size_t tl_board_outgoing(tl_board *board, uint8_t *out, size_t room, uint32_t now)
{
    return tl_link_outgoing(&board->link, out, room, now);
}

uint32_t tl_board_wait(const tl_board *board, uint32_t now)
{
    return tl_link_wait(&board->link, now);
}

int tl_board_tell(tl_board *board, const tl_message *message)
{
    const tl_operation *running = tl_operations_running(&board->operations);
    tl_message told = *message;

    if ((tl_link_room(&board->link) == 0u) || (message->type == (uint8_t)TL_TYPE_OP_ACCEPTED) ||
        (message->type == (uint8_t)TL_TYPE_OP_REFUSED) || (message->type == (uint8_t)TL_TYPE_OP_RESULT)) {
        return 0;
    }
    switch ((tl_type_code)message->type) {
    case TL_TYPE_IDENTITY:
        told.as.identity.protocol = TL_PROTOCOL;
        told.as.identity.boot_id = board->boot_id;
        told.as.identity.last_op.present = board->operations.has_last;
        told.as.identity.last_op.value = board->operations.last;
        told.as.identity.stop_reason = board->stop_reason;
        board->identified = 1u;
        changed(board);
        break;
    case TL_TYPE_STATUS:
        told.as.status.stop_reason = board->stop_reason;
        told.as.status.running_op.present = (running != NULL) ? 1u : 0u;
        if (running != NULL) {
            told.as.status.running_op.value = running->op;
        }
        break;
    case TL_TYPE_COUNTERS:
        told.as.counters.frames_in = board->link.stats.frames_in;
        told.as.counters.frames_out = board->link.stats.frames_out;
        told.as.counters.retransmits = board->link.stats.retransmits;
        told.as.counters.bad_frames = tl_link_bad_frames(&board->link);
        break;
    default:
        break;
    }
    return (board->identified != 0u) && tl_link_send(&board->link, &told);
}
