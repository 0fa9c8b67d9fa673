/* The board's end of the link: sessions, numbering, acknowledgement, retransmission, liveness (docs/serial.md, 3-5).
 *
 * No port, no clock, no memory of its own: give it the bytes that came and the time; it calls the hooks and says what
 * is to be written. Time is milliseconds on a clock that only goes forward and may wrap at 2^32.
 *
 *     for (;;) {
 *         n = uart_read(bytes);                       // as many as there are, 0 is fine
 *         tl_link_receive(&link, bytes, n, millis()); // judges silence first, then reads
 *         tl_link_tick(&link, millis());
 *         n = tl_link_outgoing(&link, out, sizeof out, millis());
 *         uart_write(out, n);                         // all of it
 *     }
 */
#ifndef TL_LINK_H
#define TL_LINK_H

#include "tl_frame.h"

#define TL_SLOT (TL_MESSAGE_LIMIT + 1u) /* bytes of one waiting message: its length and itself */
#define TL_NEVER 0xFFFFFFFFu

typedef enum {
    TL_LOST_SILENCE = 0,
    TL_LOST_NO_ANSWER = 1,
    TL_LOST_PEER_RESTARTED = 2,
    TL_LOST_PEER_CLOSED = 3,
    TL_LOST_LINE = 4,
    TL_LOST_CLOSED = 5
} tl_lost;

typedef struct {
    uint32_t (*random)(void *context); /* 32 fresh random bits */
    void (*started)(void *context, uint32_t session);
    void (*message)(void *context, const tl_message *message);
    void (*undecodable)(void *context, tl_error error);         /* may be NULL */
    void (*lost)(void *context, tl_lost why, uint16_t undelivered);
    void (*version_refused)(void *context, uint8_t version);    /* may be NULL */
} tl_link_hooks;

/* Buffers of the caller's. slots: slot_count x TL_SLOT bytes, what waits to be sent or acknowledged. */
typedef struct {
    uint8_t *receive; /* TL_ENCODED_LIMIT bytes */
    uint8_t *slots;
    uint8_t slot_count; /* 2 at least; more than the window is of use */
    uint8_t window;     /* 1..TL_WINDOW_MAX: what this side takes unacknowledged */
} tl_link_buffers;

/* Counts since the start; bad_frames by tl_cut. */
typedef struct {
    uint32_t frames_in;
    uint32_t frames_out;
    uint32_t retransmits;
    uint32_t bad_frames[7];
    uint32_t naks_in;
    uint32_t naks_out;
    uint32_t duplicates;
    uint32_t gaps;
    uint32_t foreign;
    uint32_t echoes;
    uint32_t undecodable;
    uint32_t sessions;
    uint32_t losses;
} tl_link_stats;

typedef struct {
    uint32_t sent_at;
    uint8_t due;
    uint8_t sends;
} tl_flight;

typedef struct {
    const tl_link_hooks *hooks;
    void *context;
    tl_link_buffers buffers;
    tl_decoder decoder;
    tl_link_stats stats;

    /* the running session */
    uint8_t connected;
    uint8_t window;
    uint8_t next_seq;
    uint8_t expected;
    uint8_t in_flight;  /* of the slots, the first so many have a number */
    uint8_t waiting;    /* slots in use */
    uint8_t first_slot;
    uint8_t ack_due;
    uint8_t nak_due;
    uint8_t in_garbage;
    uint8_t naked;      /* naked_for means something */
    uint8_t naked_for;
    uint8_t timing;     /* retransmit_at and waiting_since mean something */
    uint8_t measured;   /* smoothed and variation mean something */
    uint32_t tag;
    uint32_t heard_at;
    uint32_t spoke_at;
    uint32_t retransmit_at;
    uint32_t waiting_since;
    uint32_t rto;
    uint32_t smoothed;  /* 8ths of a ms */
    uint32_t variation; /* 4ths of a ms */
    tl_flight flights[TL_WINDOW_MAX]; /* by number modulo their count */

    /* sessions offered and confirmed */
    uint8_t offered;
    uint8_t confirmed;
    uint8_t offered_window;
    uint32_t offered_host;
    uint32_t offered_own;
    uint32_t confirmed_host;
    uint32_t confirmed_own;

    /* answers outside a session */
    uint8_t answer_due;
    uint8_t answer_window;
    uint8_t reset_due;
    uint8_t bye_due;
    uint8_t bye_seq;
    uint8_t bye_ack;
    uint8_t closed;
    uint8_t told_version;
    uint32_t answer_host;
    uint32_t answer_own;
    uint32_t reset_tag;
    uint32_t bye_tag;
} tl_link;

void tl_link_init(tl_link *link, const tl_link_buffers *buffers, const tl_link_hooks *hooks, void *context);

/* Takes what the line brought. A silence that lasted too long is a loss even when bytes come now. */
void tl_link_receive(tl_link *link, const uint8_t *bytes, size_t length, uint32_t now);

/* Lets time pass: silence, retransmission, heartbeat. */
void tl_link_tick(tl_link *link, uint32_t now);

/* Whole frames to be written now, at most room bytes; what does not fit stays due. Call it until it gives 0. */
size_t tl_link_outgoing(tl_link *link, uint8_t *out, size_t room, uint32_t now);

/* How many messages tl_link_send takes; 0 without a session. */
uint8_t tl_link_room(const tl_link *link);

/* Queues a message; 0 and nothing done without a session, without room, or where the message keeps no contract. */
int tl_link_send(tl_link *link, const tl_message *message);

/* Milliseconds until tl_link_tick has something to do; TL_NEVER: not before something is received. */
uint32_t tl_link_wait(const tl_link *link, uint32_t now);

/* The port is gone or was opened anew: the session ends, half a frame is forgotten. */
void tl_link_line_lost(tl_link *link);

/* Ends for good; the host is told by the next tl_link_outgoing. */
void tl_link_close(tl_link *link);

/* All frames thrown away as invalid. */
uint32_t tl_link_bad_frames(const tl_link *link);

#endif
