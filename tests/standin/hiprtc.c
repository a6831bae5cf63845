/* hiprtc's entry points: libhiprtc.so. What compiles is a function that the test run registers; here are the programs.
 *
 * The compiler gets the program and answers by the calls at the end, on the same thread, before it returns. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum {
    SUCCESS = 0,
    OUT_OF_MEMORY = 1,
    INVALID_INPUT = 3,
    INVALID_PROGRAM = 4,
    COMPILATION = 6,
    NO_NAMES_AFTER_COMPILATION = 8,
    NO_LOWERED_BEFORE_COMPILATION = 9,
    NAME_NOT_VALID = 10,
    INTERNAL_ERROR = 11,
};

#define MOST_NAMES 64

struct program {
    uint32_t mark; /* of a live one */
    char *source, *name, *log;
    void *code;
    size_t code_nbytes;
    int is_compiled, name_count;
    struct { char *expression, *lowered; } names[MOST_NAMES];
};
#define ALIVE 0x70726f67u

typedef int (*compiler)(struct program *program, const char *source, const char *name, int option_count,
                        const char *const *options);
static compiler registered;
static uint64_t created, destroyed;

static char *copied(const char *text) { return strdup(text ? text : ""); }
static int is_program(const struct program *p) { return p && p->mark == ALIVE; }

EXPORT const char *hiprtcGetErrorString(int code)
{
    static const char *const names[] = {
        "HIPRTC_SUCCESS", "HIPRTC_ERROR_OUT_OF_MEMORY", "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
        "HIPRTC_ERROR_INVALID_INPUT", "HIPRTC_ERROR_INVALID_PROGRAM", "HIPRTC_ERROR_INVALID_OPTION",
        "HIPRTC_ERROR_COMPILATION", "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE",
        "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION", "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
        "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID", "HIPRTC_ERROR_INTERNAL_ERROR",
    };
    return code >= 0 && code < (int)(sizeof names / sizeof *names) ? names[code] : "Invalid HIPRTC error code";
}

EXPORT int hiprtcVersion(int *major, int *minor)
{
    *major = 7;
    *minor = 1;
    return SUCCESS;
}

EXPORT int hiprtcCreateProgram(struct program **out, const char *source, const char *name, int header_count,
                               const char *const *headers, const char *const *names)
{
    struct program *p;
    (void)headers;
    (void)names;
    if (!out || !source || header_count < 0) return INVALID_INPUT;
    if (header_count) return INTERNAL_ERROR; /* nobody here gives any */
    p = calloc(1, sizeof *p);
    p->mark = ALIVE;
    p->source = copied(source);
    p->name = copied(name);
    p->log = copied("");
    *out = p;
    __atomic_add_fetch(&created, 1, __ATOMIC_RELAXED);
    return SUCCESS;
}

EXPORT int hiprtcDestroyProgram(struct program **program)
{
    struct program *p = program ? *program : NULL;
    if (!is_program(p)) return INVALID_PROGRAM;
    p->mark = 0;
    for (int i = 0; i < p->name_count; i++) {
        free(p->names[i].expression);
        free(p->names[i].lowered);
    }
    free(p->source);
    free(p->name);
    free(p->log);
    free(p->code);
    free(p);
    *program = NULL;
    __atomic_add_fetch(&destroyed, 1, __ATOMIC_RELAXED);
    return SUCCESS;
}

EXPORT int hiprtcAddNameExpression(struct program *p, const char *expression)
{
    if (!is_program(p)) return INVALID_PROGRAM;
    if (!expression || p->name_count == MOST_NAMES) return INVALID_INPUT;
    if (p->is_compiled) return NO_NAMES_AFTER_COMPILATION;
    p->names[p->name_count++].expression = copied(expression);
    return SUCCESS;
}

EXPORT int hiprtcCompileProgram(struct program *p, int option_count, const char *const *options)
{
    int code;
    if (!is_program(p)) return INVALID_PROGRAM;
    if (!registered) {
        free(p->log);
        p->log = copied("the stand-in's hiprtc has no compiler: register one");
        return INTERNAL_ERROR;
    }
    code = registered(p, p->source, p->name, option_count, options);
    p->is_compiled = code == SUCCESS;
    return code;
}

EXPORT int hiprtcGetProgramLogSize(struct program *p, size_t *out)
{
    if (!is_program(p)) return INVALID_PROGRAM;
    *out = strlen(p->log) + 1;
    return SUCCESS;
}

EXPORT int hiprtcGetProgramLog(struct program *p, char *out)
{
    if (!is_program(p)) return INVALID_PROGRAM;
    memcpy(out, p->log, strlen(p->log) + 1);
    return SUCCESS;
}

EXPORT int hiprtcGetCodeSize(struct program *p, size_t *out)
{
    if (!is_program(p) || !p->is_compiled) return INVALID_PROGRAM;
    *out = p->code_nbytes;
    return SUCCESS;
}

EXPORT int hiprtcGetCode(struct program *p, char *out)
{
    if (!is_program(p) || !p->is_compiled) return INVALID_PROGRAM;
    memcpy(out, p->code, p->code_nbytes);
    return SUCCESS;
}

EXPORT int hiprtcGetLoweredName(struct program *p, const char *expression, const char **out)
{
    if (!is_program(p)) return INVALID_PROGRAM;
    if (!p->is_compiled) return NO_LOWERED_BEFORE_COMPILATION;
    for (int i = 0; i < p->name_count; i++)
        if (!strcmp(p->names[i].expression, expression) && p->names[i].lowered)
            return *out = p->names[i].lowered, SUCCESS;
    return NAME_NOT_VALID;
}

/* ------------------------------------------------ for the test run */

EXPORT void standin_hiprtc_register(compiler function) { registered = function; }
EXPORT uint64_t standin_hiprtc_count(const char *what) { return strcmp(what, "created") ? destroyed : created; }
EXPORT int standin_hiprtc_name_count(const struct program *p) { return p->name_count; }
EXPORT const char *standin_hiprtc_name(const struct program *p, int index) { return p->names[index].expression; }

EXPORT void standin_hiprtc_lower(struct program *p, int index, const char *symbol)
{
    free(p->names[index].lowered);
    p->names[index].lowered = copied(symbol);
}

EXPORT void standin_hiprtc_answer(struct program *p, const void *code, size_t nbytes, const char *log)
{
    free(p->code);
    free(p->log);
    p->code = malloc(nbytes + 1);
    if (nbytes) memcpy(p->code, code, nbytes);
    p->code_nbytes = nbytes;
    p->log = copied(log);
}
