/* Operations at most once: which ids have begun, which have ended and how (docs/serial.md, section 6).
 *
 * admit first; where it says TL_ADMIT_NEW look at the interlocks, then begin and move; finish or interrupt at the end.
 * A refusal is not remembered. An id older than those already forgotten is refused, since it may have run.
 */
#ifndef TL_OPERATIONS_H
#define TL_OPERATIONS_H

#include "table_link.h"

#define TL_RUNNING_MAX 8u /* so many operations run at once; one more is refused as busy */
#define TL_ENTRIES (TL_REMEMBERED + TL_RUNNING_MAX)
#define TL_RUNNING TL_NONE /* in place of an outcome */

typedef enum {
    TL_ADMIT_NEW = 0,
    TL_ADMIT_RUNNING = 1, /* answer op_accepted */
    TL_ADMIT_ENDED = 2,   /* answer the stored op_result */
    TL_ADMIT_REFUSED = 3  /* answer op_refused, bad_argument */
} tl_admission;

typedef struct {
    tl_op_id op;
    uint16_t asked; /* check over the message's bytes */
    uint8_t type;   /* the verb: its message type */
    uint8_t outcome;
    uint8_t fault;
    uint8_t side;
    uint8_t length; /* of its values */
    uint8_t slot;   /* where they lie */
} tl_operation;

/* values: TL_ENTRIES x value_size bytes of the caller's; value_size is the longest outcome of this board: 6 with dice,
 * 82 with ReadWall, 91 with SelfTest. */
typedef struct {
    uint8_t *values;
    uint8_t value_size;
    uint8_t count;
    uint8_t forgotten_count;
    uint8_t has_last;
    tl_op_id last;                       /* whose result was stored last */
    tl_op_id forgotten[TL_JOURNALS];     /* by journal, the one used last at the end: the latest id forgotten */
    tl_operation entries[TL_ENTRIES];    /* in the order of beginning, ended ones in that of ending */
} tl_operations;

void tl_operations_init(tl_operations *memory, uint8_t *values, uint8_t value_size);

/* The id of an operation; NULL where the message is none. */
const tl_op_id *tl_operation_id(const tl_message *message);

/* What is known of an operation; *known is its entry where it is running or has ended. */
tl_admission tl_operations_admit(const tl_operations *memory, const tl_message *operation, const tl_operation **known);

/* Whether so many run that no more can be remembered. */
int tl_operations_full(const tl_operations *memory);

/* Remembers a new operation as running; 0 where it is full. */
int tl_operations_begin(tl_operations *memory, const tl_message *operation);

/* Stores the result of a running id for good; its entry, or NULL where it does not run or the values are too long. */
const tl_operation *tl_operations_finish(tl_operations *memory, const tl_op_id *op, uint8_t outcome, uint8_t fault,
                                         uint8_t side, const uint8_t *values, uint8_t length);

/* The oldest running operation; NULL where none runs. */
const tl_operation *tl_operations_running(const tl_operations *memory);

/* After a reset: whatever was running then is interrupted now. */
void tl_operations_interrupt(tl_operations *memory, uint8_t fault);

/* op_accepted or op_result of an entry. */
void tl_operations_answer(const tl_operations *memory, const tl_operation *known, tl_message *answer);

/* For a memory that outlives a reset: an image with a check. save gives its length, 0 where room is too small; load
 * gives 0 and an empty memory where the image is damaged or of another build. Image room: TL_IMAGE_ROOM(value_size). */
#define TL_IMAGE_ROOM(value_size) (sizeof(tl_operations) + ((size_t)TL_ENTRIES * (value_size)) + 4u)
size_t tl_operations_save(const tl_operations *memory, uint8_t *image, size_t room);
int tl_operations_load(tl_operations *memory, const uint8_t *image, size_t length);

#endif
