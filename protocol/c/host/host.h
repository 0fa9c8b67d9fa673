/* The host port: a board as a program on a PC. Its line is a pseudo-terminal, its mechanics a plant. */
#ifndef HOST_H
#define HOST_H

#include "../tl_board.h"

/* --- the line (pty.c) -------------------------------------------------------------------------------------------- */

typedef struct {
    const char *link; /* the symlink that leads to the pty */
    char name[64];
    char former[64];
    int master; /* -1: unplugged */
    int slave;
} pty;

/* Opens a pty and lays the symlink; 0 with words on stderr where that fails. */
int pty_open(pty *line);
void pty_close(pty *line);
long pty_read(pty *line, uint8_t *bytes, size_t room);
long pty_write(pty *line, const uint8_t *bytes, size_t length);

/* --- the whole program (main.c) ---------------------------------------------------------------------------------- */

struct plant;

typedef struct {
    tl_board board;
    tl_board_buffers buffers;
    pty line;
    const struct plant *plant;
    const char *flash; /* file of a nonvolatile memory, or NULL */
    uint32_t speed;    /* the own plant moves so many times faster */
    uint64_t chance;   /* state of the random numbers; never 0 */
    uint8_t muted;     /* the board is booting: it neither hears nor speaks */
    uint8_t ended;
} program;

uint32_t now_ms(void);

/* 32 random bits (xorshift64*). */
uint32_t chance(program *of);

/* Starts the board anew, as after a reset: a new boot_id, the operation memory as its flash has it. */
void boot(program *of);

/* --- what moves -------------------------------------------------------------------------------------------------- */

/* fd: what else to wait for, -1 none; tick: what is due now, and ms until the next, TL_NEVER none. */
typedef struct plant {
    void (*start)(program *of);
    uint8_t (*refusal)(program *of, const tl_message *operation);
    void (*begin)(program *of, const tl_message *operation);
    void (*request)(program *of, const tl_message *message);
    void (*halt)(program *of, tl_halt why);
    void (*changed)(program *of);
    int (*wants)(program *of);
    void (*readable)(program *of);
    uint32_t (*tick)(program *of, uint32_t now);
} plant;

extern const plant own_plant;  /* lamps, dice and timed motions of its own */
extern const plant pipe_plant; /* another program behind stdin and stdout */

#endif
