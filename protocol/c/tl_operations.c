#include "tl_operations.h"
#include "tl_frame.h"

#include <string.h>

#define IMAGE_VERSION 1u

static int same_step(const tl_op_id *one, const tl_op_id *other)
{
    return (one->journal == other->journal) && (one->hand == other->hand) && (one->step == other->step);
}

static int same(const tl_op_id *one, const tl_op_id *other)
{
    return same_step(one, other) && (one->attempt == other->attempt);
}

/* Whether one sorts behind other; both are of one journal. */
static int is_later(const tl_op_id *one, const tl_op_id *other)
{
    if (one->hand != other->hand) {
        return one->hand > other->hand;
    }
    if (one->step != other->step) {
        return one->step > other->step;
    }
    return one->attempt > other->attempt;
}

static uint8_t place_of(const tl_operations *memory, const tl_op_id *op)
{
    uint8_t at = 0u;

    while ((at < memory->count) && !same(&memory->entries[at].op, op)) {
        at++;
    }
    return at;
}

/* Whether a later attempt of the same step is known. */
static int is_followed(const tl_operations *memory, const tl_op_id *op)
{
    for (uint8_t at = 0u; at < memory->count; at++) {
        const tl_op_id *one = &memory->entries[at].op;

        if (same_step(one, op) && (one->attempt > op->attempt)) {
            return 1;
        }
    }
    return 0;
}

static uint8_t mark_of(const tl_operations *memory, uint64_t journal)
{
    uint8_t at = 0u;

    while ((at < memory->forgotten_count) && (memory->forgotten[at].journal != journal)) {
        at++;
    }
    return at;
}

static uint16_t check_of(const tl_message *operation)
{
    uint8_t bytes[TL_MESSAGE_LIMIT];
    size_t length = 0u;

    (void)tl_encode(operation, bytes, sizeof bytes, &length);
    return tl_crc16(0xFFFFu, bytes, length);
}

static void remove_entry(tl_operations *memory, uint8_t place)
{
    memmove(&memory->entries[place], &memory->entries[place + 1u],
            (size_t)(memory->count - place - 1u) * sizeof memory->entries[0]);
    memory->count--;
}

/* Remembers how far a journal has been forgotten; of too many journals the one touched longest ago goes. */
static void mark_forgotten(tl_operations *memory, const tl_op_id *op)
{
    uint8_t place = mark_of(memory, op->journal);

    if (place < memory->forgotten_count) {
        if (!is_later(op, &memory->forgotten[place])) {
            return;
        }
    } else if (place < TL_JOURNALS) {
        memory->forgotten_count++;
    } else {
        place = 0u;
    }
    memmove(&memory->forgotten[place], &memory->forgotten[place + 1u],
            (size_t)(memory->forgotten_count - place - 1u) * sizeof memory->forgotten[0]);
    memory->forgotten[memory->forgotten_count - 1u] = *op;
}

/* Beyond the capacity go first the attempts that a later one of the same step has followed: they leave no mark, so that
 * a step which fails again and again is not taken for one that may have run. */
static void forget(tl_operations *memory)
{
    for (;;) {
        uint8_t ended = 0u;
        uint8_t oldest = TL_ENTRIES;
        uint8_t followed = TL_ENTRIES;
        uint8_t place;

        for (uint8_t at = 0u; at < memory->count; at++) {
            if (memory->entries[at].outcome == TL_RUNNING) {
                continue;
            }
            ended++;
            oldest = (oldest == TL_ENTRIES) ? at : oldest;
            if ((followed == TL_ENTRIES) && is_followed(memory, &memory->entries[at].op)) {
                followed = at;
            }
        }
        if (ended <= TL_REMEMBERED) {
            return;
        }
        place = (followed == TL_ENTRIES) ? oldest : followed;
        if (followed == TL_ENTRIES) {
            mark_forgotten(memory, &memory->entries[place].op);
        }
        remove_entry(memory, place);
    }
}

static uint8_t free_slot(const tl_operations *memory)
{
    for (uint8_t slot = 0u; slot < TL_ENTRIES; slot++) {
        uint8_t used = 0u;

        for (uint8_t at = 0u; at < memory->count; at++) {
            used = (memory->entries[at].slot == slot) ? 1u : used;
        }
        if (used == 0u) {
            return slot;
        }
    }
    return 0u; /* never: there are as many slots as entries */
}

void tl_operations_init(tl_operations *memory, uint8_t *values, uint8_t value_size)
{
    memset(memory, 0, sizeof *memory);
    memory->values = values;
    memory->value_size = value_size;
}

const tl_op_id *tl_operation_id(const tl_message *message)
{
    /* Every operation begins with its id. */
    return TL_IS_OPERATION(message->type) ? &message->as.dice_roll.op : NULL;
}

tl_admission tl_operations_admit(const tl_operations *memory, const tl_message *operation, const tl_operation **known)
{
    const tl_op_id *op = &operation->as.dice_roll.op;
    const uint8_t place = place_of(memory, op);
    const uint8_t mark = mark_of(memory, op->journal);

    *known = NULL;
    if (place < memory->count) {
        if (memory->entries[place].asked != check_of(operation)) {
            return TL_ADMIT_REFUSED;
        }
        *known = &memory->entries[place];
        return ((*known)->outcome == TL_RUNNING) ? TL_ADMIT_RUNNING : TL_ADMIT_ENDED;
    }
    if (((mark < memory->forgotten_count) && !is_later(op, &memory->forgotten[mark])) || is_followed(memory, op)) {
        return TL_ADMIT_REFUSED;
    }
    return TL_ADMIT_NEW;
}

int tl_operations_full(const tl_operations *memory)
{
    uint8_t running = 0u;

    for (uint8_t at = 0u; at < memory->count; at++) {
        running = (uint8_t)(running + ((memory->entries[at].outcome == TL_RUNNING) ? 1u : 0u));
    }
    return running >= TL_RUNNING_MAX;
}

int tl_operations_begin(tl_operations *memory, const tl_message *operation)
{
    tl_operation *entry;

    if (tl_operations_full(memory)) {
        return 0;
    }
    entry = &memory->entries[memory->count];
    memset(entry, 0, sizeof *entry);
    entry->slot = free_slot(memory);
    memory->count++;
    entry->op = operation->as.dice_roll.op;
    entry->asked = check_of(operation);
    entry->type = operation->type;
    entry->outcome = TL_RUNNING;
    entry->side = TL_NONE;
    return 1;
}

const tl_operation *tl_operations_finish(tl_operations *memory, const tl_op_id *op, uint8_t outcome, uint8_t fault,
                                         uint8_t side, const uint8_t *values, uint8_t length)
{
    const uint8_t place = place_of(memory, op);
    tl_operation ended;

    if ((place == memory->count) || (memory->entries[place].outcome != TL_RUNNING) || (length > memory->value_size)) {
        return NULL;
    }
    ended = memory->entries[place];
    ended.outcome = outcome;
    ended.fault = fault;
    ended.side = side;
    ended.length = length;
    if (length > 0u) {
        memcpy(&memory->values[(size_t)ended.slot * memory->value_size], values, length);
    }
    remove_entry(memory, place);
    memory->entries[memory->count] = ended;
    memory->count++;
    memory->has_last = 1u;
    memory->last = ended.op;
    forget(memory);
    return &memory->entries[memory->count - 1u];
}

const tl_operation *tl_operations_running(const tl_operations *memory)
{
    for (uint8_t at = 0u; at < memory->count; at++) {
        if (memory->entries[at].outcome == TL_RUNNING) {
            return &memory->entries[at];
        }
    }
    return NULL;
}

void tl_operations_interrupt(tl_operations *memory, uint8_t fault)
{
    const tl_operation *running = tl_operations_running(memory);

    while (running != NULL) {
        const tl_op_id op = running->op;

        (void)tl_operations_finish(memory, &op, (uint8_t)TL_OUTCOME_INTERRUPTED, fault, TL_NONE, NULL, 0u);
        running = tl_operations_running(memory);
    }
}

void tl_operations_answer(const tl_operations *memory, const tl_operation *known, tl_message *answer)
{
    memset(answer, 0, sizeof *answer);
    if (known->outcome == TL_RUNNING) {
        answer->type = (uint8_t)TL_TYPE_OP_ACCEPTED;
        answer->as.op_accepted.op = known->op;
        return;
    }
    answer->type = (uint8_t)TL_TYPE_OP_RESULT;
    answer->as.op_result.op = known->op;
    answer->as.op_result.outcome = known->outcome;
    answer->as.op_result.fault = known->fault;
    answer->as.op_result.side = known->side;
    answer->as.op_result.values.length = known->length;
    if (known->length > 0u) {
        memcpy(answer->as.op_result.values.bytes, &memory->values[(size_t)known->slot * memory->value_size],
               known->length);
    }
}

/* --- an image that outlives a reset ------------------------------------------------------------------------------ */

size_t tl_operations_save(const tl_operations *memory, uint8_t *image, size_t room)
{
    const size_t values = (size_t)TL_ENTRIES * memory->value_size;
    const size_t length = TL_IMAGE_ROOM(memory->value_size);
    uint16_t crc;

    if (room < length) {
        return 0u;
    }
    image[0] = IMAGE_VERSION;
    image[1] = memory->value_size;
    memcpy(&image[2], memory, sizeof *memory);
    memcpy(&image[2u + sizeof *memory], memory->values, values);
    crc = tl_crc16(0xFFFFu, image, length - 2u);
    image[length - 2u] = (uint8_t)(crc & 0xFFu);
    image[length - 1u] = (uint8_t)(crc >> 8);
    return length;
}

int tl_operations_load(tl_operations *memory, const uint8_t *image, size_t length)
{
    uint8_t *own_values = memory->values;
    const uint8_t own_size = memory->value_size;
    uint16_t crc;

    tl_operations_init(memory, own_values, own_size);
    if ((length != TL_IMAGE_ROOM(own_size)) || (image[0] != IMAGE_VERSION) || (image[1] != own_size)) {
        return 0;
    }
    crc = tl_crc16(0xFFFFu, image, length - 2u);
    if ((image[length - 2u] != (uint8_t)(crc & 0xFFu)) || (image[length - 1u] != (uint8_t)(crc >> 8))) {
        return 0;
    }
    memcpy(memory, &image[2], sizeof *memory);
    memory->values = own_values;
    memcpy(own_values, &image[2u + sizeof *memory], (size_t)TL_ENTRIES * own_size);
    tl_operations_interrupt(memory, (uint8_t)TL_FAULT_BROWN_OUT);
    return 1;
}
