#include "tl_link.h"

#include <string.h>

/* Whether a moment has come: the clock may have gone round. */
static int is_due(uint32_t now, uint32_t moment)
{
    return (uint32_t)(now - moment) < 0x80000000u;
}

/* --- the round trip: RFC 6298 in whole numbers ------------------------------------------------------------------- */

static uint32_t within(uint32_t rto)
{
    if (rto < TL_RTO_LOWEST_MS) {
        return TL_RTO_LOWEST_MS;
    }
    return (rto > TL_RTO_HIGHEST_MS) ? TL_RTO_HIGHEST_MS : rto;
}

/* A frame that was sent once was acknowledged after so long. */
static void sample(tl_link *link, uint32_t ms)
{
    if (link->measured == 0u) {
        link->measured = 1u;
        link->smoothed = ms << 3;
        link->variation = ms << 1;
    } else {
        const uint32_t mean = link->smoothed >> 3;
        const uint32_t error = (ms > mean) ? (ms - mean) : (mean - ms);

        link->variation = link->variation - (link->variation >> 2) + error;
        link->smoothed = link->smoothed - mean + ms;
    }
    link->rto = within((link->smoothed >> 3) + ((link->variation > 1u) ? link->variation : 1u));
}

/* --- sessions ---------------------------------------------------------------------------------------------------- */

static uint32_t fresh_number(const tl_link *link)
{
    const uint32_t number = link->hooks->random(link->context);

    return (number == 0u) ? 1u : number;
}

static void lose(tl_link *link, tl_lost why)
{
    const uint16_t undelivered = link->waiting;

    link->connected = 0u;
    link->confirmed = 0u;
    link->waiting = 0u;
    link->in_flight = 0u;
    link->stats.losses++;
    link->hooks->lost(link->context, why, undelivered);
}

static void begin(tl_link *link, uint32_t tag, uint8_t window, uint32_t now)
{
    link->connected = 1u;
    link->tag = tag;
    link->window = window;
    link->next_seq = 0u;
    link->expected = 0u;
    link->in_flight = 0u;
    link->waiting = 0u;
    link->first_slot = 0u;
    link->ack_due = 1u;
    link->nak_due = 0u;
    link->in_garbage = 0u;
    link->naked = 0u;
    link->timing = 0u;
    link->measured = 0u;
    link->rto = TL_RTO_START_MS;
    link->heard_at = now;
    link->spoke_at = now;
    link->stats.sessions++;
    link->told_version = 0u;
    link->hooks->started(link->context, tag);
}

static int check_silence(tl_link *link, uint32_t now)
{
    if ((link->connected != 0u) && ((uint32_t)(now - link->heard_at) >= TL_HOST_SILENCE_MS)) {
        lose(link, TL_LOST_SILENCE);
        return 1;
    }
    return 0;
}

static void on_hello(tl_link *link, const tl_frame *frame)
{
    uint8_t window;
    uint32_t own;

    link->answer_due = 1u;
    link->answer_host = frame->session;
    if (frame->version != TL_LINK_VERSION) {
        link->answer_own = 0u;
        link->answer_window = 0u;
        if ((link->told_version != frame->version + 1u) && (link->hooks->version_refused != NULL)) {
            link->hooks->version_refused(link->context, frame->version);
        }
        link->told_version = (uint8_t)(frame->version + 1u);
        return;
    }
    window = frame->payload[0];
    window = (window < 1u) ? 1u : window;
    window = (window > link->buffers.window) ? link->buffers.window : window;
    if ((link->confirmed != 0u) && (link->confirmed_host == frame->session)) {
        own = link->confirmed_own;
    } else if ((link->offered != 0u) && (link->offered_host == frame->session)) {
        own = link->offered_own;
    } else {
        own = fresh_number(link);
        link->offered = 1u;
        link->offered_host = frame->session;
        link->offered_own = own;
        link->offered_window = window;
    }
    link->answer_own = own;
    link->answer_window = link->buffers.window;
}

/* The first frame of an offered session puts it in place of the old one. */
static void confirm(tl_link *link, const tl_frame *frame, uint32_t now)
{
    if ((link->offered == 0u) || (frame->kind == (uint8_t)TL_FRAME_KIND_BYE) ||
        (frame->session != (link->offered_host ^ link->offered_own))) {
        return;
    }
    if (link->connected != 0u) {
        lose(link, TL_LOST_PEER_RESTARTED);
    }
    link->offered = 0u;
    link->confirmed = 1u;
    link->confirmed_host = link->offered_host;
    link->confirmed_own = link->offered_own;
    begin(link, frame->session, link->offered_window, now);
}

/* --- frames in --------------------------------------------------------------------------------------------------- */

static tl_flight *flight_at(tl_link *link, uint8_t place)
{
    const uint8_t seq = (uint8_t)(link->next_seq - link->in_flight + place);

    return &link->flights[seq % TL_WINDOW_MAX];
}

static void resend(tl_link *link, uint32_t now)
{
    for (uint8_t place = 0u; place < link->in_flight; place++) {
        flight_at(link, place)->due = 1u;
    }
    link->timing = 1u;
    link->retransmit_at = now + link->rto;
}

/* Everything before ack has arrived; an ack outside what is in flight says nothing. */
static void on_acknowledged(tl_link *link, uint8_t ack, uint32_t now)
{
    const uint8_t count = (uint8_t)(ack - (uint8_t)(link->next_seq - link->in_flight));
    uint8_t sent = 0u;
    const tl_flight *last;

    while ((sent < link->in_flight) && (flight_at(link, sent)->sends != 0u)) {
        sent++;
    }
    if ((count == 0u) || (count > sent)) {
        return;
    }
    last = flight_at(link, (uint8_t)(count - 1u));
    if (last->sends == 1u) {
        sample(link, (uint32_t)(now - last->sent_at)); /* Karn: never one that was sent again */
    }
    link->in_flight = (uint8_t)(link->in_flight - count);
    link->waiting = (uint8_t)(link->waiting - count);
    link->first_slot = (uint8_t)((link->first_slot + count) % link->buffers.slot_count);
    link->timing = (sent > count) ? 1u : 0u;
    link->retransmit_at = now + link->rto;
    link->waiting_since = now;
}

/* The host has sent what has not come: ask once for it. */
static void on_gap(tl_link *link, uint8_t seq)
{
    const uint8_t ahead = (uint8_t)(seq - link->expected);

    if ((ahead > 0u) && (ahead < 0x80u) && ((link->naked == 0u) || (link->naked_for != link->expected))) {
        link->stats.gaps++;
        link->naked = 1u;
        link->naked_for = link->expected;
        link->nak_due = 1u;
    }
}

/* Ask once for what may have been in it; the burst lasts until a frame of the session comes. */
static void on_garbage(tl_link *link)
{
    if ((link->connected != 0u) && (link->in_garbage == 0u)) {
        link->in_garbage = 1u;
        link->nak_due = 1u;
        link->naked = 1u;
        link->naked_for = link->expected;
    }
}

static void on_nak(tl_link *link, const tl_frame *frame, uint32_t now)
{
    const tl_flight *first = flight_at(link, 0u);

    link->stats.naks_in++;
    on_gap(link, frame->seq);
    if ((link->in_flight == 0u) || ((uint8_t)(link->next_seq - link->in_flight) != frame->ack) ||
        (first->sends == 0u)) {
        return;
    }
    /* Half a round trip after the last repetition it is about the same loss. */
    if ((link->measured == 0u) || (((uint32_t)(now - first->sent_at) << 4) >= link->smoothed)) {
        resend(link, now);
    }
}

static void on_data(tl_link *link, const tl_frame *frame)
{
    const uint8_t ahead = (uint8_t)(frame->seq - link->expected);
    tl_message message;
    tl_error error;

    if (ahead >= 0x80u) {
        link->stats.duplicates++;
        link->ack_due = 1u;
        return;
    }
    if (ahead > 0u) {
        on_gap(link, frame->seq);
        return;
    }
    link->expected++;
    link->ack_due = 1u;
    link->nak_due = 0u;
    link->naked = 0u;
    error = tl_decode(frame->payload, frame->length, &message);
    if ((error == TL_OK) && (message.type >= 0x80u)) {
        error = TL_ERROR_TYPE; /* a board sends this, it does not receive it */
    }
    if (error == TL_OK) {
        link->hooks->message(link->context, &message);
        return;
    }
    link->stats.undecodable++;
    if (link->hooks->undecodable != NULL) {
        link->hooks->undecodable(link->context, error);
    }
}

static void on_frame(tl_link *link, const tl_frame *frame, uint32_t now)
{
    if (frame->kind == (uint8_t)TL_FRAME_KIND_HELLO) {
        on_hello(link, frame);
        return;
    }
    if ((frame->kind == (uint8_t)TL_FRAME_KIND_HELLO_ACK) || (frame->kind == (uint8_t)TL_FRAME_KIND_RESET)) {
        return; /* only a board sends these */
    }
    confirm(link, frame, now);
    if ((link->connected == 0u) || (frame->session != link->tag)) {
        link->stats.foreign++;
        if (frame->kind != (uint8_t)TL_FRAME_KIND_BYE) {
            link->reset_due = 1u;
            link->reset_tag = frame->session;
        }
        return;
    }
    link->heard_at = now;
    link->in_garbage = 0u;
    on_acknowledged(link, frame->ack, now);
    switch ((tl_frame_kind_code)frame->kind) {
    case TL_FRAME_KIND_DATA:
        on_data(link, frame);
        break;
    case TL_FRAME_KIND_ACK:
        on_gap(link, frame->seq);
        break;
    case TL_FRAME_KIND_NAK:
        on_nak(link, frame, now);
        break;
    case TL_FRAME_KIND_BYE:
        lose(link, TL_LOST_PEER_CLOSED);
        break;
    case TL_FRAME_KIND_HELLO:
    case TL_FRAME_KIND_HELLO_ACK:
    case TL_FRAME_KIND_RESET:
    default:
        break;
    }
}

/* --- frames out -------------------------------------------------------------------------------------------------- */

static uint8_t next_to_send(tl_link *link)
{
    for (uint8_t place = 0u; place < link->in_flight; place++) {
        if (flight_at(link, place)->due != 0u) {
            return (uint8_t)(link->next_seq - link->in_flight + place);
        }
    }
    return link->next_seq;
}

/* Gives numbers to what waits, as far as the window goes. */
static void fill_window(tl_link *link)
{
    while ((link->in_flight < link->window) && (link->in_flight < link->waiting)) {
        tl_flight *flight = &link->flights[link->next_seq % TL_WINDOW_MAX];

        flight->due = 1u;
        flight->sends = 0u;
        link->next_seq++;
        link->in_flight++;
    }
}

/* Where the frames of one call go. */
typedef struct {
    uint8_t *out;
    size_t room;
    size_t at;
    uint8_t full;
} output;

static int put_frame(tl_link *link, output *to, tl_frame *frame)
{
    const size_t lead = (to->at == 0u) ? 1u : 0u;
    size_t length = 0u;

    frame->from_mcu = 1u;
    frame->version = TL_LINK_VERSION;
    if ((to->full == 0u) && ((to->room - to->at) > lead)) {
        length = tl_frame_encode(frame, &to->out[to->at + lead], to->room - to->at - lead);
    }
    if (length == 0u) {
        to->full = 1u;
        return 0;
    }
    if (lead != 0u) {
        to->out[0] = 0u; /* ends whatever noise lies before us on an idle line */
    }
    to->at += lead + length;
    link->stats.frames_out++;
    return 1;
}

static void put_answers(tl_link *link, output *to)
{
    if (link->bye_due != 0u) {
        tl_frame frame = {1u, (uint8_t)TL_FRAME_KIND_BYE, 0u, link->bye_seq, link->bye_ack, 0u, link->bye_tag, NULL};

        if (put_frame(link, to, &frame)) {
            link->bye_due = 0u;
        }
    }
    if (link->reset_due != 0u) {
        tl_frame frame = {1u, (uint8_t)TL_FRAME_KIND_RESET, 0u, 0u, 0u, 0u, link->reset_tag, NULL};

        if (put_frame(link, to, &frame)) {
            link->reset_due = 0u;
        }
    }
    if (link->answer_due != 0u) {
        uint8_t payload[5];
        tl_frame frame = {1u, (uint8_t)TL_FRAME_KIND_HELLO_ACK, 0u, 0u, 0u, 5u, link->answer_host, payload};

        for (uint8_t at = 0u; at < 4u; at++) {
            payload[at] = (uint8_t)((link->answer_own >> (8u * at)) & 0xFFu);
        }
        payload[4] = link->answer_window;
        if (put_frame(link, to, &frame)) {
            link->answer_due = 0u;
        }
    }
}

static void put_data(tl_link *link, output *to, uint8_t place, uint32_t now)
{
    const size_t slot = ((size_t)link->first_slot + place) % link->buffers.slot_count;
    const uint8_t *kept = &link->buffers.slots[slot * TL_SLOT];
    tl_flight *flight = flight_at(link, place);
    tl_frame frame = {1u, (uint8_t)TL_FRAME_KIND_DATA, 0u, (uint8_t)(link->next_seq - link->in_flight + place),
                      link->expected, kept[0], link->tag, &kept[1]};

    if ((flight->due == 0u) || !put_frame(link, to, &frame)) {
        return;
    }
    link->spoke_at = now;
    link->ack_due = 0u;
    if (flight->sends > 0u) {
        link->stats.retransmits++;
    }
    flight->due = 0u;
    flight->sends = (flight->sends < 0xFFu) ? (uint8_t)(flight->sends + 1u) : flight->sends;
    flight->sent_at = now;
    if (link->timing == 0u) {
        link->timing = 1u;
        link->retransmit_at = now + link->rto;
        link->waiting_since = now;
    }
}

static void put_session(tl_link *link, output *to, uint32_t now)
{
    const uint8_t next = next_to_send(link);
    const uint8_t has_data = (next != link->next_seq) ? 1u : 0u;

    if ((link->nak_due != 0u) || ((link->ack_due != 0u) && (has_data == 0u))) {
        tl_frame frame = {1u, (uint8_t)TL_FRAME_KIND_ACK, 0u, next, link->expected, 0u, link->tag, NULL};

        if (link->nak_due != 0u) {
            frame.kind = (uint8_t)TL_FRAME_KIND_NAK;
        }
        if (put_frame(link, to, &frame)) {
            link->stats.naks_out += (link->nak_due != 0u) ? 1u : 0u;
            link->nak_due = 0u;
            link->spoke_at = now;
            link->ack_due = 0u;
        }
    }
    for (uint8_t place = 0u; place < link->in_flight; place++) {
        put_data(link, to, place, now);
    }
}

/* --- what the caller calls --------------------------------------------------------------------------------------- */

void tl_link_init(tl_link *link, const tl_link_buffers *buffers, const tl_link_hooks *hooks, void *context)
{
    memset(link, 0, sizeof *link);
    link->hooks = hooks;
    link->context = context;
    link->buffers = *buffers;
    if ((link->buffers.window == 0u) || (link->buffers.window > TL_WINDOW_MAX)) {
        link->buffers.window = TL_WINDOW_MAX;
    }
    link->rto = TL_RTO_START_MS;
    tl_decoder_init(&link->decoder, buffers->receive);
}

void tl_link_receive(tl_link *link, const uint8_t *bytes, size_t length, uint32_t now)
{
    if (link->closed != 0u) {
        return;
    }
    (void)check_silence(link, now);
    for (size_t at = 0u; (at < length) && (link->closed == 0u); at++) {
        tl_frame frame;
        const tl_cut what = tl_decoder_take(&link->decoder, bytes[at], &frame);

        if (what == TL_CUT_NOTHING) {
            continue;
        }
        if (what != TL_CUT_FRAME) {
            link->stats.bad_frames[what]++;
            on_garbage(link);
        } else if (frame.from_mcu != 0u) {
            link->stats.echoes++;
        } else {
            link->stats.frames_in++;
            on_frame(link, &frame, now);
        }
    }
}

void tl_link_tick(tl_link *link, uint32_t now)
{
    if ((link->closed != 0u) || check_silence(link, now) || (link->connected == 0u)) {
        return;
    }
    if ((link->timing != 0u) && is_due(now, link->retransmit_at)) {
        link->rto = within(2u * link->rto);
        resend(link, now);
    }
    if ((link->timing != 0u) && ((uint32_t)(now - link->waiting_since) >= TL_PATIENCE_MS)) {
        lose(link, TL_LOST_NO_ANSWER);
        return;
    }
    if (is_due(now, link->spoke_at + TL_KEEPALIVE_MS)) {
        link->spoke_at = now;
        link->ack_due = 1u;
    }
}

size_t tl_link_outgoing(tl_link *link, uint8_t *out, size_t room, uint32_t now)
{
    output to = {out, room, 0u, 0u};

    put_answers(link, &to);
    if (link->connected != 0u) {
        fill_window(link);
        put_session(link, &to, now);
    }
    return to.at;
}

uint8_t tl_link_room(const tl_link *link)
{
    return (link->connected != 0u) ? (uint8_t)(link->buffers.slot_count - link->waiting) : 0u;
}

int tl_link_send(tl_link *link, const tl_message *message)
{
    const size_t slot = ((size_t)link->first_slot + link->waiting) % link->buffers.slot_count;
    uint8_t *kept = &link->buffers.slots[slot * TL_SLOT];
    size_t length = 0u;

    if ((tl_link_room(link) == 0u) || (message->type < 0x80u)) {
        return 0;
    }
    if (tl_encode(message, &kept[1], TL_MESSAGE_LIMIT, &length) != TL_OK) {
        return 0;
    }
    kept[0] = (uint8_t)length;
    link->waiting++;
    return 1;
}

static uint32_t sooner(uint32_t wait, uint32_t now, uint32_t moment)
{
    const uint32_t left = is_due(now, moment) ? 0u : (uint32_t)(moment - now);

    return (left < wait) ? left : wait;
}

uint32_t tl_link_wait(const tl_link *link, uint32_t now)
{
    uint32_t wait = TL_NEVER;

    if ((link->closed != 0u) || (link->connected == 0u)) {
        return TL_NEVER;
    }
    wait = sooner(wait, now, link->heard_at + TL_HOST_SILENCE_MS);
    wait = sooner(wait, now, link->spoke_at + TL_KEEPALIVE_MS);
    if (link->timing != 0u) {
        wait = sooner(wait, now, link->retransmit_at);
    }
    return wait;
}

void tl_link_line_lost(tl_link *link)
{
    tl_decoder_init(&link->decoder, link->buffers.receive);
    link->offered = 0u;
    if (link->connected != 0u) {
        lose(link, TL_LOST_LINE);
    }
}

void tl_link_close(tl_link *link)
{
    if (link->closed != 0u) {
        return;
    }
    if (link->connected != 0u) {
        link->bye_due = 1u;
        link->bye_tag = link->tag;
        link->bye_seq = next_to_send(link);
        link->bye_ack = link->expected;
        lose(link, TL_LOST_CLOSED);
    }
    link->closed = 1u;
    link->answer_due = 0u;
    link->reset_due = 0u;
}

uint32_t tl_link_bad_frames(const tl_link *link)
{
    uint32_t all = 0u;

    for (uint8_t kind = 0u; kind < 7u; kind++) {
        all += link->stats.bad_frames[kind];
    }
    return all;
}
