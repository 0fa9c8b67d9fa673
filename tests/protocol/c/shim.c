/* The C link and operation memory as flat functions for ctypes; what the hooks are told goes into a log. */
#include "tl_link.h"
#include "tl_operations.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS 72u
#define LOG 65536u

typedef struct {
    tl_link link;
    uint8_t receive[TL_ENCODED_LIMIT];
    uint8_t slots[SLOTS * TL_SLOT];
    uint8_t log[LOG];
    size_t logged;
    uint32_t (*random)(void);
} shim;

/* One entry: kind, length (u16, little-endian), data. */
static void note(shim *with, char kind, const uint8_t *data, size_t length)
{
    if ((with->logged + length + 3u) > LOG) {
        abort();
    }
    with->log[with->logged] = (uint8_t)kind;
    with->log[with->logged + 1u] = (uint8_t)(length & 0xFFu);
    with->log[with->logged + 2u] = (uint8_t)(length >> 8);
    if (length > 0u) {
        memcpy(&with->log[with->logged + 3u], data, length);
    }
    with->logged += length + 3u;
}

static uint32_t on_random(void *context)
{
    return ((shim *)context)->random();
}

static void on_started(void *context, uint32_t session)
{
    note((shim *)context, 's', (const uint8_t *)&session, 4u);
}

static void on_message(void *context, const tl_message *message)
{
    uint8_t data[TL_MESSAGE_LIMIT];
    size_t length = 0u;

    if (tl_encode(message, data, sizeof data, &length) != TL_OK) {
        abort();
    }
    note((shim *)context, 'm', data, length);
}

static void on_undecodable(void *context, tl_error error)
{
    const uint8_t told = (uint8_t)error;

    note((shim *)context, 'u', &told, 1u);
}

static void on_lost(void *context, tl_lost why, uint16_t undelivered)
{
    const uint8_t told[3] = {(uint8_t)why, (uint8_t)(undelivered & 0xFFu), (uint8_t)(undelivered >> 8)};

    note((shim *)context, 'l', told, 3u);
}

static void on_version(void *context, uint8_t version)
{
    note((shim *)context, 'v', &version, 1u);
}

static const tl_link_hooks hooks = {on_random, on_started, on_message, on_undecodable, on_lost, on_version};

shim *shim_new(uint32_t (*random)(void), uint8_t window)
{
    shim *with = (shim *)calloc(1u, sizeof *with);
    tl_link_buffers buffers = {NULL, NULL, SLOTS, 0u};

    if (with == NULL) {
        abort();
    }
    with->random = random;
    buffers.receive = with->receive;
    buffers.slots = with->slots;
    buffers.window = window;
    tl_link_init(&with->link, &buffers, &hooks, with);
    return with;
}

void shim_free(shim *with)
{
    free(with);
}

size_t shim_log(shim *with, uint8_t *out)
{
    const size_t length = with->logged;

    memcpy(out, with->log, length);
    with->logged = 0u;
    return length;
}

void shim_receive(shim *with, const uint8_t *data, size_t length, uint32_t now)
{
    tl_link_receive(&with->link, data, length, now);
}

void shim_tick(shim *with, uint32_t now)
{
    tl_link_tick(&with->link, now);
}

size_t shim_outgoing(shim *with, uint8_t *out, size_t room, uint32_t now)
{
    return tl_link_outgoing(&with->link, out, room, now);
}

int shim_send(shim *with, const uint8_t *data, size_t length)
{
    tl_message message;

    return (tl_decode(data, length, &message) == TL_OK) && tl_link_send(&with->link, &message);
}

uint32_t shim_wait(shim *with, uint32_t now)
{
    return tl_link_wait(&with->link, now);
}

void shim_line_lost(shim *with)
{
    tl_link_line_lost(&with->link);
}

void shim_close(shim *with)
{
    tl_link_close(&with->link);
}

int shim_connected(shim *with)
{
    return with->link.connected;
}

/* Messages beyond those that have a number: what a queue of its own would hold. */
int shim_queued(shim *with)
{
    return with->link.waiting - with->link.in_flight;
}

void shim_stats(shim *with, uint32_t *out)
{
    const tl_link_stats *stats = &with->link.stats;
    const uint32_t told[] = {stats->frames_in, stats->frames_out,  stats->retransmits, stats->naks_in,
                             stats->naks_out,  stats->duplicates,  stats->gaps,        stats->foreign,
                             stats->echoes,    stats->undecodable, stats->sessions,    stats->losses,
                             with->link.rto,   tl_link_bad_frames(&with->link)};

    memcpy(out, told, sizeof told);
}

/* --- codec and operations ---------------------------------------------------------------------------------------- */

int shim_decode(const uint8_t *data, size_t length, uint8_t *again, size_t *back)
{
    tl_message message;
    const tl_error error = tl_decode(data, length, &message);

    *back = 0u;
    if (error == TL_OK) {
        return (tl_encode(&message, again, TL_MESSAGE_LIMIT, back) == TL_OK) ? 0 : -1;
    }
    return (int)error;
}

typedef struct {
    tl_operations memory;
    uint8_t values[TL_ENTRIES * 160u];
    uint8_t image[TL_IMAGE_ROOM(160u)];
} operations;

operations *operations_new(void)
{
    operations *of = (operations *)calloc(1u, sizeof *of);

    if (of == NULL) {
        abort();
    }
    tl_operations_init(&of->memory, of->values, 160u);
    return of;
}

void operations_free(operations *of)
{
    free(of);
}

/* The answer's length, 0 where it is new, -1 where it is refused. */
int operations_admit(operations *of, const uint8_t *data, size_t length, uint8_t *answer)
{
    tl_message message;
    tl_message told;
    const tl_operation *known;
    size_t back = 0u;
    tl_admission admission;

    if (tl_decode(data, length, &message) != TL_OK) {
        abort();
    }
    admission = tl_operations_admit(&of->memory, &message, &known);
    if (admission == TL_ADMIT_NEW) {
        return 0;
    }
    if (admission == TL_ADMIT_REFUSED) {
        return -1;
    }
    tl_operations_answer(&of->memory, known, &told);
    if (tl_encode(&told, answer, TL_MESSAGE_LIMIT, &back) != TL_OK) {
        abort();
    }
    return (int)back;
}

int operations_begin(operations *of, const uint8_t *data, size_t length)
{
    tl_message message;

    return (tl_decode(data, length, &message) == TL_OK) && tl_operations_begin(&of->memory, &message);
}

int operations_finish(operations *of, const uint8_t *data, size_t length)
{
    tl_message message;

    if (tl_decode(data, length, &message) != TL_OK) {
        abort();
    }
    return tl_operations_finish(&of->memory, &message.as.op_result.op, message.as.op_result.outcome,
                                message.as.op_result.fault, message.as.op_result.side,
                                message.as.op_result.values.bytes, message.as.op_result.values.length) != NULL;
}

/* Resets the board with a memory that is kept; flip: a byte of its image to damage, or -1. 0: it was not taken. */
int operations_reset(operations *of, long flip)
{
    const size_t length = tl_operations_save(&of->memory, of->image, sizeof of->image);

    if (length == 0u) {
        abort();
    }
    if (flip >= 0) {
        of->image[(size_t)flip % length] ^= 0x10u;
    }
    memset(of->values, 0xEE, sizeof of->values);
    return tl_operations_load(&of->memory, of->image, length);
}

/* op_accepted of the last completed operation (which 0) or of the oldest running one (1); its length, 0: none. */
int operations_told(operations *of, int which, uint8_t *out)
{
    const tl_operation *running = tl_operations_running(&of->memory);
    tl_message told;
    size_t length = 0u;

    memset(&told, 0, sizeof told);
    told.type = (uint8_t)TL_TYPE_OP_ACCEPTED;
    if ((which == 0) && (of->memory.has_last != 0u)) {
        told.as.op_accepted.op = of->memory.last;
    } else if ((which == 1) && (running != NULL)) {
        told.as.op_accepted.op = running->op;
    } else {
        return 0;
    }
    (void)tl_encode(&told, out, TL_MESSAGE_LIMIT, &length);
    return (int)length;
}
