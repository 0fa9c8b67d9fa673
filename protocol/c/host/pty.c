#define _GNU_SOURCE
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static int complain(const char *what)
{
    (void)fprintf(stderr, "%s: %s\n", what, strerror(errno));
    return 0;
}

/* A pty in raw mode; its slave stays open here, so that a host may come and go. */
static int open_pair(int *master, int *slave, char *name, size_t room)
{
    struct termios mode;

    *master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*master < 0) {
        return 0;
    }
    if ((grantpt(*master) != 0) || (unlockpt(*master) != 0) || (ptsname_r(*master, name, room) != 0)) {
        (void)close(*master);
        return 0;
    }
    *slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if ((*slave < 0) || (tcgetattr(*slave, &mode) != 0)) {
        (void)close(*master);
        return 0;
    }
    cfmakeraw(&mode);
    (void)tcsetattr(*slave, TCSANOW, &mode);
    (void)fcntl(*master, F_SETFL, fcntl(*master, F_GETFL) | O_NONBLOCK);
    return 1;
}

static int lay_link(const pty *line)
{
    char beside[1024];
    char there[1024];

    if ((readlink(line->link, there, sizeof there) < 0) && (errno != ENOENT)) {
        (void)fprintf(stderr, "%s: expected nothing or a symlink there\n", line->link);
        return 0;
    }
    if (snprintf(beside, sizeof beside, "%s.%ld", line->link, (long)getpid()) >= (int)sizeof beside) {
        (void)fprintf(stderr, "%s: the path is too long\n", line->link);
        return 0;
    }
    (void)unlink(beside);
    if ((symlink(line->name, beside) != 0) || (rename(beside, line->link) != 0)) {
        return complain(line->link);
    }
    return 1;
}

int pty_open(pty *line)
{
    int former_master = -1;
    int former_slave = -1;
    int made = open_pair(&line->master, &line->slave, line->name, sizeof line->name);

    /* An adapter that is plugged in again comes back under another name. */
    if (made && (strcmp(line->name, line->former) == 0)) {
        former_master = line->master;
        former_slave = line->slave;
        made = open_pair(&line->master, &line->slave, line->name, sizeof line->name);
        (void)close(former_master);
        (void)close(former_slave);
    }
    if (!made) {
        line->master = -1;
        return complain("no pseudo-terminal");
    }
    return lay_link(line);
}

void pty_close(pty *line)
{
    char there[sizeof line->name];
    const ssize_t length = readlink(line->link, there, sizeof there - 1u);

    if (line->master < 0) {
        return;
    }
    if (length > 0) {
        there[length] = '\0';
        if (strcmp(there, line->name) == 0) {
            (void)unlink(line->link);
        }
    }
    (void)close(line->master);
    (void)close(line->slave);
    line->master = -1;
    memcpy(line->former, line->name, sizeof line->former);
}

long pty_read(pty *line, uint8_t *bytes, size_t room)
{
    const ssize_t got = (line->master < 0) ? 0 : read(line->master, bytes, room);

    return (got > 0) ? (long)got : 0;
}

long pty_write(pty *line, const uint8_t *bytes, size_t length)
{
    const ssize_t put = (line->master < 0) ? 0 : write(line->master, bytes, length);

    return (put > 0) ? (long)put : 0;
}
