/* Generated from the message catalogue by `python -m protocol.serial.c_code`; do not edit. */
#ifndef TABLE_LINK_H
#define TABLE_LINK_H

#include <stddef.h>
#include <stdint.h>

/* Versions, limits (bytes, frames, results) and times (milliseconds); docs/serial.md says what they bind. */
#define TL_PROTOCOL 1u
#define TL_LINK_VERSION 1u
#define TL_MESSAGE_LIMIT 230u
#define TL_PAYLOAD_LIMIT 230u
#define TL_FRAME_LIMIT 256u
#define TL_ENCODED_LIMIT 258u
#define TL_KEEPALIVE_MS 300u
#define TL_HOST_SILENCE_MS 1000u
#define TL_PATIENCE_MS 4000u
#define TL_RTO_START_MS 100u
#define TL_RTO_LOWEST_MS 25u
#define TL_RTO_HIGHEST_MS 2000u
#define TL_WINDOW_MAX 8u
#define TL_REMEMBERED 32u
#define TL_JOURNALS 8u
#define TL_NONE 255u
#define TL_TILE_UNKNOWN 255u

/* Kinds of frame. */
typedef enum {
    TL_FRAME_KIND_HELLO = 0,
    TL_FRAME_KIND_HELLO_ACK = 1,
    TL_FRAME_KIND_DATA = 2,
    TL_FRAME_KIND_ACK = 3,
    TL_FRAME_KIND_NAK = 4,
    TL_FRAME_KIND_RESET = 5,
    TL_FRAME_KIND_BYE = 6
} tl_frame_kind_code;

/* Words and their codes on the wire. A field of a struct holds the code as uint8_t; where it may be empty
 * it is TL_NONE for a side, 0 for a fault or a refusal. */
typedef enum {
    TL_SIDE_E = 0,
    TL_SIDE_S = 1,
    TL_SIDE_W = 2,
    TL_SIDE_N = 3
} tl_side_code;

typedef enum {
    TL_POSITION_DOWN = 0,
    TL_POSITION_UP = 1,
    TL_POSITION_MOVING = 2,
    TL_POSITION_UNKNOWN = 3
} tl_position_code;

typedef enum {
    TL_REFUSAL_LATCHED = 1,
    TL_REFUSAL_INTERLOCK = 2,
    TL_REFUSAL_BUSY = 3,
    TL_REFUSAL_UNSUPPORTED = 4,
    TL_REFUSAL_SERVICE_MODE = 5,
    TL_REFUSAL_BAD_ARGUMENT = 6,
    TL_REFUSAL_GEAR = 7
} tl_refusal_code;

typedef enum {
    TL_FAULT_SORT_TIMEOUT = 1,
    TL_FAULT_SIDE_SHORT = 2,
    TL_FAULT_SIDE_LONG = 3,
    TL_FAULT_HEAD_JAM = 4,
    TL_FAULT_SINGLE_TILE_PUSH = 5,
    TL_FAULT_PUSH_INCOMPLETE = 6,
    TL_FAULT_WALL_NOT_HOME = 7,
    TL_FAULT_CENTRE_LIMIT_MISSING = 8,
    TL_FAULT_EYE_DIRTY = 9,
    TL_FAULT_SETS_MIXED = 10,
    TL_FAULT_TILE_LEFT_OUT = 11,
    TL_FAULT_GEAR_MISMATCH = 12,
    TL_FAULT_DICE_STUCK = 13,
    TL_FAULT_DICE_AMBIGUOUS = 14,
    TL_FAULT_KEY_STUCK = 15,
    TL_FAULT_MOTOR_OVERHEAT = 16,
    TL_FAULT_MOTOR_STALL = 17,
    TL_FAULT_BROWN_OUT = 18,
    TL_FAULT_LID_OPEN = 19,
    TL_FAULT_READER_BLIND = 20,
    TL_FAULT_LINK_LOST = 21,
    TL_FAULT_FIRMWARE_MISMATCH = 22
} tl_fault_code;

typedef enum {
    TL_SENSING_NONE = 0,
    TL_SENSING_FULL = 1
} tl_sensing_code;

typedef enum {
    TL_AID_GUIDE = 0,
    TL_AID_PRESENT = 1
} tl_aid_code;

typedef enum {
    TL_DICE_READ = 0,
    TL_DICE_UNREAD = 1,
    TL_DICE_SOFTWARE = 2,
    TL_DICE_HAND = 3
} tl_dice_code;

typedef enum {
    TL_MEMORY_VOLATILE = 0,
    TL_MEMORY_NONVOLATILE = 1
} tl_memory_code;

typedef enum {
    TL_QUALITY_CLEAN = 0,
    TL_QUALITY_COCKED = 1,
    TL_QUALITY_AMBIGUOUS = 2,
    TL_QUALITY_UNREAD = 3
} tl_quality_code;

typedef enum {
    TL_OUTCOME_DONE = 0,
    TL_OUTCOME_FAILED = 1,
    TL_OUTCOME_INTERRUPTED = 2
} tl_outcome_code;

typedef enum {
    TL_KEY_LIFT = 0,
    TL_KEY_DICE = 1,
    TL_KEY_SEAT = 2,
    TL_KEY_SERVICE = 3
} tl_key_code;

typedef enum {
    TL_ZONE_HAND = 0,
    TL_ZONE_FLOWERS = 1,
    TL_ZONE_DISCARDS = 2,
    TL_ZONE_MELDS = 3
} tl_zone_code;

typedef enum {
    TL_SEVERITY_INFO = 0,
    TL_SEVERITY_WARNING = 1,
    TL_SEVERITY_FAULT = 2,
    TL_SEVERITY_CRITICAL = 3
} tl_severity_code;

typedef enum {
    TL_LAMP_OFF = 0,
    TL_LAMP_E = 1,
    TL_LAMP_S = 2,
    TL_LAMP_W = 3,
    TL_LAMP_N = 4,
    TL_LAMP_GOLD = 5,
    TL_LAMP_WHITE = 6
} tl_lamp_code;

typedef enum {
    TL_MOTOR_CENTRE = 0,
    TL_MOTOR_WALLS = 1,
    TL_MOTOR_STIRRER = 2,
    TL_MOTOR_LIFTERS = 3,
    TL_MOTOR_PUSHERS = 4,
    TL_MOTOR_DICE = 5
} tl_motor_code;

typedef enum {
    TL_LEARNED_CENTRE_UP = 0,
    TL_LEARNED_CENTRE_DOWN = 1,
    TL_LEARNED_WALLS_UP = 2,
    TL_LEARNED_WALLS_DOWN = 3,
    TL_LEARNED_SORT = 4,
    TL_LEARNED_DICE = 5
} tl_learned_code;

typedef enum {
    TL_SENSOR_BIT_LID_CLOSED = 0,
    TL_SENSOR_BIT_CENTRE_DOWN = 1,
    TL_SENSOR_BIT_CENTRE_UP = 2,
    TL_SENSOR_BIT_WALLS_DOWN = 3,
    TL_SENSOR_BIT_WALLS_UP = 4,
    TL_SENSOR_BIT_STOP_BUTTON = 5,
    TL_SENSOR_BIT_LIFT_KEY = 6,
    TL_SENSOR_BIT_DICE_KEY = 7,
    TL_SENSOR_BIT_SEAT_KEY_E = 8,
    TL_SENSOR_BIT_SEAT_KEY_S = 9,
    TL_SENSOR_BIT_SEAT_KEY_W = 10,
    TL_SENSOR_BIT_SEAT_KEY_N = 11,
    TL_SENSOR_BIT_SERVICE_KEY = 12,
    TL_SENSOR_BIT_EYE_E = 13,
    TL_SENSOR_BIT_EYE_S = 14,
    TL_SENSOR_BIT_EYE_W = 15,
    TL_SENSOR_BIT_EYE_N = 16,
    TL_SENSOR_BIT_HEAD_E = 17,
    TL_SENSOR_BIT_HEAD_S = 18,
    TL_SENSOR_BIT_HEAD_W = 19,
    TL_SENSOR_BIT_HEAD_N = 20,
    TL_SENSOR_BIT_DICE_STILL = 21,
    TL_SENSOR_BIT_TILES_ON_FELT = 22,
    TL_SENSOR_BIT_READER_READY = 23,
    TL_SENSOR_BIT_SERVICE_MODE = 24
} tl_sensor_bit_code;

typedef enum {
    TL_SENSOR_VALUE_SUPPLY = 0,
    TL_SENSOR_VALUE_MOTOR_CURRENT = 1,
    TL_SENSOR_VALUE_BOARD_TEMPERATURE = 2,
    TL_SENSOR_VALUE_MOTOR_TEMPERATURE = 3,
    TL_SENSOR_VALUE_EYE_LEVEL_E = 4,
    TL_SENSOR_VALUE_EYE_LEVEL_S = 5,
    TL_SENSOR_VALUE_EYE_LEVEL_W = 6,
    TL_SENSOR_VALUE_EYE_LEVEL_N = 7
} tl_sensor_value_code;

typedef enum {
    TL_SELF_TEST_ALL = 0,
    TL_SELF_TEST_SUPPLY = 1,
    TL_SELF_TEST_STOP_CIRCUIT = 2,
    TL_SELF_TEST_KEYS = 3,
    TL_SELF_TEST_CENTRE_LIMITS = 4,
    TL_SELF_TEST_WALL_HOMES = 5,
    TL_SELF_TEST_EYES = 6,
    TL_SELF_TEST_HEADS = 7,
    TL_SELF_TEST_DICE = 8,
    TL_SELF_TEST_READERS = 9,
    TL_SELF_TEST_MOTORS = 10
} tl_self_test_code;

/* Message types: below 0x80 the host sends, from 0x80 on the MCU. */
typedef enum {
    TL_TYPE_IDENTITY = 0x81,
    TL_TYPE_PONG = 0x82,
    TL_TYPE_STATUS = 0x83,
    TL_TYPE_GEAR_SET = 0x84,
    TL_TYPE_COUNTERS = 0x85,
    TL_TYPE_SENSORS = 0x86,
    TL_TYPE_DICE_FACES = 0x87,
    TL_TYPE_CENTRE_VOUCHED = 0x88,
    TL_TYPE_OP_ACCEPTED = 0xa0,
    TL_TYPE_OP_REFUSED = 0xa1,
    TL_TYPE_OP_PROGRESS = 0xa2,
    TL_TYPE_OP_RESULT = 0xa3,
    TL_TYPE_KEY = 0xc0,
    TL_TYPE_ZONE = 0xc1,
    TL_TYPE_TILE_FLIPPED = 0xc2,
    TL_TYPE_ROW_LAID = 0xc3,
    TL_TYPE_DICE_UNASKED = 0xc4,
    TL_TYPE_FAULT_RAISED = 0xc5,
    TL_TYPE_FAULT_CLEARED = 0xc6,
    TL_TYPE_STOP_LATCHED = 0xc7,
    TL_TYPE_STOP_CLEARED = 0xc8,
    TL_TYPE_IDENTIFY = 0x01,
    TL_TYPE_PING = 0x02,
    TL_TYPE_STATUS_QUERY = 0x03,
    TL_TYPE_SET_GEAR = 0x04,
    TL_TYPE_COUNTERS_QUERY = 0x05,
    TL_TYPE_SENSORS_QUERY = 0x06,
    TL_TYPE_DICE_QUERY = 0x07,
    TL_TYPE_VOUCH_CENTRE = 0x08,
    TL_TYPE_CENTRE_RAISE = 0x20,
    TL_TYPE_CENTRE_LOWER = 0x21,
    TL_TYPE_WALLS_RAISE = 0x22,
    TL_TYPE_WALLS_LOWER = 0x23,
    TL_TYPE_SORT_START = 0x24,
    TL_TYPE_SORT_STOP = 0x25,
    TL_TYPE_DICE_ROLL = 0x26,
    TL_TYPE_PRESENT_GROUP = 0x27,
    TL_TYPE_READ_WALL = 0x28,
    TL_TYPE_JOG = 0x29,
    TL_TYPE_SELF_TEST = 0x2a,
    TL_TYPE_LAMP = 0x40,
    TL_TYPE_LAMPS_OFF = 0x41,
    TL_TYPE_BUZZER = 0x42,
    TL_TYPE_EMERGENCY_STOP = 0x43,
    TL_TYPE_CLEAR_STOP = 0x44,
    TL_TYPE_SERVICE_END = 0x45
} tl_type_code;

#define TL_IS_OPERATION(type) (((type) >= 0x20u) && ((type) < 0x40u))

/* Text (UTF-8, no closing zero), bytes and tile codes with their length before them. */
typedef struct { uint8_t length; uint8_t bytes[160]; } tl_bytes_160;
typedef struct { uint8_t length; uint8_t bytes[90]; } tl_bytes_90;
typedef struct { uint8_t length; uint8_t bytes[24]; } tl_text_24;
typedef struct { uint8_t length; uint8_t bytes[32]; } tl_text_32;
typedef struct { uint8_t length; uint8_t bytes[48]; } tl_text_48;
typedef struct { uint8_t length; uint8_t bytes[8]; } tl_text_8;
typedef struct { uint8_t length; uint8_t bytes[64]; } tl_tiles_64;
typedef struct { uint8_t length; uint8_t bytes[80]; } tl_tiles_80;

/* Parts. */
typedef struct {
    uint64_t journal; /* random number of the journal: u64 */
    uint32_t hand; /* hand within the journal: u32 */
    uint16_t step; /* step within the hand: u16 */
    uint16_t attempt; /* 0 at first; going on after an interruption is the next: u16 */
} tl_op_id;

typedef struct {
    uint8_t sensing; /* does it read tile faces: u8: 0 none, 1 full */
    uint8_t aid; /* people take, guided; or the table presents groups: u8: 0 guide, 1 present */
    uint8_t sets; /* tile sets in circulation: u8 1-2 */
    uint8_t dice; /* who throws and who reads: u8: 0 read, 1 unread, 2 software, 3 hand */
    uint8_t memory; /* do results outlive a reset: u8: 0 volatile, 1 nonvolatile */
    uint8_t lamps; /* lamps along the walls: bool */
    uint8_t readers; /* tag readers in zones and walls: bool */
    uint8_t service; /* service mode is on: bool */
} tl_capabilities;

typedef struct { uint8_t present; tl_op_id value; } tl_optional_op_id;
typedef struct { uint8_t present; uint8_t value[2]; } tl_optional_dice;

/* What op_result.values hold, by tl_outcome_encode: after dice_roll, sort_start, read_wall and self_test. */
typedef struct {
    tl_optional_dice dice; /* faces 1-6: optional 2 x u8 1-6 */
    uint8_t quality; /* how they lay: u8: 0 clean, 1 cocked, 2 ambiguous, 3 unread */
    uint16_t spin_ms; /* how long they spun, ms: u16 */
} tl_dice_outcome;

typedef struct {
    uint8_t tiles[4]; /* tiles stacked at E, S, W, N: 4 x u8 */
} tl_sort_outcome;

typedef struct {
    tl_tiles_80 tiles; /* tiles in wall order: tiles <= 80 */
    uint8_t confidence; /* how sure the reader is, %: u8 0-100 */
} tl_wall_outcome;

typedef struct {
    tl_bytes_90 found; /* number, fault no. or 0, side or 255; for each test: bytes <= 90 */
} tl_self_test_outcome;

/* Messages. */
/* 0x81 Identity: Who this board is and what it remembers. */
typedef struct {
    uint16_t req; /* number of the request; its answer carries the same: u16 */
    uint8_t protocol; /* protocol major the board speaks: u8 */
    tl_text_24 firmware; /* firmware version: text <= 24 */
    tl_text_32 model; /* hardware model: text <= 32 */
    tl_text_32 serial_number; /* serial number of the board: text <= 32 */
    uint32_t boot_id; /* random, new at every start of the MCU: u32 */
    tl_capabilities capabilities; /* what this table can do: Capabilities */
    uint8_t gear_tiles; /* tiles of the gear set last; 0 none: u8 */
    uint8_t stacks[4]; /* its stacks of E, S, W, N: 4 x u8 0-40 */
    tl_optional_op_id last_op; /* last completed operation: optional OpId */
    tl_text_48 stop_reason; /* first reason of the latched stop; empty: none latched: text <= 48 */
} tl_identity;

/* 0x82 Pong: Answer to Ping. */
typedef struct {
    uint16_t req; /* number of the request; its answer carries the same: u16 */
} tl_pong;

/* 0x83 Status: Answer to StatusQuery: where the mechanisms are and what runs. */
typedef struct {
    uint16_t req; /* number of the request; its answer carries the same: u16 */
    uint8_t centre; /* centre lift: u8: 0 down, 1 up, 2 moving, 3 unknown */
    uint8_t walls; /* wall lifts: u8: 0 down, 1 up, 2 moving, 3 unknown */
    uint8_t set_up; /* set whose walls are up or in play; 0 none: u8 0-2 */
    uint8_t sorted_set; /* set that lies sorted inside; 0 none: u8 0-2 */
    uint8_t sorting_set; /* set being sorted; 0 none: u8 0-2 */
    uint8_t felt_sets; /* bit 0: set 1, bit 1: set 2 has loose tiles on the felt: u8 0-3 */
    tl_text_48 stop_reason; /* first reason of the latched stop; empty: none latched: text <= 48 */
    tl_optional_op_id running_op; /* operation that is being carried out, the oldest: optional OpId */
} tl_status;

/* 0x84 GearSet: Answer to SetGear. */
typedef struct {
    uint16_t req; /* number of the request; its answer carries the same: u16 */
    uint8_t accepted; /* the gear is set: bool */
    /* why not: u8: 1 latched, 2 interlock, 3 busy, 4 unsupported, 5 service_mode, 6 bad_argument, 7 gear, 0 none
    */
    uint8_t reason;
} tl_gear_set;

/* 0x85 Counters: Answer to CountersQuery: what the board has done in its life. */
typedef struct {
    uint16_t req; /* number of the request; its answer carries the same: u16 */
    uint32_t cycles; /* sorted sets in the board's life: u32 */
    uint32_t motor_seconds[6]; /* seconds each motor ran: 6 x u32 */
    uint16_t learned_ms[6]; /* usual time of each movement, ms: 6 x u16 */
    uint32_t frames_in; /* valid frames received since start: u32 */
    uint32_t frames_out; /* frames sent since start: u32 */
    uint32_t retransmits; /* frames sent again since start: u32 */
    uint32_t bad_frames; /* frames thrown away as invalid since start: u32 */
} tl_counters;

/* 0x86 Sensors: Answer to SensorsQuery. */
typedef struct {
    uint16_t req; /* number of the request; its answer carries the same: u16 */
    uint32_t bits; /* one bit a sensor: u32 */
    uint16_t values[8]; /* analogue values: 8 x u16 */
} tl_sensors;

/* 0x87 DiceFaces: Answer to DiceQuery: the faces that lie there. */
typedef struct {
    uint16_t req; /* number of the request; its answer carries the same: u16 */
    uint8_t known; /* the faces could be read: bool */
    uint8_t dice[2]; /* faces 1-6; 0, 0 when not known: 2 x u8 0-6 */
    uint8_t moving; /* a throw is going on; ask again: bool */
} tl_dice_faces;

/* 0x88 CentreVouched: Answer to VouchCentre: the word was taken; not so where a switch says that the centre is up. */
typedef struct {
    uint16_t req; /* number of the request; its answer carries the same: u16 */
    uint8_t accepted; /* the walls may rise by this word: bool */
} tl_centre_vouched;

/* 0xa0 OpAccepted: The operation is being carried out (also the answer to its repetition while it runs). */
typedef struct {
    tl_op_id op; /* operation id: OpId */
} tl_op_accepted;

/* 0xa1 OpRefused: The operation was not begun. It is not remembered: the same id may be asked again. */
typedef struct {
    tl_op_id op; /* operation id: OpId */
    uint8_t reason; /* why: u8: 1 latched, 2 interlock, 3 busy, 4 unsupported, 5 service_mode, 6 bad_argument, 7 gear */
} tl_op_refused;

/* 0xa2 OpProgress: How far a sort is. */
typedef struct {
    tl_op_id op; /* operation id: OpId */
    uint8_t tiles[4]; /* tiles stacked at E, S, W, N: 4 x u8 */
    uint16_t seconds; /* seconds since it began: u16 */
} tl_op_progress;

/* 0xa3 OpResult: The operation has ended; the same answer to every repetition of its id. */
typedef struct {
    tl_op_id op; /* operation id: OpId */
    uint8_t outcome; /* how it ended: u8: 0 done, 1 failed, 2 interrupted */
    uint8_t fault; /* fault that ended it: u8: fault no., 0 none */
    uint8_t side; /* side of that fault: u8: 0 E, 1 S, 2 W, 3 N, 255 none */
    tl_bytes_160 values; /* what it found: see Outcomes: bytes <= 160 */
} tl_op_result;

/* 0xc0 Key: A key at the table was pressed and let go. */
typedef struct {
    uint8_t key; /* which key: u8: 0 lift, 1 dice, 2 seat, 3 service */
    uint8_t seat; /* at which seat, where the board knows: u8: 0 E, 1 S, 2 W, 3 N, 255 none */
    uint16_t pressed_ms; /* how long it was held, ms: u16 */
} tl_key;

/* 0xc1 Zone: The whole content of one reader zone after a change. */
typedef struct {
    uint8_t seat; /* whose zone: u8: 0 E, 1 S, 2 W, 3 N */
    uint8_t zone; /* which zone: u8: 0 hand, 1 flowers, 2 discards, 3 melds */
    tl_tiles_64 tiles; /* tiles in it, in the order they came: tiles <= 64 */
    uint8_t confidence; /* how sure the reader is, %: u8 0-100 */
} tl_zone;

/* 0xc2 TileFlipped: A tile of the wall was turned face up in place. */
typedef struct {
    tl_text_8 position; /* side, stack, top t or bottom b: for example W10b: text <= 8 */
    uint8_t tile; /* its face: tile */
    uint8_t confidence; /* how sure the reader is, %: u8 0-100 */
} tl_tile_flipped;

/* 0xc3 RowLaid: The readers see a complete row laid out for the bagua deal at one side. */
typedef struct {
    uint8_t side; /* side of the table: u8: 0 E, 1 S, 2 W, 3 N */
} tl_row_laid;

/* 0xc4 DiceUnasked: A throw that no operation asked for (people play with the key). It never counts. */
typedef struct {
    uint8_t known; /* the faces could be read: bool */
    uint8_t dice[2]; /* faces 1-6; 0, 0 when not known: 2 x u8 0-6 */
} tl_dice_unasked;

/* 0xc5 FaultRaised: A fault has come; it stays until FaultCleared. */
typedef struct {
    uint8_t code; /* which fault: u8: fault no. */
    uint8_t severity; /* how bad: u8: 0 info, 1 warning, 2 fault, 3 critical */
    tl_text_24 mechanism; /* mechanism, one word: text <= 24 */
    uint8_t side; /* side, if it belongs to one: u8: 0 E, 1 S, 2 W, 3 N, 255 none */
} tl_fault_raised;

/* 0xc6 FaultCleared: A fault has gone. */
typedef struct {
    uint8_t code; /* which fault: u8: fault no. */
    uint8_t side; /* side, as it was raised: u8: 0 E, 1 S, 2 W, 3 N, 255 none */
} tl_fault_cleared;

/* 0xc7 StopLatched: A stop is latched: no motion until a person clears it. */
typedef struct {
    tl_text_48 reason; /* the first reason: text <= 48 */
    uint16_t req; /* ClearStop this refuses; 0: no request: u16 */
} tl_stop_latched;

/* 0xc8 StopCleared: The latched stop was cleared. */
typedef struct {
    uint16_t req; /* ClearStop this answers; 0: cleared at the table: u16 */
} tl_stop_cleared;

/* 0x01 Identify: First request of a session: the host's protocol range. Answer: Identity. */
typedef struct {
    uint16_t req; /* number of the request; its answer carries the same: u16 */
    uint8_t protocol_min; /* oldest protocol major the host speaks: u8 */
    uint8_t protocol_max; /* newest: u8 */
    tl_text_48 host; /* name and version of the host's software: text <= 48 */
} tl_identify;

/* 0x02 Ping: Is the firmware (not only its link) alive? Answer: Pong. */
typedef struct {
    uint16_t req; /* number of the request; its answer carries the same: u16 */
} tl_ping;

/* 0x03 StatusQuery: Where are the mechanisms? Answer: Status. */
typedef struct {
    uint16_t req; /* number of the request; its answer carries the same: u16 */
} tl_status_query;

/* 0x04 SetGear: How many tiles are played and how many stacks each side gets. Answer: GearSet. */
typedef struct {
    uint16_t req; /* number of the request; its answer carries the same: u16 */
    uint8_t tiles; /* tiles of one set, for example 144: u8 */
    uint8_t stacks[4]; /* stacks of E, S, W, N; two tiles a stack: 4 x u8 0-40 */
} tl_set_gear;

/* 0x05 CountersQuery: Answer: Counters. */
typedef struct {
    uint16_t req; /* number of the request; its answer carries the same: u16 */
} tl_counters_query;

/* 0x06 SensorsQuery: Live sensors for the repairer. Answer: Sensors. */
typedef struct {
    uint16_t req; /* number of the request; its answer carries the same: u16 */
} tl_sensors_query;

/* 0x07 DiceQuery: Dice read: which faces lie there. Moves nothing, ever. Answer: DiceFaces. */
typedef struct {
    uint16_t req; /* number of the request; its answer carries the same: u16 */
} tl_dice_query;

/* 0x08 VouchCentre: Two people have said that the centre is down although no switch says so: taken for WallsRaise and
 * PresentGroup, never for SortStart, until the centre moves or its switch answers. Moves nothing. Answer:
 * CentreVouched. */
typedef struct {
    uint16_t req; /* number of the request; its answer carries the same: u16 */
} tl_vouch_centre;

/* 0x20 CentreRaise: Raise the centre so that tiles can be pushed in. Needs: walls down. */
typedef struct {
    tl_op_id op; /* operation id: OpId */
} tl_centre_raise;

/* 0x21 CentreLower: Close the centre. Needs: walls down. */
typedef struct {
    tl_op_id op; /* operation id: OpId */
} tl_centre_lower;

/* 0x22 WallsRaise: Raise the four walls of one sorted set. Needs: centre down, that set sorted. */
typedef struct {
    tl_op_id op; /* operation id: OpId */
    uint8_t set_no; /* tile set whose walls rise: u8 1-2 */
} tl_walls_raise;

/* 0x23 WallsLower: Take the lifts of the walls back down. Needs: centre down. */
typedef struct {
    tl_op_id op; /* operation id: OpId */
} tl_walls_lower;

/* 0x24 SortStart: Sort and stack one set; OpProgress on the way, SortOutcome in the result. Needs: centre down. */
typedef struct {
    tl_op_id op; /* operation id: OpId */
    uint8_t set_no; /* tile set to sort: u8 1-2 */
} tl_sort_start;

/* 0x25 SortStop: Stop a sort; the sort's own result is `interrupted`. */
typedef struct {
    tl_op_id op; /* operation id: OpId */
} tl_sort_stop;

/* 0x26 DiceRoll: Throw the dice once; DiceOutcome in the result. Finished and read by the MCU alone, host or not. */
typedef struct {
    tl_op_id op; /* operation id: OpId */
} tl_dice_roll;

/* 0x27 PresentGroup: Push a group of stacks towards a seat, where the table deals. */
typedef struct {
    tl_op_id op; /* operation id: OpId */
    uint8_t side; /* side of the table: u8: 0 E, 1 S, 2 W, 3 N */
    uint8_t first; /* first stack of the group, 0-based from the side's right-hand end: u8 */
    uint8_t count; /* stacks in the group: u8 1-40 */
    uint8_t to_seat; /* seat that receives the group: u8: 0 E, 1 S, 2 W, 3 N */
} tl_present_group;

/* 0x28 ReadWall: Read the faces of one side's wall where tiles are read; WallOutcome in the result. Moves nothing. */
typedef struct {
    tl_op_id op; /* operation id: OpId */
    uint8_t side; /* side of the table: u8: 0 E, 1 S, 2 W, 3 N */
} tl_read_wall;

/* 0x29 Jog: Run one motor for a moment. Service mode only, with the service key held at the table. */
typedef struct {
    tl_op_id op; /* operation id: OpId */
    uint8_t motor; /* motor number: u8 0-5 */
    int16_t milliseconds; /* how long; negative is backwards: i16 */
} tl_jog;

/* 0x2a SelfTest: Run one self-test; SelfTestOutcome in the result. Service mode only; one that moves: service key held.
 * */
typedef struct {
    tl_op_id op; /* operation id: OpId */
    uint8_t number; /* test number (see Self-tests); 0 is all: u8 */
} tl_self_test;

/* 0x40 Lamp: Light a range of stacks of one side; the same range again replaces its colour. */
typedef struct {
    uint8_t side; /* side of the table: u8: 0 E, 1 S, 2 W, 3 N */
    uint8_t first; /* first stack, 0-based from the side's right-hand end: u8 */
    uint8_t last; /* last stack, inclusive: u8 */
    uint8_t colour; /* a seat's colour, gold, white or off: u8: 0 off, 1 E, 2 S, 3 W, 4 N, 5 gold, 6 white */
} tl_lamp;

/* 0x42 Buzzer: Sound a pattern once. */
typedef struct {
    uint8_t pattern; /* 0 short, 1 double, 2 long, 3 alarm; others as the board likes: u8 */
} tl_buzzer;

/* 0x43 EmergencyStop: Stop every motor now and latch; answered by StopLatched with the first reason. */
typedef struct {
    tl_text_48 reason; /* why, kept if it is the first: text <= 48 */
} tl_emergency_stop;

/* 0x44 ClearStop: A person clears the stop. Answer: StopCleared, or StopLatched while its cause is still there. */
typedef struct {
    uint16_t req; /* number of the request; its answer carries the same: u16 */
} tl_clear_stop;

/* Any message: its type and its fields. */
typedef struct {
    uint8_t type;
    union {
        tl_identity identity;
        tl_pong pong;
        tl_status status;
        tl_gear_set gear_set;
        tl_counters counters;
        tl_sensors sensors;
        tl_dice_faces dice_faces;
        tl_centre_vouched centre_vouched;
        tl_op_accepted op_accepted;
        tl_op_refused op_refused;
        tl_op_progress op_progress;
        tl_op_result op_result;
        tl_key key;
        tl_zone zone;
        tl_tile_flipped tile_flipped;
        tl_row_laid row_laid;
        tl_dice_unasked dice_unasked;
        tl_fault_raised fault_raised;
        tl_fault_cleared fault_cleared;
        tl_stop_latched stop_latched;
        tl_stop_cleared stop_cleared;
        tl_identify identify;
        tl_ping ping;
        tl_status_query status_query;
        tl_set_gear set_gear;
        tl_counters_query counters_query;
        tl_sensors_query sensors_query;
        tl_dice_query dice_query;
        tl_vouch_centre vouch_centre;
        tl_centre_raise centre_raise;
        tl_centre_lower centre_lower;
        tl_walls_raise walls_raise;
        tl_walls_lower walls_lower;
        tl_sort_start sort_start;
        tl_sort_stop sort_stop;
        tl_dice_roll dice_roll;
        tl_present_group present_group;
        tl_read_wall read_wall;
        tl_jog jog;
        tl_self_test self_test;
        tl_lamp lamp;
        tl_buzzer buzzer;
        tl_emergency_stop emergency_stop;
        tl_clear_stop clear_stop;
    } as;
} tl_message;
/* Why bytes are no message, or a struct cannot be sent. */
typedef enum {
    TL_OK = 0,
    TL_ERROR_EMPTY = 1,  /* nothing at all */
    TL_ERROR_TYPE = 2,   /* no such type */
    TL_ERROR_SHORT = 3,  /* it ends too early */
    TL_ERROR_LONG = 4,   /* more bytes than its fields */
    TL_ERROR_RANGE = 5,  /* a number out of range, or a code that stands for nothing */
    TL_ERROR_LENGTH = 6, /* a text, bytes or tiles beyond their limit */
    TL_ERROR_UTF8 = 7,   /* a text that is no UTF-8 */
    TL_ERROR_ROOM = 8    /* the buffer is too small */
} tl_error;

/* Decodes one message; on an error *message holds nothing to be used. */
tl_error tl_decode(const uint8_t *data, size_t length, tl_message *message);

/* Encodes one message into data; *length says how many bytes. TL_MESSAGE_LIMIT bytes are always room enough. */
tl_error tl_encode(const tl_message *message, uint8_t *data, size_t room, size_t *length);

/* Encodes an outcome (tl_dice_outcome after dice_roll, and so on: by the type of the operation) for op_result.values;
 * TL_ERROR_TYPE where that operation has none. */
tl_error tl_outcome_encode(uint8_t operation, const void *outcome, uint8_t *data, size_t room, size_t *length);

/* The tables behind them (table_link_messages.c). A row is one field; the rows of a message follow one another. */
typedef enum {
    TL_U8 = 0,       /* low..high */
    TL_U8_NONE = 1,  /* low..high, or 255 */
    TL_U16 = 2,
    TL_U32 = 3,
    TL_U64 = 4,
    TL_TEXT = 5,     /* at most high bytes */
    TL_BYTES = 6,
    TL_TILES = 7,
    TL_TILE = 8,
    TL_OPTIONAL = 9  /* a flag; where it is 0 the next count rows are not there */
} tl_kind;

typedef struct {
    uint8_t kind;
    uint8_t count;
    uint8_t low;
    uint8_t high;
    uint16_t offset;
} tl_row;

typedef struct {
    uint8_t type;
    uint8_t rows;
    uint16_t first;
} tl_layout;

extern const tl_row tl_rows[];
extern const tl_layout tl_layouts[];
extern const uint8_t tl_layout_count;
extern const tl_layout tl_outcomes[];
extern const uint8_t tl_outcome_count;

/* Whether a byte is the code of a tile, TL_TILE_UNKNOWN included. */
int tl_is_tile(uint8_t code);

#endif
