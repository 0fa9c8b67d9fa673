/* A small plant of its own: lamps, dice, timed motions, no tiles. Where your firmware has drivers, this has timers. */
#define _GNU_SOURCE
#include "host.h"

#include <stdio.h>
#include <string.h>

#define MOTIONS 4u

/* One thing that moves, until a moment. */
typedef struct {
    tl_message operation; /* type 0: nothing */
    uint8_t outcome;      /* TL_RUNNING, or how it has ended and is still to be told */
    uint32_t began;
    uint32_t until;
    uint32_t next_progress;
} motion;

static motion motions[MOTIONS];
static uint8_t centre = (uint8_t)TL_POSITION_DOWN;
static uint8_t walls = (uint8_t)TL_POSITION_DOWN;
static uint8_t sorted_set;
static uint8_t faces[2];
static uint8_t gear_tiles;
static uint8_t gear[4];
static uint32_t cycles;
static uint16_t learned[6]; /* ms each movement usually takes, TL_LEARNED_... */

static const char *const names[] = {"centre raise", "centre lower", "walls raise",   "walls lower", "sort", "sort stop",
                                    "dice roll",    "present group", "read wall", "jog",         "self-test"};

static const char *name_of(uint8_t type)
{
    return names[type - (uint8_t)TL_TYPE_CENTRE_RAISE];
}

static motion *running(uint8_t type)
{
    for (uint8_t at = 0u; at < MOTIONS; at++) {
        if (motions[at].operation.type == type) {
            return &motions[at];
        }
    }
    return NULL;
}

static uint32_t usual_ms(uint8_t type)
{
    switch ((tl_type_code)type) {
    case TL_TYPE_CENTRE_RAISE:
    case TL_TYPE_CENTRE_LOWER:
        return 1200u;
    case TL_TYPE_WALLS_RAISE:
    case TL_TYPE_WALLS_LOWER:
        return 2000u;
    case TL_TYPE_SORT_START:
        return 26000u;
    case TL_TYPE_DICE_ROLL:
        return 4000u;
    default:
        return 0u;
    }
}

/* The interlocks of docs/serial.md, section 6, as far as this table has such things. */
static uint8_t refusal(program *of, const tl_message *operation)
{
    (void)of;
    if ((operation->type != (uint8_t)TL_TYPE_SORT_STOP) && (usual_ms(operation->type) == 0u)) {
        return (uint8_t)TL_REFUSAL_UNSUPPORTED;
    }
    if ((running(operation->type) != NULL) || (running(0u) == NULL)) {
        return (uint8_t)TL_REFUSAL_BUSY;
    }
    switch ((tl_type_code)operation->type) {
    case TL_TYPE_CENTRE_RAISE:
    case TL_TYPE_CENTRE_LOWER:
        if ((walls != (uint8_t)TL_POSITION_DOWN) || (running((uint8_t)TL_TYPE_SORT_START) != NULL)) {
            return (uint8_t)TL_REFUSAL_INTERLOCK;
        }
        break;
    case TL_TYPE_WALLS_RAISE:
        if ((centre != (uint8_t)TL_POSITION_DOWN) || (sorted_set != operation->as.walls_raise.set_no)) {
            return (uint8_t)TL_REFUSAL_INTERLOCK;
        }
        break;
    case TL_TYPE_WALLS_LOWER:
        if (centre != (uint8_t)TL_POSITION_DOWN) {
            return (uint8_t)TL_REFUSAL_INTERLOCK;
        }
        break;
    case TL_TYPE_SORT_START:
        if (gear_tiles == 0u) {
            return (uint8_t)TL_REFUSAL_GEAR;
        }
        if (centre != (uint8_t)TL_POSITION_DOWN) {
            return (uint8_t)TL_REFUSAL_INTERLOCK;
        }
        break;
    default:
        break;
    }
    return 0u;
}

/* Stores and tells how a motion has ended. Where the link has no room now, the next tick tries again. */
static void end(program *of, motion *what)
{
    const uint8_t type = what->operation.type;
    const uint8_t outcome = what->outcome;
    tl_message result;
    tl_dice_outcome dice;
    tl_sort_outcome sort;
    const void *found = NULL;
    size_t length = 0u;

    memset(&result, 0, sizeof result);
    result.type = (uint8_t)TL_TYPE_OP_RESULT;
    result.as.op_result.op = *tl_operation_id(&what->operation);
    result.as.op_result.outcome = outcome;
    result.as.op_result.side = TL_NONE;
    if ((type == (uint8_t)TL_TYPE_DICE_ROLL) && (outcome == (uint8_t)TL_OUTCOME_DONE)) {
        memset(&dice, 0, sizeof dice);
        dice.dice.present = 1u;
        memcpy(dice.dice.value, faces, sizeof faces);
        dice.quality = (uint8_t)TL_QUALITY_CLEAN;
        dice.spin_ms = (uint16_t)usual_ms(type);
        found = &dice;
    }
    if ((type == (uint8_t)TL_TYPE_SORT_START) && (outcome == (uint8_t)TL_OUTCOME_DONE)) {
        for (uint8_t side = 0u; side < 4u; side++) {
            sort.tiles[side] = (uint8_t)(2u * gear[side]);
        }
        found = &sort;
    }
    if (found != NULL) {
        (void)tl_outcome_encode(type, found, result.as.op_result.values.bytes, sizeof result.as.op_result.values.bytes,
                                &length);
        result.as.op_result.values.length = (uint8_t)length;
    }
    if (tl_board_finish(&of->board, &result)) {
        (void)printf("%s: %s\n", name_of(type), (outcome == (uint8_t)TL_OUTCOME_DONE) ? "done" : "interrupted");
        (void)fflush(stdout);
        what->operation.type = 0u;
    }
}

/* The motor is switched on. */
static void begin(program *of, const tl_message *operation)
{
    motion *what = running(0u);
    motion *sort = running((uint8_t)TL_TYPE_SORT_START);

    what->operation = *operation;
    what->outcome = TL_RUNNING;
    what->began = now_ms();
    what->until = what->began + (usual_ms(operation->type) / of->speed);
    what->next_progress = what->began;
    (void)printf("%s\n", name_of(operation->type));
    (void)fflush(stdout);
    switch ((tl_type_code)operation->type) {
    case TL_TYPE_CENTRE_RAISE:
    case TL_TYPE_CENTRE_LOWER:
        centre = (uint8_t)TL_POSITION_MOVING;
        break;
    case TL_TYPE_WALLS_RAISE:
    case TL_TYPE_WALLS_LOWER:
        walls = (uint8_t)TL_POSITION_MOVING;
        break;
    case TL_TYPE_SORT_START:
        sorted_set = 0u;
        break;
    case TL_TYPE_SORT_STOP:
        what->outcome = (uint8_t)TL_OUTCOME_DONE; /* it takes no time */
        if (sort != NULL) {
            sort->outcome = (uint8_t)TL_OUTCOME_INTERRUPTED;
            end(of, sort);
        }
        break;
    default:
        break;
    }
}

/* The mean of recent cycles, the last one weighing an eighth. */
static void learn(const motion *what, uint32_t now)
{
    static const uint8_t movements[] = {
        (uint8_t)TL_LEARNED_CENTRE_UP,  (uint8_t)TL_LEARNED_CENTRE_DOWN, (uint8_t)TL_LEARNED_WALLS_UP,
        (uint8_t)TL_LEARNED_WALLS_DOWN, (uint8_t)TL_LEARNED_SORT,        TL_NONE,
        (uint8_t)TL_LEARNED_DICE,
    };
    const uint8_t verb = (uint8_t)(what->operation.type - (uint8_t)TL_TYPE_CENTRE_RAISE);
    const uint32_t took = now - what->began;

    if ((verb < sizeof movements) && (movements[verb] != TL_NONE)) {
        uint16_t *mean = &learned[movements[verb]];

        *mean = (uint16_t)((*mean == 0u) ? took : (((7u * (uint32_t)*mean) + took) / 8u));
    }
}

/* Its time is over: what has it brought about? */
static void arrive(program *of, motion *what)
{
    learn(what, now_ms());
    switch ((tl_type_code)what->operation.type) {
    case TL_TYPE_CENTRE_RAISE:
        centre = (uint8_t)TL_POSITION_UP;
        break;
    case TL_TYPE_CENTRE_LOWER:
        centre = (uint8_t)TL_POSITION_DOWN;
        break;
    case TL_TYPE_WALLS_RAISE:
    case TL_TYPE_WALLS_LOWER:
        walls = (uint8_t)TL_POSITION_DOWN; /* the lifts return by themselves */
        break;
    case TL_TYPE_SORT_START:
        sorted_set = what->operation.as.sort_start.set_no;
        cycles++;
        break;
    case TL_TYPE_DICE_ROLL:
        for (uint8_t die = 0u; die < 2u; die++) {
            uint32_t number = chance(of);

            while (number >= 0xFFFFFFFCu) { /* the rest that six does not divide */
                number = chance(of);
            }
            faces[die] = (uint8_t)((number % 6u) + 1u);
        }
        break;
    default:
        break;
    }
}

static void tell_progress(program *of, motion *what, uint32_t now)
{
    const uint32_t whole = what->until - what->began;
    const uint32_t gone = now - what->began;
    tl_message message;

    memset(&message, 0, sizeof message);
    message.type = (uint8_t)TL_TYPE_OP_PROGRESS;
    message.as.op_progress.op = what->operation.as.sort_start.op;
    message.as.op_progress.seconds = (uint16_t)(gone / 1000u);
    for (uint8_t side = 0u; side < 4u; side++) {
        const uint32_t all = 2u * (uint32_t)gear[side];

        message.as.op_progress.tiles[side] = (uint8_t)((whole == 0u) ? all : ((all * gone) / whole));
    }
    (void)tl_board_tell(&of->board, &message);
    what->next_progress = now + 1000u;
}

static uint32_t tick(program *of, uint32_t now)
{
    uint32_t wait = TL_NEVER;

    for (uint8_t at = 0u; at < MOTIONS; at++) {
        motion *what = &motions[at];

        if (what->operation.type == 0u) {
            continue;
        }
        if ((what->outcome == TL_RUNNING) && ((uint32_t)(now - what->until) < 0x80000000u)) {
            arrive(of, what);
            what->outcome = (uint8_t)TL_OUTCOME_DONE;
        }
        if (what->outcome != TL_RUNNING) {
            end(of, what);
            wait = (what->operation.type == 0u) ? wait : 5u; /* no room: soon again */
        } else {
            const uint32_t left = what->until - now;

            if ((what->operation.type == (uint8_t)TL_TYPE_SORT_START) &&
                ((uint32_t)(now - what->next_progress) < 0x80000000u)) {
                tell_progress(of, what, now);
            }
            wait = (left < wait) ? left : wait;
            wait = (wait > 1000u) ? 1000u : wait;
        }
    }
    return wait;
}

/* A stop, or nobody is there: everything stands still, but the dice fall and are read. */
static void halt(program *of, tl_halt why)
{
    (void)printf("%s\n", (why == TL_HALT_STOP) ? "stop" : "nobody is there");
    (void)fflush(stdout);
    for (uint8_t at = 0u; at < MOTIONS; at++) {
        const uint8_t type = motions[at].operation.type;

        if ((type == 0u) || (type == (uint8_t)TL_TYPE_DICE_ROLL) || (motions[at].outcome != TL_RUNNING)) {
            continue;
        }
        if ((type == (uint8_t)TL_TYPE_CENTRE_RAISE) || (type == (uint8_t)TL_TYPE_CENTRE_LOWER)) {
            centre = (uint8_t)TL_POSITION_UNKNOWN;
        }
        if ((type == (uint8_t)TL_TYPE_WALLS_RAISE) || (type == (uint8_t)TL_TYPE_WALLS_LOWER)) {
            walls = (uint8_t)TL_POSITION_UNKNOWN;
        }
        motions[at].outcome = (uint8_t)TL_OUTCOME_INTERRUPTED;
        end(of, &motions[at]);
    }
}

static void put_text(uint8_t *length, uint8_t *bytes, const char *text)
{
    *length = (uint8_t)strlen(text);
    memcpy(bytes, text, *length);
}

static void identify(program *of, tl_identity *told)
{
    put_text(&told->firmware.length, told->firmware.bytes, "host-1.0");
    put_text(&told->model.length, told->model.bytes, "Kaijin C reference");
    put_text(&told->serial_number.length, told->serial_number.bytes, "C-0001");
    told->capabilities.sets = 2u;
    told->capabilities.dice = (uint8_t)TL_DICE_READ;
    told->capabilities.memory = (uint8_t)((of->flash != NULL) ? TL_MEMORY_NONVOLATILE : TL_MEMORY_VOLATILE);
    told->capabilities.lamps = 1u;
    told->gear_tiles = gear_tiles;
    memcpy(told->stacks, gear, sizeof gear);
}

static void set_gear(const tl_set_gear *asked, tl_gear_set *told)
{
    uint32_t tiles = 0u;

    for (uint8_t side = 0u; side < 4u; side++) {
        tiles += 2u * (uint32_t)asked->stacks[side];
    }
    if (running((uint8_t)TL_TYPE_SORT_START) != NULL) {
        told->reason = (uint8_t)TL_REFUSAL_BUSY;
    } else if ((asked->tiles == 0u) || (tiles != asked->tiles)) {
        told->reason = (uint8_t)TL_REFUSAL_BAD_ARGUMENT;
    } else {
        told->accepted = 1u;
        gear_tiles = asked->tiles;
        memcpy(gear, asked->stacks, sizeof gear);
    }
}

/* Every request begins with its number, and so does every answer. */
static void request(program *of, const tl_message *message)
{
    tl_message answer;

    memset(&answer, 0, sizeof answer);
    switch ((tl_type_code)message->type) {
    case TL_TYPE_IDENTIFY:
        answer.type = (uint8_t)TL_TYPE_IDENTITY;
        answer.as.identity.req = message->as.identify.req;
        identify(of, &answer.as.identity);
        break;
    case TL_TYPE_STATUS_QUERY:
        answer.type = (uint8_t)TL_TYPE_STATUS;
        answer.as.status.req = message->as.status_query.req;
        answer.as.status.centre = centre;
        answer.as.status.walls = walls;
        answer.as.status.sorted_set = sorted_set;
        if (running((uint8_t)TL_TYPE_SORT_START) != NULL) {
            answer.as.status.sorting_set = running((uint8_t)TL_TYPE_SORT_START)->operation.as.sort_start.set_no;
        }
        break;
    case TL_TYPE_SET_GEAR:
        answer.type = (uint8_t)TL_TYPE_GEAR_SET;
        answer.as.gear_set.req = message->as.set_gear.req;
        set_gear(&message->as.set_gear, &answer.as.gear_set);
        break;
    case TL_TYPE_COUNTERS_QUERY:
        answer.type = (uint8_t)TL_TYPE_COUNTERS;
        answer.as.counters.req = message->as.counters_query.req;
        answer.as.counters.cycles = cycles;
        memcpy(answer.as.counters.learned_ms, learned, sizeof learned);
        break;
    case TL_TYPE_SENSORS_QUERY:
        answer.type = (uint8_t)TL_TYPE_SENSORS;
        answer.as.sensors.req = message->as.sensors_query.req;
        answer.as.sensors.bits = 1u << TL_SENSOR_BIT_LID_CLOSED;
        if (centre == (uint8_t)TL_POSITION_DOWN) {
            answer.as.sensors.bits |= 1u << TL_SENSOR_BIT_CENTRE_DOWN;
        }
        if (walls == (uint8_t)TL_POSITION_DOWN) {
            answer.as.sensors.bits |= 1u << TL_SENSOR_BIT_WALLS_DOWN;
        }
        answer.as.sensors.values[TL_SENSOR_VALUE_SUPPLY] = 24000u;
        break;
    case TL_TYPE_DICE_QUERY:
        answer.type = (uint8_t)TL_TYPE_DICE_FACES;
        answer.as.dice_faces.req = message->as.dice_query.req;
        answer.as.dice_faces.moving = (uint8_t)((running((uint8_t)TL_TYPE_DICE_ROLL) != NULL) ? 1u : 0u);
        answer.as.dice_faces.known = (uint8_t)(((faces[0] != 0u) && !answer.as.dice_faces.moving) ? 1u : 0u);
        if (answer.as.dice_faces.known) {
            memcpy(answer.as.dice_faces.dice, faces, sizeof faces);
        }
        break;
    case TL_TYPE_VOUCH_CENTRE:
        answer.type = (uint8_t)TL_TYPE_CENTRE_VOUCHED;
        answer.as.centre_vouched.req = message->as.vouch_centre.req;
        answer.as.centre_vouched.accepted = (uint8_t)((centre == (uint8_t)TL_POSITION_DOWN) ? 1u : 0u);
        break;
    case TL_TYPE_LAMP:
        (void)printf("lamps of side %u, stacks %u to %u: colour %u\n", (unsigned)message->as.lamp.side,
                     (unsigned)message->as.lamp.first, (unsigned)message->as.lamp.last,
                     (unsigned)message->as.lamp.colour);
        break;
    case TL_TYPE_LAMPS_OFF:
        (void)printf("lamps off\n");
        break;
    case TL_TYPE_BUZZER:
        (void)printf("buzzer, pattern %u\n", (unsigned)message->as.buzzer.pattern);
        break;
    default:
        break; /* shows that this table has not */
    }
    (void)fflush(stdout);
    if (answer.type != 0u) {
        (void)tl_board_tell(&of->board, &answer);
    }
}

static void start(program *of)
{
    (void)printf("board on %s (%s)\n", of->line.link, of->line.name);
    (void)fflush(stdout);
}

static void changed(program *of)
{
    static uint8_t known;

    if (of->board.identified && !known) {
        (void)printf("a host is there\n");
        (void)fflush(stdout);
    }
    known = of->board.identified;
}

static int wants(program *of)
{
    (void)of;
    return 0;
}

static void readable(program *of)
{
    (void)of;
}

const plant own_plant = {start, refusal, begin, request, halt, changed, wants, readable, tick};
