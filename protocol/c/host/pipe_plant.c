/* The mechanics are another program: records over stdin and stdout, each a length (u16, little-endian) of what follows,
 * a letter, data.
 *
 * Board -> plant
 *   R  the board has started or was plugged in: boot_id (u32), then the name of its line, nothing while unplugged
 *   A  a new operation (a message): answer with G; 0 means that it moves from now on
 *   M  any other message of the host
 *   H  stop every motor: u8 tl_halt
 *   S  session: u8 connected, u8 identified, u8 last tl_lost, u16 undelivered, then the stop reason
 * Plant -> board
 *   G  u8: why the operation may not begin (tl_refusal_code), 0: it may
 *   M  a message for the host; op_result ends an operation, stop_latched latches a stop
 *   K  u8: whether the cause of the stop is still there
 *   Z  u8: whether the board is mute, as while it boots
 *   X  reset the board
 *   P  u8: pull the adapter (0), or plug it in again (1)
 * The end of stdin ends the program, with BYE.
 */
#define _GNU_SOURCE
#include "host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint8_t inbox[1u << 16];
static size_t filled;

static void give(program *of, char letter, const uint8_t *data, size_t length)
{
    uint8_t record[512];
    size_t written = 0u;

    record[0] = (uint8_t)((length + 1u) & 0xFFu);
    record[1] = (uint8_t)((length + 1u) >> 8);
    record[2] = (uint8_t)letter;
    if (length > 0u) {
        memcpy(&record[3], data, length);
    }
    while (written < (length + 3u)) {
        const ssize_t put = write(STDOUT_FILENO, &record[written], length + 3u - written);

        if ((put < 0) && (errno != EINTR)) {
            of->ended = 1u;
            return;
        }
        written += (put > 0) ? (size_t)put : 0u;
    }
}

static void give_message(program *of, char letter, const tl_message *message)
{
    uint8_t data[TL_MESSAGE_LIMIT];
    size_t length = 0u;

    if (tl_encode(message, data, sizeof data, &length) == TL_OK) {
        give(of, letter, data, length);
    }
}

static void give_ready(program *of)
{
    uint8_t data[4u + sizeof of->line.name];
    const size_t length = (of->line.master < 0) ? 0u : strlen(of->line.name);

    for (uint8_t at = 0u; at < 4u; at++) {
        data[at] = (uint8_t)((of->board.boot_id >> (8u * at)) & 0xFFu);
    }
    memcpy(&data[4], of->line.name, length);
    give(of, 'R', data, length + 4u);
}

/* Reads more; the end of it ends the program. */
static void take_more(program *of)
{
    const ssize_t got = read(STDIN_FILENO, &inbox[filled], sizeof inbox - filled);

    if (got > 0) {
        filled += (size_t)got;
    } else if ((got == 0) || ((errno != EINTR) && (errno != EAGAIN))) {
        of->ended = 1u;
    }
}

/* The length of the record that begins at a place, its head included; 0 where it is not whole yet. */
static size_t record_at(size_t at)
{
    size_t length;

    if ((filled - at) < 3u) {
        return 0u;
    }
    length = (size_t)inbox[at] + ((size_t)inbox[at + 1u] << 8) + 2u;
    return ((filled - at) < length) ? 0u : length;
}

static void remove_record(size_t at, size_t length)
{
    memmove(&inbox[at], &inbox[at + length], filled - at - length);
    filled -= length;
}

/* Carries a message of the plant out; 0 where there is no room for it now. */
static int on_message(program *of, const uint8_t *data, size_t length)
{
    tl_board *board = &of->board;
    tl_message message;

    if (tl_decode(data, length, &message) != TL_OK) {
        (void)fprintf(stderr, "the plant's message of type 0x%02x cannot be read\n", (length > 0u) ? data[0] : 0u);
        of->ended = 1u;
        return 1;
    }
    if (message.type == (uint8_t)TL_TYPE_STOP_LATCHED) {
        tl_board_stop(board, message.as.stop_latched.reason.bytes, message.as.stop_latched.reason.length);
        return 1;
    }
    if (board->link.connected && (tl_link_room(&board->link) == 0u)) {
        return 0;
    }
    if (message.type == (uint8_t)TL_TYPE_OP_RESULT) {
        (void)tl_board_finish(board, &message);
    } else {
        (void)tl_board_tell(board, &message);
    }
    return 1;
}

/* Carries a record out; 0 where it must wait. */
static int on_record(program *of, const uint8_t *record, size_t length)
{
    const uint8_t value = (length > 3u) ? record[3] : 0u;

    switch (record[2]) {
    case 'M':
        return on_message(of, &record[3], length - 3u);
    case 'K':
        of->board.stop_held = value;
        return 1;
    case 'Z':
        of->muted = value;
        return 1;
    case 'X':
        boot(of);
        give_ready(of);
        return 1;
    case 'P':
        if (value == 0u) {
            pty_close(&of->line);
            tl_link_line_lost(&of->board.link);
        } else if (of->line.master < 0) {
            of->ended = (uint8_t)(pty_open(&of->line) ? 0u : 1u);
            give_ready(of);
        }
        return 1;
    default:
        return 1; /* an answer nobody waits for */
    }
}

static uint32_t work_off(program *of, uint32_t now)
{
    size_t length = record_at(0u);

    (void)now;
    while ((length > 0u) && on_record(of, inbox, length)) {
        remove_record(0u, length);
        length = record_at(0u);
    }
    return TL_NEVER;
}

static void start(program *of)
{
    give_ready(of);
}

static uint8_t refusal(program *of, const tl_message *operation)
{
    size_t at = 0u;

    give_message(of, 'A', operation);
    while (!of->ended) {
        const size_t length = record_at(at);

        if ((length > 3u) && (inbox[at + 2u] == (uint8_t)'G')) {
            const uint8_t reason = inbox[at + 3u];

            remove_record(at, length);
            return reason;
        }
        if (length > 0u) {
            at += length;
        } else if (filled < sizeof inbox) {
            take_more(of);
        } else {
            (void)fprintf(stderr, "the plant said too much before it answered\n");
            of->ended = 1u;
        }
    }
    return (uint8_t)TL_REFUSAL_BUSY;
}

static void begin(program *of, const tl_message *operation)
{
    (void)of; /* the plant has begun with its answer */
    (void)operation;
}

static void request(program *of, const tl_message *message)
{
    give_message(of, 'M', message);
}

static void halt(program *of, tl_halt why)
{
    const uint8_t told = (uint8_t)why;

    give(of, 'H', &told, 1u);
}

static void changed(program *of)
{
    const tl_board *board = &of->board;
    uint8_t data[5u + sizeof board->stop_reason.bytes];

    data[0] = board->link.connected;
    data[1] = board->identified;
    data[2] = board->last_loss;
    data[3] = (uint8_t)(board->last_undelivered & 0xFFu);
    data[4] = (uint8_t)(board->last_undelivered >> 8);
    memcpy(&data[5], board->stop_reason.bytes, board->stop_reason.length);
    give(of, 'S', data, 5u + (size_t)board->stop_reason.length);
}

static int wants(program *of)
{
    (void)of;
    return filled < (sizeof inbox / 2u);
}

const plant pipe_plant = {start, refusal, begin, request, halt, changed, wants, take_more, work_off};
