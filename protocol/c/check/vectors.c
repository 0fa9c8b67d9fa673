/* Tries this folder's C against the vectors: vectors FOLDER. Needs nothing but the C library.
 *
 * Every disagreement is a line; the last line says how many vectors were tried. Ends with 0 where all agree.
 */
#include "../tl_link.h"
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME 128u
#define WORDS 700u
#define HEX (2u * 6000u)
#define FOUND 12000u

static unsigned tried;
static unsigned wrong;

static void fail(const char *file, const char *name, const char *expected, const char *got)
{
    wrong++;
    printf("%s: %s: expected %s, got %s\n", file, name, expected, got);
}

static char *read_file(const char *folder, const char *name)
{
    char path[1024];
    FILE *file;
    char *text = NULL;
    long size;

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "rb");
    if (file == NULL) {
        printf("%s: cannot be read\n", path);
        exit(2);
    }
    if ((fseek(file, 0, SEEK_END) == 0) && ((size = ftell(file)) >= 0) && (fseek(file, 0, SEEK_SET) == 0)) {
        text = (char *)malloc((size_t)size + 1u);
        if (text != NULL) {
            text[fread(text, 1u, (size_t)size, file)] = '\0';
        }
    }
    (void)fclose(file);
    if (text == NULL) {
        printf("%s: cannot be read\n", path);
        exit(2);
    }
    return text;
}

static void malformed(const char *file, const json *in)
{
    printf("%s: expected the form of a vector file, got %.60s\n", file, in->at);
    exit(2);
}

static size_t unhex(const char *hex, uint8_t *out, size_t room)
{
    size_t length = 0u;

    while ((hex[2u * length] != '\0') && (length < room)) {
        const char pair[3] = {hex[2u * length], hex[(2u * length) + 1u], '\0'};

        out[length] = (uint8_t)strtoul(pair, NULL, 16);
        length++;
    }
    return length;
}

static void hex_of(const uint8_t *bytes, size_t length, char *out)
{
    out[0] = '\0';
    for (size_t at = 0u; at < length; at++) {
        (void)sprintf(&out[2u * at], "%02x", bytes[at]);
    }
}

/* Goes to the first vector; then next_vector at each. */
static json open_vectors(const char *file, const char *text)
{
    json in = {text};
    char key[NAME];

    if (!json_sign(&in, '{')) {
        malformed(file, &in);
    }
    while (json_text(&in, key, sizeof key) && json_sign(&in, ':')) {
        if (strcmp(key, "vectors") == 0) {
            if (!json_sign(&in, '[')) {
                malformed(file, &in);
            }
            return in;
        }
        if (!json_skip(&in) || !json_sign(&in, ',')) {
            break;
        }
    }
    malformed(file, &in);
    return in;
}

/* --- messages.json ----------------------------------------------------------------------------------------------- */

static const char *const errors[] = {"valid", "empty", "type", "short", "long", "range", "length", "utf8", "room"};

static void try_message(const char *name, const char *hex, const char *expected)
{
    uint8_t data[512];
    uint8_t again[TL_MESSAGE_LIMIT];
    char told[2u * TL_MESSAGE_LIMIT + 1u];
    const size_t length = unhex(hex, data, sizeof data);
    size_t back = 0u;
    tl_message message;
    const tl_error error = tl_decode(data, length, &message);

    tried++;
    if (strcmp(errors[error], expected) != 0) {
        fail("messages.json", name, expected, errors[error]);
        return;
    }
    if (error == TL_OK) {
        (void)tl_encode(&message, again, sizeof again, &back);
        hex_of(again, back, told);
        if (strcmp(told, hex) != 0) {
            fail("messages.json", name, hex, told);
        }
        if ((length > 0u) && (tl_encode(&message, again, length - 1u, &back) != TL_ERROR_ROOM)) {
            fail("messages.json", name, "room", "an encoding in too little room");
        }
    }
}

static void try_messages(const char *folder)
{
    static const char file[] = "messages.json";
    static char hex[HEX];
    char *text = read_file(folder, file);
    json in = open_vectors(file, text);

    do {
        char key[NAME];
        char name[NAME] = "";
        char error[NAME] = "valid";

        if (!json_sign(&in, '{')) {
            malformed(file, &in);
        }
        do {
            int good = json_text(&in, key, sizeof key) && json_sign(&in, ':');

            if (good && (strcmp(key, "name") == 0)) {
                good = json_text(&in, name, sizeof name);
            } else if (good && (strcmp(key, "hex") == 0)) {
                good = json_text(&in, hex, sizeof hex);
            } else if (good && (strcmp(key, "error") == 0)) {
                const json before = in;

                if (!json_text(&in, error, sizeof error)) {
                    in = before; /* null */
                    good = json_skip(&in);
                }
            } else {
                good = good && json_skip(&in);
            }
            if (!good) {
                malformed(file, &in);
            }
        } while (json_sign(&in, ','));
        if (!json_sign(&in, '}')) {
            malformed(file, &in);
        }
        try_message(name, hex, error);
    } while (json_sign(&in, ','));
    free(text);
}

/* --- frames.json ------------------------------------------------------------------------------------------------- */

static const char *const kinds[] = {"HELLO", "HELLO_ACK", "DATA", "ACK", "NAK", "RESET", "BYE"};
static const char *const cuts[] = {"", "", "cobs", "crc", "short", "long", "form"};

static void add_word(char *all, size_t room, const char *word)
{
    const size_t length = strlen(all);

    (void)snprintf(&all[length], room - length, "%s|", word);
}

/* What is found in a line, each behind the other with a | behind it. */
static void find_frames(const uint8_t *line, size_t length, char *found, size_t room)
{
    static uint8_t buffer[TL_ENCODED_LIMIT];
    tl_decoder decoder;

    found[0] = '\0';
    tl_decoder_init(&decoder, buffer);
    for (size_t at = 0u; at < length; at++) {
        char word[WORDS];
        char payload[2u * TL_PAYLOAD_LIMIT + 1u] = "-";
        tl_frame frame;
        const tl_cut what = tl_decoder_take(&decoder, line[at], &frame);

        if (what == TL_CUT_FRAME) {
            if (frame.length > 0u) {
                hex_of(frame.payload, frame.length, payload);
            }
            (void)snprintf(word, sizeof word, "%s %s %u %08lx %u %u %s", frame.from_mcu ? "mcu" : "host",
                           kinds[frame.kind], (unsigned)frame.version, (unsigned long)frame.session,
                           (unsigned)frame.seq, (unsigned)frame.ack, payload);
            add_word(found, room, word);
        } else if (what != TL_CUT_NOTHING) {
            (void)snprintf(word, sizeof word, "error %s", cuts[what]);
            add_word(found, room, word);
        }
    }
}

static void read_words(const char *file, json *in, char *all, size_t room)
{
    all[0] = '\0';
    if (!json_sign(in, '[')) {
        malformed(file, in);
    }
    if (json_sign(in, ']')) {
        return;
    }
    do {
        char word[WORDS];

        if (!json_text(in, word, sizeof word)) {
            malformed(file, in);
        }
        add_word(all, room, word);
    } while (json_sign(in, ','));
    if (!json_sign(in, ']')) {
        malformed(file, in);
    }
}

static void try_frames(const char *folder)
{
    static const char file[] = "frames.json";
    static char hex[HEX];
    static uint8_t line[HEX / 2u];
    char *text = read_file(folder, file);
    json in = open_vectors(file, text);

    do {
        char key[NAME];
        char name[NAME] = "";
        char expected[FOUND] = "";
        char found[FOUND];

        if (!json_sign(&in, '{')) {
            malformed(file, &in);
        }
        do {
            int good = json_text(&in, key, sizeof key) && json_sign(&in, ':');

            if (good && (strcmp(key, "name") == 0)) {
                good = json_text(&in, name, sizeof name);
            } else if (good && (strcmp(key, "hex") == 0)) {
                good = json_text(&in, hex, sizeof hex);
            } else if (good && (strcmp(key, "finds") == 0)) {
                read_words(file, &in, expected, sizeof expected);
            } else {
                good = good && json_skip(&in);
            }
            if (!good) {
                malformed(file, &in);
            }
        } while (json_sign(&in, ','));
        if (!json_sign(&in, '}')) {
            malformed(file, &in);
        }
        tried++;
        find_frames(line, unhex(hex, line, sizeof line), found, sizeof found);
        if (strcmp(found, expected) != 0) {
            fail(file, name, expected, found);
        }
    } while (json_sign(&in, ','));
    free(text);
}

/* --- exchanges.json ---------------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t numbers[8];
    unsigned drawn;
    char told[FOUND];
} talk;

static uint32_t on_random(void *context)
{
    talk *with = (talk *)context;
    const uint32_t number = with->numbers[with->drawn % 8u];

    with->drawn++;
    return number;
}

static void on_started(void *context, uint32_t session)
{
    talk *with = (talk *)context;
    char word[WORDS];

    (void)snprintf(word, sizeof word, "started %08lx", (unsigned long)session);
    add_word(with->told, sizeof with->told, word);
}

static void on_message(void *context, const tl_message *message)
{
    talk *with = (talk *)context;
    uint8_t data[TL_MESSAGE_LIMIT];
    char hex[2u * TL_MESSAGE_LIMIT + 1u];
    char word[WORDS];
    size_t length = 0u;

    (void)tl_encode(message, data, sizeof data, &length);
    hex_of(data, length, hex);
    (void)snprintf(word, sizeof word, "message %s", hex);
    add_word(with->told, sizeof with->told, word);
}

static void on_undecodable(void *context, tl_error error)
{
    talk *with = (talk *)context;

    (void)error;
    add_word(with->told, sizeof with->told, "undecodable");
}

static void on_lost(void *context, tl_lost why, uint16_t undelivered)
{
    static const char *const reasons[] = {"silence", "no_answer", "peer_restarted", "peer_closed", "line", "closed"};
    talk *with = (talk *)context;
    char word[WORDS];

    (void)snprintf(word, sizeof word, "lost %s %u", reasons[why], (unsigned)undelivered);
    add_word(with->told, sizeof with->told, word);
}

static void on_version(void *context, uint8_t version)
{
    talk *with = (talk *)context;
    char word[WORDS];

    (void)snprintf(word, sizeof word, "version %u", (unsigned)version);
    add_word(with->told, sizeof with->told, word);
}

static const tl_link_hooks hooks = {on_random, on_started, on_message, on_undecodable, on_lost, on_version};

static void try_step(const char *name, json *in, tl_link *link, talk *with)
{
    static const char file[] = "exchanges.json";
    static char hex[HEX];
    static char expected_out[HEX];
    static char out_hex[HEX];
    static uint8_t data[HEX / 2u];
    static uint8_t out[HEX / 2u];
    char expected[FOUND] = "";
    char key[NAME];
    long at = 0;
    int receives = 0;
    int sends = 0;

    if (!json_sign(in, '{')) {
        malformed(file, in);
    }
    do {
        int good = json_text(in, key, sizeof key) && json_sign(in, ':');

        if (good && (strcmp(key, "at") == 0)) {
            good = json_number(in, &at);
        } else if (good && ((strcmp(key, "receive") == 0) || (strcmp(key, "send") == 0))) {
            receives = (key[0] == 'r') ? 1 : receives;
            sends = (key[0] == 's') ? 1 : sends;
            good = json_text(in, hex, sizeof hex);
        } else if (good && (strcmp(key, "events") == 0)) {
            read_words(file, in, expected, sizeof expected);
        } else if (good && (strcmp(key, "out") == 0)) {
            good = json_text(in, expected_out, sizeof expected_out);
        } else {
            good = good && json_skip(in);
        }
        if (!good) {
            malformed(file, in);
        }
    } while (json_sign(in, ','));
    if (!json_sign(in, '}')) {
        malformed(file, in);
    }
    with->told[0] = '\0';
    if (receives) {
        tl_link_receive(link, data, unhex(hex, data, sizeof data), (uint32_t)at);
    } else {
        tl_link_tick(link, (uint32_t)at);
    }
    if (sends) {
        tl_message message;

        if ((tl_decode(data, unhex(hex, data, sizeof data), &message) != TL_OK) || !tl_link_send(link, &message)) {
            fail(file, name, "room for a message", "none");
        }
    }
    hex_of(out, tl_link_outgoing(link, out, sizeof out, (uint32_t)at), out_hex);
    if (strcmp(with->told, expected) != 0) {
        printf("at %ld ms: ", at);
        fail(file, name, expected, with->told);
    }
    if (strcmp(out_hex, expected_out) != 0) {
        printf("at %ld ms: ", at);
        fail(file, name, expected_out, out_hex);
    }
}

static void try_exchanges(const char *folder)
{
    static const char file[] = "exchanges.json";
    static uint8_t receive[TL_ENCODED_LIMIT];
    static uint8_t slots[16u * TL_SLOT];
    static const tl_link_buffers buffers = {receive, slots, 16u, TL_WINDOW_MAX};
    char *text = read_file(folder, file);
    json in = open_vectors(file, text);

    do {
        static talk with;
        static tl_link link;
        char key[NAME];
        char name[NAME] = "";
        char numbers[FOUND] = "";

        memset(&with, 0, sizeof with);
        if (!json_sign(&in, '{')) {
            malformed(file, &in);
        }
        tried++;
        do {
            int good = json_text(&in, key, sizeof key) && json_sign(&in, ':');

            if (good && (strcmp(key, "name") == 0)) {
                good = json_text(&in, name, sizeof name);
            } else if (good && (strcmp(key, "numbers") == 0)) {
                char *from = numbers;

                read_words(file, &in, numbers, sizeof numbers);
                for (unsigned at = 0u; (at < 8u) && (*from != '\0'); at++) {
                    with.numbers[at] = (uint32_t)strtoul(from, &from, 16);
                    from += (*from == '|') ? 1 : 0;
                }
                tl_link_init(&link, &buffers, &hooks, &with);
            } else if (good && (strcmp(key, "steps") == 0)) {
                good = json_sign(&in, '[');
                do {
                    try_step(name, &in, &link, &with);
                } while (json_sign(&in, ','));
                good = good && json_sign(&in, ']');
            } else {
                good = good && json_skip(&in);
            }
            if (!good) {
                malformed(file, &in);
            }
        } while (json_sign(&in, ','));
        if (!json_sign(&in, '}')) {
            malformed(file, &in);
        }
    } while (json_sign(&in, ','));
    free(text);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        printf("usage: %s FOLDER (protocol/vectors)\n", argv[0]);
        return 2;
    }
    try_frames(argv[1]);
    try_messages(argv[1]);
    try_exchanges(argv[1]);
    printf("%u vectors, %u disagreements\n", tried, wrong);
    return (wrong == 0u) ? 0 : 1;
}
