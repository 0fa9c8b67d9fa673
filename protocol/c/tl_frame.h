/* Frames on the line: COBS between zeros, one head, CRC-16 (docs/serial.md, section 2). */
#ifndef TL_FRAME_H
#define TL_FRAME_H

#include "table_link.h"

#define TL_FRAME_ROOM (TL_PAYLOAD_LIMIT + 12u) /* the longest frame of ours on the line, its zeros included */
#define TL_FROM_MCU 0x80u

typedef struct {
    uint8_t from_mcu;
    uint8_t kind; /* tl_frame_kind_code */
    uint8_t version;
    uint8_t seq;
    uint8_t ack;
    uint8_t length;
    uint32_t session;
    const uint8_t *payload;
} tl_frame;

/* What lay between two zeros. */
typedef enum {
    TL_CUT_NOTHING = 0, /* not complete yet, or nothing between two zeros */
    TL_CUT_FRAME = 1,
    TL_CUT_COBS = 2,
    TL_CUT_CRC = 3,
    TL_CUT_SHORT = 4,
    TL_CUT_LONG = 5,
    TL_CUT_FORM = 6 /* unknown kind, a length that does not fit it, another version */
} tl_cut;

/* Cuts the bytes of a line into frames. buffer: TL_ENCODED_LIMIT bytes of the caller's. */
typedef struct {
    uint8_t *buffer;
    uint16_t length;
    uint8_t overrun;
} tl_decoder;

void tl_decoder_init(tl_decoder *decoder, uint8_t *buffer);

/* Takes one byte. At TL_CUT_FRAME *frame is filled in; its payload lies in the buffer until the next byte. */
tl_cut tl_decoder_take(tl_decoder *decoder, uint8_t byte, tl_frame *frame);

/* Writes a frame with its closing zero; 0 where room is too small (TL_FRAME_ROOM never is). */
size_t tl_frame_encode(const tl_frame *frame, uint8_t *out, size_t room);

/* CRC-16/CCITT-FALSE going on from crc; begin with 0xFFFF. */
uint16_t tl_crc16(uint16_t crc, const uint8_t *bytes, size_t length);

#endif
