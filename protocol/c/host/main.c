/* A board on a PC: kaijin-board --link PATH [--plant] [--flash FILE] [--speed N] [--seed N]. */
#define _GNU_SOURCE
#include "host.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLOTS 64u
#define VALUE_SIZE 160u

static volatile sig_atomic_t told_to_end;

static void on_signal(int number)
{
    (void)number;
    told_to_end = 1;
}

uint32_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)(((uint64_t)now.tv_sec * 1000u) + ((uint64_t)now.tv_nsec / 1000000u));
}

uint32_t chance(program *of)
{
    of->chance ^= of->chance >> 12;
    of->chance ^= of->chance << 25;
    of->chance ^= of->chance >> 27;
    return (uint32_t)((of->chance * 0x2545F4914F6CDD1Du) >> 32);
}

/* --- flash: an image of the operation memory behind the stop reason ---------------------------------------------- */

static void on_keep(void *context)
{
    static uint8_t image[TL_IMAGE_ROOM(VALUE_SIZE)];
    program *of = (program *)context;
    const size_t length = tl_operations_save(&of->board.operations, image, sizeof image);
    char beside[1024];
    FILE *file;

    (void)snprintf(beside, sizeof beside, "%s.new", of->flash);
    file = fopen(beside, "wb");
    if (file == NULL) {
        (void)fprintf(stderr, "%s: %s\n", beside, strerror(errno));
        return;
    }
    (void)fwrite(&of->board.stop_reason, sizeof of->board.stop_reason, 1u, file);
    (void)fwrite(image, 1u, length, file);
    (void)fflush(file);
    (void)fsync(fileno(file));
    (void)fclose(file);
    (void)rename(beside, of->flash);
}

static void read_flash(program *of)
{
    static uint8_t image[TL_IMAGE_ROOM(VALUE_SIZE)];
    tl_text_48 reason;
    FILE *file = fopen(of->flash, "rb");
    size_t length;

    if (file == NULL) {
        return; /* a new board */
    }
    if (fread(&reason, sizeof reason, 1u, file) == 1u) {
        length = fread(image, 1u, sizeof image, file);
        if (!tl_operations_load(&of->board.operations, image, length)) {
            (void)fprintf(stderr, "%s: no memory of this program; beginning with an empty one\n", of->flash);
        } else if (reason.length <= sizeof reason.bytes) {
            of->board.stop_reason = reason;
        }
    }
    (void)fclose(file);
}

/* --- the board's hooks -> the plant ------------------------------------------------------------------------------- */

static uint32_t on_random(void *context)
{
    return chance((program *)context);
}

static uint8_t on_refusal(void *context, const tl_message *operation)
{
    program *of = (program *)context;

    return of->plant->refusal(of, operation);
}

static void on_begin(void *context, const tl_message *operation)
{
    program *of = (program *)context;

    of->plant->begin(of, operation);
}

static void on_request(void *context, const tl_message *message)
{
    program *of = (program *)context;

    of->plant->request(of, message);
}

static void on_halt(void *context, tl_halt why)
{
    program *of = (program *)context;

    of->plant->halt(of, why);
}

static void on_changed(void *context)
{
    program *of = (program *)context;

    of->plant->changed(of);
}

static const tl_board_hooks volatile_hooks = {on_random, on_refusal, on_begin, on_request, on_halt, NULL, on_changed};
static const tl_board_hooks kept_hooks = {on_random, on_refusal, on_begin, on_request, on_halt, on_keep, on_changed};

void boot(program *of)
{
    tl_board_init(&of->board, &of->buffers, (of->flash != NULL) ? &kept_hooks : &volatile_hooks, of);
    if (of->flash != NULL) {
        read_flash(of);
    }
}

/* --- the loop ----------------------------------------------------------------------------------------------------- */

/* Reads what came, lets time pass, and gives ms until there is something to do. */
static uint32_t turn(program *of)
{
    uint8_t bytes[4096];
    const long got = pty_read(&of->line, bytes, sizeof bytes);
    uint32_t now = now_ms();
    uint32_t wait;
    uint32_t motion;

    if (!of->muted) {
        tl_board_receive(&of->board, bytes, (size_t)got, now);
        tl_board_tick(&of->board, now);
    }
    motion = of->plant->tick(of, now);
    wait = of->muted ? TL_NEVER : tl_board_wait(&of->board, now);
    return (motion < wait) ? motion : wait;
}

/* Writes what is due; whether the line took all of it. */
static int flush(program *of, int close_after)
{
    static uint8_t out[4096];
    static size_t length;
    static size_t written;

    if (of->muted || (of->line.master < 0)) {
        length = 0u;
        return 1;
    }
    do {
        if (written >= length) {
            written = 0u;
            length = tl_board_outgoing(&of->board, out, sizeof out, now_ms());
        }
        written += (size_t)pty_write(&of->line, &out[written], length - written);
    } while ((written >= length) && (length > 0u) && !close_after);
    return written >= length;
}

static void serve(program *of)
{
    while (!told_to_end && !of->ended) {
        const uint32_t wait = turn(of);
        const int all = flush(of, 0);
        const int wants = of->plant->wants(of);
        struct pollfd watched[2] = {{of->line.master, POLLIN, 0}, {wants ? STDIN_FILENO : -1, POLLIN, 0}};

        if (!all) {
            watched[0].events |= POLLOUT;
        }
        if ((poll(watched, 2u, (wait > 60000u) ? 60000 : (int)wait) > 0) && (watched[1].revents != 0)) {
            of->plant->readable(of);
        }
    }
    tl_link_close(&of->board.link);
    (void)flush(of, 1);
}

static int usage(const char *name)
{
    (void)fprintf(stderr,
                  "usage: %s --link PATH [--plant] [--flash FILE] [--speed N] [--seed N]\n"
                  "  --link PATH   lay this symlink to the serial line, a pseudo-terminal\n"
                  "  --plant       the mechanics are another program, behind stdin and stdout\n"
                  "  --flash FILE  results of operations outlive a reset: they are kept in this file\n"
                  "  --speed N     the motions of the own plant take an Nth of their time\n"
                  "  --seed N      the same seed gives the same dice; otherwise they are the clock's\n",
                  name);
    return 2;
}

int main(int argc, char **argv)
{
    static program of;
    static uint8_t receive[TL_ENCODED_LIMIT];
    static uint8_t slots[SLOTS * TL_SLOT];
    static uint8_t values[TL_ENTRIES * VALUE_SIZE];
    struct timespec now;
    struct sigaction action;

    of.plant = &own_plant;
    of.speed = 1u;
    of.line.master = -1;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    of.chance = ((uint64_t)now.tv_sec << 30) ^ (uint64_t)now.tv_nsec ^ ((uint64_t)getpid() << 17) ^ 1u;
    for (int at = 1; at < argc; at++) {
        const char *value = (at + 1 < argc) ? argv[at + 1] : NULL;

        if (strcmp(argv[at], "--plant") == 0) {
            of.plant = &pipe_plant;
            continue;
        }
        if (value == NULL) {
            return usage(argv[0]);
        }
        if (strcmp(argv[at], "--link") == 0) {
            of.line.link = value;
        } else if (strcmp(argv[at], "--flash") == 0) {
            of.flash = value;
        } else if (strcmp(argv[at], "--speed") == 0) {
            of.speed = (uint32_t)strtoul(value, NULL, 10);
        } else if (strcmp(argv[at], "--seed") == 0) {
            of.chance = ((uint64_t)strtoul(value, NULL, 10) << 1) | 1u;
        } else {
            return usage(argv[0]);
        }
        at++;
    }
    if ((of.line.link == NULL) || (of.speed == 0u)) {
        return usage(argv[0]);
    }
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGINT, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    of.buffers.link.receive = receive;
    of.buffers.link.slots = slots;
    of.buffers.link.slot_count = (uint8_t)SLOTS;
    of.buffers.link.window = (uint8_t)TL_WINDOW_MAX;
    of.buffers.values = values;
    of.buffers.value_size = (uint8_t)VALUE_SIZE;
    boot(&of);
    if (!pty_open(&of.line)) {
        return 1;
    }
    of.plant->start(&of);
    serve(&of);
    pty_close(&of.line);
    return 0;
}
