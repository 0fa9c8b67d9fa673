/* Messages to bytes and back, driven by the tables of table_link_messages.c: small flash, one place for every check. */
#include "table_link.h"

#include <string.h>

/* What is left of the bytes that are read. */
typedef struct {
    const uint8_t *data;
    size_t length;
    size_t at;
} reader;

/* Where the bytes that are written go. */
typedef struct {
    uint8_t *data;
    size_t room;
    size_t at;
} writer;

static const tl_layout *layout_of(const tl_layout *layouts, uint8_t count, uint8_t type)
{
    for (uint8_t at = 0u; at < count; at++) {
        if (layouts[at].type == type) {
            return &layouts[at];
        }
    }
    return NULL;
}

static uint8_t width_of(uint8_t kind)
{
    switch ((tl_kind)kind) {
    case TL_U16:
        return 2u;
    case TL_U32:
        return 4u;
    case TL_U64:
        return 8u;
    case TL_U8:
    case TL_U8_NONE:
    case TL_TEXT:
    case TL_BYTES:
    case TL_TILES:
    case TL_TILE:
    case TL_OPTIONAL:
    default:
        return 1u;
    }
}

/* UTF-8 as the Unicode standard has it: no surrogates, nothing longer than it must be, nothing above U+10FFFF. */
static int is_utf8(const uint8_t *bytes, size_t length)
{
    size_t at = 0u;

    while (at < length) {
        const uint8_t first = bytes[at];
        size_t more;
        uint8_t lowest = 0x80u;
        uint8_t highest = 0xBFu;

        if (first < 0x80u) {
            more = 0u;
        } else if ((first >= 0xC2u) && (first <= 0xDFu)) {
            more = 1u;
        } else if ((first >= 0xE0u) && (first <= 0xEFu)) {
            more = 2u;
            lowest = (first == 0xE0u) ? 0xA0u : 0x80u;
            highest = (first == 0xEDu) ? 0x9Fu : 0xBFu;
        } else if ((first >= 0xF0u) && (first <= 0xF4u)) {
            more = 3u;
            lowest = (first == 0xF0u) ? 0x90u : 0x80u;
            highest = (first == 0xF4u) ? 0x8Fu : 0xBFu;
        } else {
            return 0;
        }
        if (more > (length - at - 1u)) {
            return 0;
        }
        for (size_t next = 1u; next <= more; next++) {
            const uint8_t byte = bytes[at + next];

            if ((byte < lowest) || (byte > highest)) {
                return 0;
            }
            lowest = 0x80u;
            highest = 0xBFu;
        }
        at += more + 1u;
    }
    return 1;
}

/* Whether the bytes of a text, of bytes or of tiles mean something; the length was checked before. */
static tl_error check_blob(uint8_t kind, const uint8_t *bytes, uint8_t length)
{
    if ((kind == (uint8_t)TL_TEXT) && !is_utf8(bytes, length)) {
        return TL_ERROR_UTF8;
    }
    if (kind == (uint8_t)TL_TILES) {
        for (uint8_t at = 0u; at < length; at++) {
            if (!tl_is_tile(bytes[at])) {
                return TL_ERROR_RANGE;
            }
        }
    }
    return TL_OK;
}

/* Whether one byte is within what its row says. */
static tl_error check_byte(const tl_row *row, uint8_t value)
{
    const int within = (value >= row->low) && (value <= row->high);

    switch ((tl_kind)row->kind) {
    case TL_U8:
    case TL_OPTIONAL:
        return within ? TL_OK : TL_ERROR_RANGE;
    case TL_U8_NONE:
        return (within || (value == TL_NONE)) ? TL_OK : TL_ERROR_RANGE;
    case TL_TILE:
        return tl_is_tile(value) ? TL_OK : TL_ERROR_RANGE;
    case TL_U16:
    case TL_U32:
    case TL_U64:
    case TL_TEXT:
    case TL_BYTES:
    case TL_TILES:
    default:
        return TL_OK;
    }
}

/* A number as the processor has it <- little-endian bytes. */
static void put_number(uint8_t *field, const uint8_t *bytes, uint8_t width)
{
    uint64_t value = 0u;
    uint16_t two;
    uint32_t four;

    for (uint8_t at = 0u; at < width; at++) {
        value |= (uint64_t)bytes[at] << (8u * at);
    }
    switch (width) {
    case 2u:
        two = (uint16_t)value;
        memcpy(field, &two, sizeof two);
        break;
    case 4u:
        four = (uint32_t)value;
        memcpy(field, &four, sizeof four);
        break;
    case 8u:
        memcpy(field, &value, sizeof value);
        break;
    default:
        *field = (uint8_t)value;
        break;
    }
}

/* And the other way. */
static void get_number(const uint8_t *field, uint8_t *bytes, uint8_t width)
{
    uint64_t value = 0u;
    uint16_t two;
    uint32_t four;

    switch (width) {
    case 2u:
        memcpy(&two, field, sizeof two);
        value = two;
        break;
    case 4u:
        memcpy(&four, field, sizeof four);
        value = four;
        break;
    case 8u:
        memcpy(&value, field, sizeof value);
        break;
    default:
        value = *field;
        break;
    }
    for (uint8_t at = 0u; at < width; at++) {
        bytes[at] = (uint8_t)((value >> (8u * at)) & 0xFFu);
    }
}

static tl_error read_blob(const tl_row *row, reader *from, uint8_t *field)
{
    uint8_t length;

    if (from->at >= from->length) {
        return TL_ERROR_SHORT;
    }
    length = from->data[from->at];
    if (length > row->high) {
        return TL_ERROR_LENGTH;
    }
    from->at++;
    if ((from->length - from->at) < length) {
        return TL_ERROR_SHORT;
    }
    field[0] = length;
    memcpy(&field[1], &from->data[from->at], length);
    from->at += length;
    return check_blob(row->kind, &field[1], length);
}

static tl_error read_row(const tl_row *row, reader *from, uint8_t *field)
{
    const uint8_t width = width_of(row->kind);
    const uint8_t count = (row->kind == (uint8_t)TL_OPTIONAL) ? 1u : row->count;

    if ((row->kind == (uint8_t)TL_TEXT) || (row->kind == (uint8_t)TL_BYTES) || (row->kind == (uint8_t)TL_TILES)) {
        return read_blob(row, from, field);
    }
    for (uint8_t at = 0u; at < count; at++) {
        tl_error error;

        if ((from->length - from->at) < width) {
            return TL_ERROR_SHORT;
        }
        error = check_byte(row, from->data[from->at]);
        if (error != TL_OK) {
            return error;
        }
        put_number(&field[(size_t)at * width], &from->data[from->at], width);
        from->at += width;
    }
    return TL_OK;
}

static tl_error write_blob(const tl_row *row, const uint8_t *field, writer *to)
{
    const uint8_t length = field[0];
    tl_error error;

    if (length > row->high) {
        return TL_ERROR_LENGTH;
    }
    error = check_blob(row->kind, &field[1], length);
    if (error != TL_OK) {
        return error;
    }
    if ((to->room - to->at) < ((size_t)length + 1u)) {
        return TL_ERROR_ROOM;
    }
    memcpy(&to->data[to->at], field, (size_t)length + 1u);
    to->at += (size_t)length + 1u;
    return TL_OK;
}

static tl_error write_row(const tl_row *row, const uint8_t *field, writer *to)
{
    const uint8_t width = width_of(row->kind);
    const uint8_t count = (row->kind == (uint8_t)TL_OPTIONAL) ? 1u : row->count;

    if ((row->kind == (uint8_t)TL_TEXT) || (row->kind == (uint8_t)TL_BYTES) || (row->kind == (uint8_t)TL_TILES)) {
        return write_blob(row, field, to);
    }
    for (uint8_t at = 0u; at < count; at++) {
        const tl_error error = check_byte(row, field[(size_t)at * width]);

        if (error != TL_OK) {
            return error;
        }
        if ((to->room - to->at) < width) {
            return TL_ERROR_ROOM;
        }
        get_number(&field[(size_t)at * width], &to->data[to->at], width);
        to->at += width;
    }
    return TL_OK;
}

tl_error tl_decode(const uint8_t *data, size_t length, tl_message *message)
{
    const tl_layout *layout;
    reader from = {data, length, 1u};
    uint8_t *fields = (uint8_t *)&message->as;
    uint8_t at = 0u;

    memset(message, 0, sizeof *message);
    if (length == 0u) {
        return TL_ERROR_EMPTY;
    }
    if (length > TL_MESSAGE_LIMIT) {
        return TL_ERROR_LONG;
    }
    layout = layout_of(tl_layouts, tl_layout_count, data[0]);
    if (layout == NULL) {
        return TL_ERROR_TYPE;
    }
    message->type = data[0];
    while (at < layout->rows) {
        const tl_row *row = &tl_rows[layout->first + at];
        const tl_error error = read_row(row, &from, &fields[row->offset]);

        if (error != TL_OK) {
            return error;
        }
        at++;
        if ((row->kind == (uint8_t)TL_OPTIONAL) && (fields[row->offset] == 0u)) {
            at = (uint8_t)(at + row->count);
        }
    }
    return (from.at == length) ? TL_OK : TL_ERROR_LONG;
}

static tl_error write_rows(const tl_layout *layout, const uint8_t *fields, writer *to)
{
    uint8_t at = 0u;

    while (at < layout->rows) {
        const tl_row *row = &tl_rows[layout->first + at];
        const tl_error error = write_row(row, &fields[row->offset], to);

        if (error != TL_OK) {
            return error;
        }
        at++;
        if ((row->kind == (uint8_t)TL_OPTIONAL) && (fields[row->offset] == 0u)) {
            at = (uint8_t)(at + row->count);
        }
    }
    return TL_OK;
}

tl_error tl_encode(const tl_message *message, uint8_t *data, size_t room, size_t *length)
{
    const tl_layout *layout = layout_of(tl_layouts, tl_layout_count, message->type);
    writer to = {data, room, 1u};
    tl_error error;

    *length = 0u;
    if (layout == NULL) {
        return TL_ERROR_TYPE;
    }
    if (room == 0u) {
        return TL_ERROR_ROOM;
    }
    data[0] = message->type;
    error = write_rows(layout, (const uint8_t *)&message->as, &to);
    if (error == TL_OK) {
        *length = to.at;
    }
    return error;
}

tl_error tl_outcome_encode(uint8_t operation, const void *outcome, uint8_t *data, size_t room, size_t *length)
{
    const tl_layout *layout = layout_of(tl_outcomes, tl_outcome_count, operation);
    writer to = {data, room, 0u};
    tl_error error;

    *length = 0u;
    if (layout == NULL) {
        return TL_ERROR_TYPE;
    }
    error = write_rows(layout, (const uint8_t *)outcome, &to);
    if (error == TL_OK) {
        *length = to.at;
    }
    return error;
}
