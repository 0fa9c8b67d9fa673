#include "json.h"

#include <stdlib.h>
#include <string.h>

static void space(json *in)
{
    while ((*in->at == ' ') || (*in->at == '\n') || (*in->at == '\r') || (*in->at == '\t')) {
        in->at++;
    }
}

int json_sign(json *in, char sign)
{
    space(in);
    if (*in->at != sign) {
        return 0;
    }
    in->at++;
    return 1;
}

int json_text(json *in, char *out, size_t room)
{
    size_t length = 0u;

    if (!json_sign(in, '"')) {
        return 0;
    }
    while (*in->at != '"') {
        char sign = *in->at;

        if (sign == '\0') {
            return 0;
        }
        in->at++;
        if (sign == '\\') {
            sign = *in->at;
            if (sign == '\0') {
                return 0;
            }
            in->at++;
            if (sign == 'u') {
                const size_t left = strlen(in->at);

                in->at += (left < 4u) ? left : 4u;
                sign = '?';
            } else if (sign == 'n') {
                sign = '\n';
            } else if (sign == 't') {
                sign = '\t';
            }
        }
        if ((length + 1u) >= room) {
            return 0;
        }
        out[length] = sign;
        length++;
    }
    in->at++;
    out[length] = '\0';
    return 1;
}

int json_number(json *in, long *out)
{
    char *end;

    space(in);
    *out = strtol(in->at, &end, 10);
    if (end == in->at) {
        return 0;
    }
    in->at = end;
    return 1;
}

int json_skip(json *in)
{
    size_t depth = 0u;

    space(in);
    if (*in->at == '\0') {
        return 0;
    }
    do {
        space(in);
        if (*in->at == '"') {
            in->at++;
            while (*in->at != '"') {
                if ((*in->at == '\\') && (in->at[1] != '\0')) {
                    in->at++;
                }
                if (*in->at == '\0') {
                    return 0;
                }
                in->at++;
            }
            in->at++;
        } else if ((*in->at == '{') || (*in->at == '[')) {
            depth++;
            in->at++;
        } else if ((*in->at == '}') || (*in->at == ']')) {
            if (depth == 0u) {
                return 0;
            }
            depth--;
            in->at++;
        } else if ((depth > 0u) && ((*in->at == ',') || (*in->at == ':'))) {
            in->at++;
        } else {
            const size_t word = strcspn(in->at, ",:{}[]\" \r\n\t");

            if (word == 0u) {
                return 0;
            }
            in->at += word;
        }
    } while (depth > 0u);
    return 1;
}
