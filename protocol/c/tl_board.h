/* A board: link, operation memory, dead man's switch and stop latch together. What moves is the caller's.
 *
 * The board answers by itself: Ping, ClearStop, operations asked again, operations refused because a stop is latched,
 * because their id means something else or because the protocols do not meet; it fills in what it knows of Identity
 * (protocol, boot_id, last_op, stop_reason), Status (stop_reason, running_op) and Counters (its frames). Everything
 * else comes to the hooks and is answered by tl_board_tell.
 */
#ifndef TL_BOARD_H
#define TL_BOARD_H

#include "tl_link.h"
#include "tl_operations.h"

typedef enum {
    TL_HALT_HOST_LOST = 0, /* nobody is there any more */
    TL_HALT_STOP = 1       /* a stop was latched */
} tl_halt;

typedef struct {
    uint32_t (*random)(void *context);

    /* Why an operation that is new may not begin now (tl_refusal_code): interlocks, what is busy; 0: it may. It moves
     * nothing yet. */
    uint8_t (*refusal)(void *context, const tl_message *operation);

    /* It has begun and is remembered: move. Ends with tl_board_finish. */
    void (*begin)(void *context, const tl_message *operation);

    /* A query, a lamp, the gear, Identify, ...: do it, and answer with tl_board_tell where it asks for one. */
    void (*request)(void *context, const tl_message *message);

    /* Stop every motor now, in a safe position where you can; a begun throw and a begun stack are finished. What was
     * stopped half-way ends with tl_board_finish, interrupted. */
    void (*halt)(void *context, tl_halt why);

    /* For a nonvolatile memory: write it (tl_operations_save), and the stop reason, before this returns. Else NULL. */
    void (*keep)(void *context);

    /* The session, the stop or the host's identity changed; may be NULL. */
    void (*changed)(void *context);
} tl_board_hooks;

typedef struct {
    tl_link_buffers link;
    uint8_t *values; /* TL_ENTRIES x value_size bytes */
    uint8_t value_size;
} tl_board_buffers;

typedef struct {
    tl_link link;
    tl_operations operations;
    const tl_board_hooks *hooks;
    void *context;
    uint32_t boot_id;
    tl_text_48 stop_reason; /* empty: no stop is latched */
    uint8_t stop_held;      /* its cause is still there: the button is in */
    uint8_t stop_untold;
    uint8_t identified;     /* the host has its Identity: it is told of things from now on */
    uint8_t spoken;         /* the host's protocol range has ours in it */
    uint8_t last_loss;      /* tl_lost of the session before */
    uint16_t last_undelivered;
    uint32_t dropped;       /* answers that found no room */
} tl_board;

/* The state beside the buffers of the caller's. */
#define TL_STATE_LIMIT 2048u

void tl_board_init(tl_board *board, const tl_board_buffers *buffers, const tl_board_hooks *hooks, void *context);

void tl_board_receive(tl_board *board, const uint8_t *bytes, size_t length, uint32_t now);
void tl_board_tick(tl_board *board, uint32_t now);
size_t tl_board_outgoing(tl_board *board, uint8_t *out, size_t room, uint32_t now);
uint32_t tl_board_wait(const tl_board *board, uint32_t now);

/* Tells the host an answer or an event; 0 and nothing told before it is identified or where the link has no room.
 * Not for op_accepted, op_refused and op_result: those are the board's own. */
int tl_board_tell(tl_board *board, const tl_message *message);

/* An operation has ended: its result is stored for good, kept and told. 0 and nothing done where a running link has no
 * room now (call again), where the id does not run, or where it cannot lie so. */
int tl_board_finish(tl_board *board, const tl_message *op_result);

/* Latches a stop: the first reason is kept and told, motors halt. reason: UTF-8, at most 48 bytes; empty: "stopped". */
void tl_board_stop(tl_board *board, const uint8_t *reason, uint8_t length);

#endif
