/* As much of JSON as the vector files need: walk through a text, no tree, no memory. */
#ifndef CHECK_JSON_H
#define CHECK_JSON_H

#include <stddef.h>

/* Where a reader is; the text ends with a zero. */
typedef struct {
    const char *at;
} json;

/* Whether the next thing is this sign ({ } [ ] : ,), which is then behind us. */
int json_sign(json *in, char sign);

/* A string, unescaped (\uXXXX beyond ASCII becomes ?); 0 where there is none or it is longer than room. */
int json_text(json *in, char *out, size_t room);

/* A whole number; 0 where there is none. */
int json_number(json *in, long *out);

/* Leaves out the next value, whatever it is; 0 where there is none. */
int json_skip(json *in);

#endif
