#include "tl_frame.h"

#include <string.h>

#define HEAD 7u
#define CHECK 2u

uint16_t tl_crc16(uint16_t crc, const uint8_t *bytes, size_t length)
{
    for (size_t at = 0u; at < length; at++) {
        crc = (uint16_t)(crc ^ (uint16_t)((uint16_t)bytes[at] << 8));
        for (uint8_t bit = 0u; bit < 8u; bit++) {
            if ((crc & 0x8000u) != 0u) {
                crc = (uint16_t)((uint16_t)(crc << 1) ^ 0x1021u);
            } else {
                crc = (uint16_t)(crc << 1);
            }
        }
    }
    return crc;
}

/* --- out --------------------------------------------------------------------------------------------------------- */

typedef struct {
    uint8_t *out;
    size_t room;
    size_t at;   /* next free place */
    size_t code; /* place of the count that is open */
    uint8_t run; /* its value so far */
} stuffer;

static void stuff(stuffer *to, const uint8_t *bytes, size_t length)
{
    for (size_t next = 0u; next < length; next++) {
        if (to->run == 0xFFu) {
            to->out[to->code] = 0xFFu;
            to->code = to->at;
            to->at++;
            to->run = 1u;
        }
        if (bytes[next] == 0u) {
            to->out[to->code] = to->run;
            to->code = to->at;
            to->run = 1u;
        } else {
            to->out[to->at] = bytes[next];
            to->run++;
        }
        to->at++;
    }
}

size_t tl_frame_encode(const tl_frame *frame, uint8_t *out, size_t room)
{
    const size_t body = (size_t)HEAD + frame->length + CHECK;
    uint8_t head[HEAD];
    uint8_t check[CHECK];
    uint16_t crc;
    stuffer to = {out, room, 1u, 0u, 1u};

    /* COBS adds a byte, and one more for each 254; then the zero. */
    if (room < (body + 1u + (body / 254u) + 1u)) {
        return 0u;
    }
    head[0] = (uint8_t)((frame->from_mcu ? TL_FROM_MCU : 0u) | (uint8_t)(frame->kind << 4) | frame->version);
    for (uint8_t at = 0u; at < 4u; at++) {
        head[1u + at] = (uint8_t)((frame->session >> (8u * at)) & 0xFFu);
    }
    head[5] = frame->seq;
    head[6] = frame->ack;
    crc = tl_crc16(0xFFFFu, head, HEAD);
    crc = tl_crc16(crc, frame->payload, frame->length);
    check[0] = (uint8_t)(crc & 0xFFu);
    check[1] = (uint8_t)(crc >> 8);
    stuff(&to, head, HEAD);
    stuff(&to, frame->payload, frame->length);
    stuff(&to, check, CHECK);
    out[to.code] = to.run;
    out[to.at] = 0u;
    return to.at + 1u;
}

/* --- in ---------------------------------------------------------------------------------------------------------- */

void tl_decoder_init(tl_decoder *decoder, uint8_t *buffer)
{
    decoder->buffer = buffer;
    decoder->length = 0u;
    decoder->overrun = 0u;
}

/* Takes COBS out of the buffer in place; 0 where it is none. */
static int unstuff(uint8_t *buffer, size_t length, size_t *plain)
{
    size_t from = 0u;
    size_t to = 0u;

    while (from < length) {
        const uint8_t code = buffer[from];

        from++;
        if (((size_t)code - 1u) > (length - from)) {
            return 0;
        }
        memmove(&buffer[to], &buffer[from], (size_t)code - 1u);
        to += (size_t)code - 1u;
        from += (size_t)code - 1u;
        if ((code < 0xFFu) && (from < length)) {
            buffer[to] = 0u;
            to++;
        }
    }
    *plain = to;
    return 1;
}

static int fits_kind(const tl_frame *frame, size_t payload)
{
    if (frame->kind > (uint8_t)TL_FRAME_KIND_BYE) {
        return 0;
    }
    if (frame->version != TL_LINK_VERSION) {
        return (frame->kind == (uint8_t)TL_FRAME_KIND_HELLO) || (frame->kind == (uint8_t)TL_FRAME_KIND_HELLO_ACK);
    }
    switch ((tl_frame_kind_code)frame->kind) {
    case TL_FRAME_KIND_HELLO:
    case TL_FRAME_KIND_DATA:
        return (payload >= 1u) && (payload <= TL_PAYLOAD_LIMIT);
    case TL_FRAME_KIND_HELLO_ACK:
        return (payload >= 5u) && (payload <= TL_PAYLOAD_LIMIT);
    case TL_FRAME_KIND_ACK:
    case TL_FRAME_KIND_NAK:
    case TL_FRAME_KIND_RESET:
    case TL_FRAME_KIND_BYE:
    default:
        return payload == 0u;
    }
}

static tl_cut cut(uint8_t *buffer, size_t length, tl_frame *frame)
{
    size_t plain = 0u;
    size_t payload;
    uint16_t crc;

    if (!unstuff(buffer, length, &plain)) {
        return TL_CUT_COBS;
    }
    if (plain < (HEAD + CHECK)) {
        return TL_CUT_SHORT;
    }
    if (plain > TL_FRAME_LIMIT) {
        return TL_CUT_LONG;
    }
    payload = plain - HEAD - CHECK;
    crc = tl_crc16(0xFFFFu, buffer, plain - CHECK);
    if ((buffer[plain - 2u] != (uint8_t)(crc & 0xFFu)) || (buffer[plain - 1u] != (uint8_t)(crc >> 8))) {
        return TL_CUT_CRC;
    }
    frame->from_mcu = (uint8_t)(buffer[0] >> 7);
    frame->kind = (uint8_t)((buffer[0] >> 4) & 7u);
    frame->version = (uint8_t)(buffer[0] & 0x0Fu);
    frame->session = (uint32_t)buffer[1] | ((uint32_t)buffer[2] << 8) | ((uint32_t)buffer[3] << 16) |
                     ((uint32_t)buffer[4] << 24);
    frame->seq = buffer[5];
    frame->ack = buffer[6];
    frame->payload = &buffer[HEAD];
    frame->length = (uint8_t)payload;
    return fits_kind(frame, payload) ? TL_CUT_FRAME : TL_CUT_FORM;
}

tl_cut tl_decoder_take(tl_decoder *decoder, uint8_t byte, tl_frame *frame)
{
    const uint16_t length = decoder->length;

    if (byte != 0u) {
        if (length < TL_ENCODED_LIMIT) {
            decoder->buffer[length] = byte;
            decoder->length++;
        } else {
            decoder->overrun = 1u;
        }
        return TL_CUT_NOTHING;
    }
    decoder->length = 0u;
    if (decoder->overrun != 0u) {
        decoder->overrun = 0u;
        return TL_CUT_LONG;
    }
    return (length == 0u) ? TL_CUT_NOTHING : cut(decoder->buffer, length, frame);
}
