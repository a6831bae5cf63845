/* PTX text, cubins and fatbins: which kernels and variables they hold, and whether they fit the device. */
#define _GNU_SOURCE
#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_standin.h"

#define MAX_PARAMETERS 4096
#define FATBIN_MAGIC 0xBA55ED50u
#define WRAPPER_MAGIC 0x466243B1u

static int device_number(void) /* 90 for compute capability 9.0 */
{
    int device = 0;
    core_context_device(core_current(), &device);
    return (int)(10 * core_attribute(device, CORE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                 core_attribute(device, CORE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
}

/* ------------------------------------------------ PTX */

/* The newest PTX version that a driver of this version reads, as 10 * major + minor (PTX ISA, release history). */
static int newest_ptx(void)
{
    int64_t version = core_setting("driver_version"), minor = version % 1000 / 10;
    if (core_setting("code_version")) return (int)core_setting("code_version");
    if (version >= 13000) return (int)(90 + minor);
    if (version >= 12090) return 88;
    if (version >= 12080) return 87;
    if (version >= 12070) return 86;
    if (version >= 12060) return 85;
    if (version >= 12000) return (int)(80 + minor);
    return (int)(70 + minor);
}

struct scan { const char *at; };

static int is_name(int c) { return isalnum(c) || c == '_' || c == '$' || c == '%'; }
static void skip_space(struct scan *s) { while (isspace((unsigned char)*s->at)) s->at++; }

/* The next word: a name or number, a directive with its dot, or one sign. Empty at the end. */
static size_t word(struct scan *s, const char **out)
{
    skip_space(s);
    *out = s->at;
    if (!*s->at) return 0;
    if (*s->at == '"') {
        for (s->at++; *s->at && *s->at != '"'; s->at++) continue;
        if (*s->at) s->at++;
    } else if (is_name((unsigned char)*s->at) || (*s->at == '.' && is_name((unsigned char)s->at[1]))) {
        for (s->at++; is_name((unsigned char)*s->at); s->at++) continue;
    } else {
        s->at++;
    }
    return (size_t)(s->at - *out);
}

static int is_word(const char *w, size_t n, const char *text) { return n == strlen(text) && !strncmp(w, text, n); }

static unsigned type_nbytes(const char *w, size_t n)
{
    unsigned bits = 0;
    if (is_word(w, n, ".pred")) return 1;
    if (n < 3 || w[0] != '.' || !strchr("busf", w[1])) {
        if (is_word(w, n, ".texref") || is_word(w, n, ".samplerref") || is_word(w, n, ".surfref")) return 8;
        return 0;
    }
    for (size_t i = 2; i < n && isdigit((unsigned char)w[i]); i++) bits = 10 * bits + (unsigned)(w[i] - '0');
    return bits / 8;
}

/* A copy with each comment turned into blanks. */
static char *without_comments(const char *text, size_t nbytes)
{
    char *copy = malloc(nbytes + 1), *s = copy, *end;
    memcpy(copy, text, nbytes);
    copy[nbytes] = 0;
    while (*s) {
        if (s[0] == '/' && s[1] == '/') {
            while (*s && *s != '\n') *s++ = ' ';
        } else if (s[0] == '/' && s[1] == '*') {
            end = strstr(s + 2, "*/");
            end = end ? end + 2 : s + strlen(s);
            for (; s < end; s++)
                if (*s != '\n') *s = ' ';
        } else {
            s++;
        }
    }
    return copy;
}

struct declaration { char name[1024]; size_t nbytes; unsigned align; };

/* What follows a state space: [.align n] [.attribute(..)] [.vN] .type [.ptr ...] name [dims], up to one of `ends`. */
static void declaration(struct scan *s, const char *ends, struct declaration *out)
{
    const char *w;
    size_t n, count = 1, implied = 0;
    unsigned element = 0, vector = 1, align = 0;
    int unsized = 0;
    memset(out, 0, sizeof *out);
    for (;;) {
        skip_space(s);
        if (!*s->at || strchr(ends, *s->at)) break;
        n = word(s, &w);
        if (is_word(w, n, ".align")) {
            unsigned given = (unsigned)strtoul(s->at, NULL, 10);
            word(s, &w);
            if (!element) align = given; /* behind the type it speaks of what a pointer points to */
        } else if (is_word(w, n, ".v2") || is_word(w, n, ".v4") || is_word(w, n, ".v8")) {
            vector = (unsigned)(w[2] - '0');
        } else if (!element && type_nbytes(w, n)) {
            element = type_nbytes(w, n);
        } else if (*w == '(') {
            while (*s->at && *s->at != ')') s->at++;
            if (*s->at) s->at++;
        } else if (*w == '[') {
            char *end;
            unsigned long extent = strtoul(s->at, &end, 0);
            if (end == s->at) unsized = 1;
            else count *= extent;
            s->at = end;
            while (*s->at && *s->at != ']') s->at++;
            if (*s->at) s->at++;
        } else if (*w == '=') {
            int depth = 0;
            implied = 1;
            for (; *s->at && !(depth == 0 && *s->at == ';'); s->at++) {
                depth += (*s->at == '{') - (*s->at == '}');
                implied += *s->at == ',';
            }
        } else if (*w != '.' && !out->name[0]) {
            snprintf(out->name, sizeof out->name, "%.*s", (int)n, w);
        }
    }
    if (unsized) count *= implied;
    out->nbytes = (size_t)element * vector * count;
    out->align = align ? align : element * vector;
}

static void skip_block(struct scan *s) /* behind the matching brace */
{
    int depth = 0;
    while (*s->at) {
        if (*s->at == '"') {
            for (s->at++; *s->at && *s->at != '"'; s->at++) continue;
            if (!*s->at) return;
        }
        depth += (*s->at == '{') - (*s->at == '}');
        s->at++;
        if (!depth) return;
    }
}

struct outer_shared { struct outer_shared *next; struct declaration variable; };

static void body_sizes(const char *begin, const char *end, const struct outer_shared *outer, struct core_kernel *kernel)
{
    char *text = strndup(begin, (size_t)(end - begin));
    struct scan s = {text};
    const char *w;
    size_t n;
    while ((n = word(&s, &w))) {
        struct declaration d;
        uint32_t *sum = is_word(w, n, ".shared") ? &kernel->static_shared : is_word(w, n, ".local") ? &kernel->local : NULL;
        if (!sum) continue;
        /* "ld.shared.u32" is a word of its own; a declaration's ".shared" stands alone. */
        if (w > text && !isspace((unsigned char)w[-1]) && w[-1] != ';' && w[-1] != '{') continue;
        declaration(&s, ";", &d);
        if (!d.nbytes) continue;
        if (d.align) *sum = (*sum + d.align - 1) / d.align * d.align;
        *sum += (uint32_t)d.nbytes;
    }
    for (; outer; outer = outer->next)
        if (strstr(text, outer->variable.name)) kernel->static_shared += (uint32_t)outer->variable.nbytes;
    free(text);
}

static void extents(struct scan *s, uint32_t out[3])
{
    char *end;
    out[0] = out[1] = out[2] = 1;
    for (int axis = 0; axis < 3; axis++) {
        out[axis] = (uint32_t)strtoul(s->at, &end, 10);
        s->at = end;
        skip_space(s);
        if (*s->at != ',') break;
        s->at++;
    }
}

static int read_entry(struct scan *s, core_handle module, const struct outer_shared *outer, int target)
{
    static __thread struct core_parameter parameters[MAX_PARAMETERS];
    struct core_kernel kernel = {.code_version = target, .binary_version = device_number(), .parameters = parameters};
    struct declaration d;
    char name[1024];
    const char *w, *body;
    size_t n = word(s, &w);
    uint32_t offset = 0;
    snprintf(name, sizeof name, "%.*s", (int)n, w);
    kernel.name = name;
    skip_space(s);
    if (*s->at == '(') {
        do {
            s->at++;
            declaration(s, ",)", &d);
            if (!d.nbytes) continue;
            if (kernel.parameter_count == MAX_PARAMETERS) return CORE_INVALID_CODE_TEXT;
            offset = (offset + d.align - 1) / d.align * d.align;
            parameters[kernel.parameter_count++] = (struct core_parameter){offset, (uint32_t)d.nbytes, d.align};
            offset += (uint32_t)d.nbytes;
        } while (*s->at == ',');
        if (*s->at != ')') return CORE_INVALID_CODE_TEXT;
        s->at++;
    }
    while ((n = word(s, &w)) && *w != '{' && *w != ';') {
        if (is_word(w, n, ".reqntid")) extents(s, kernel.required_block);
        else if (is_word(w, n, ".maxntid")) extents(s, kernel.max_block);
        else if (is_word(w, n, ".reqnctapercluster")) extents(s, kernel.required_cluster);
        else if (is_word(w, n, ".maxnreg")) kernel.registers = (uint32_t)strtoul(s->at, NULL, 10);
    }
    if (!n) return CORE_INVALID_CODE_TEXT;
    if (*w == ';') return CORE_OK; /* declared only */
    body = --s->at;
    skip_block(s);
    if (!*s->at && s->at[-1] != '}') return CORE_INVALID_CODE_TEXT;
    body_sizes(body, s->at, outer, &kernel);
    return core_module_add_kernel(module, &kernel);
}

static int read_declarations(const char *text, core_handle module, int target)
{
    struct scan s = {text};
    struct outer_shared *outer = NULL, *one;
    const char *w;
    size_t n;
    int code = CORE_OK, is_extern = 0;
    while (!code && (n = word(&s, &w))) {
        struct declaration d;
        if (is_word(w, n, ".extern")) {
            is_extern = 1;
        } else if (is_word(w, n, ".entry")) {
            code = read_entry(&s, module, outer, target);
        } else if (is_word(w, n, ".global") || is_word(w, n, ".const")) {
            int is_constant = w[1] == 'c';
            declaration(&s, ";", &d);
            if (!is_extern && d.nbytes && d.name[0])
                code = core_module_add_global(module, d.name, d.nbytes, d.align, is_constant);
        } else if (is_word(w, n, ".shared")) {
            one = calloc(1, sizeof *one);
            declaration(&s, ";", &one->variable);
            one->next = outer;
            outer = one;
        } else if (*w == '{') {
            s.at--;
            skip_block(&s);
        }
        if (*w == ';' || *w == '{' || *w != '.') is_extern = is_extern && *w != ';' && *w != '{';
    }
    while ((one = outer)) {
        outer = one->next;
        free(one);
    }
    return code;
}

/* Whether code for `sm`, with suffix 0, 'a' or 'f', can run on the device when compiled now. */
static int ptx_fits(int sm, char suffix)
{
    int device = device_number();
    if (suffix == 'a') return sm == device;
    if (suffix == 'f') return sm / 10 == device / 10 && sm <= device;
    return sm <= device;
}

static int load_ptx(core_handle *out, const char *image, size_t nbytes, const void *whole, size_t whole_nbytes, char *log,
                    size_t room)
{
    char *text = without_comments(image, nbytes);
    struct scan s = {text};
    const char *w;
    char suffix = 0;
    int major = 0, minor = 0, target = 0, code = CORE_OK, used = 0, address_size = 32;
    size_t n = word(&s, &w);
    if (!is_word(w, n, ".version") || sscanf(s.at, "%d.%d", &major, &minor) != 2) {
        snprintf(log, room, "ptxas application ptx input, line 1; fatal   : Missing .version directive at start of file");
        code = CORE_INVALID_CODE_TEXT;
    } else if (10 * major + minor > newest_ptx()) {
        snprintf(log, room, "ptxas application ptx input, line 1; fatal   : Unsupported .version %d.%d; current version is "
                 "'%d.%d'", major, minor, newest_ptx() / 10, newest_ptx() % 10);
        code = CORE_UNSUPPORTED_CODE_VERSION;
    } else {
        for (; (n = word(&s, &w)) && !is_word(w, n, ".target") && *w != '{';) continue;
        skip_space(&s);
        if (!n || *w == '{' || sscanf(s.at, "sm_%d%n", &target, &used) != 1) {
            snprintf(log, room, "ptxas fatal   : Missing .target directive");
            code = CORE_INVALID_CODE_TEXT;
        } else {
            suffix = s.at[used] == 'a' || s.at[used] == 'f' ? s.at[used] : 0;
            if (!ptx_fits(target, suffix)) {
                snprintf(log, room, "ptxas fatal   : SM version specified by .target is sm_%d%.1s, the device is sm_%d",
                         target, suffix ? &suffix : "", device_number());
                code = CORE_NO_BINARY_FOR_GPU;
            }
        }
    }
    if (!code && (w = strstr(text, ".address_size"))) sscanf(w, ".address_size %d", &address_size);
    if (!code && address_size != 64) {
        snprintf(log, room, "ptxas fatal   : 32-bit addresses are not supported");
        code = CORE_INVALID_CODE_TEXT;
    }
    if (!code && !(code = core_module_create(out, whole, whole_nbytes, image, nbytes))) {
        code = read_declarations(text, *out, target);
        if (code) {
            if (code == CORE_INVALID_CODE_TEXT)
                snprintf(log, room, "ptxas application ptx input; fatal   : Parsing error near a declaration");
            core_module_unload(*out);
        } else {
            code = core_module_ready(*out);
        }
    }
    free(text);
    return code;
}

/* ------------------------------------------------ cubins */

static const Elf64_Shdr *sections(const unsigned char *image, unsigned *count)
{
    const Elf64_Ehdr *header = (const void *)image;
    *count = header->e_shnum;
    return (const void *)(image + header->e_shoff);
}

static size_t elf_nbytes(const unsigned char *image)
{
    const Elf64_Ehdr *header = (const void *)image;
    size_t end = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
    size_t segments = header->e_phoff + (size_t)header->e_phnum * header->e_phentsize;
    unsigned count;
    const Elf64_Shdr *section = sections(image, &count);
    if (segments > end) end = segments;
    for (unsigned i = 0; i < count; i++)
        if (section[i].sh_type != SHT_NOBITS && section[i].sh_offset + section[i].sh_size > end)
            end = section[i].sh_offset + section[i].sh_size;
    return end;
}

static int elf_target(const unsigned char *image)
{
    const Elf64_Ehdr *header = (const void *)image;
    /* From version 8 of the ABI on the number sits a byte higher. */
    return (int)(header->e_ident[EI_ABIVERSION] >= 8 ? header->e_flags >> 8 & 0xff : header->e_flags & 0xff);
}

static int elf_fits(int sm) { return sm / 10 == device_number() / 10 && sm <= device_number(); }

/* The image does not say how a parameter is aligned: scalars at their size, what is larger at what size allows. */
static uint32_t natural(uint32_t nbytes)
{
    if (nbytes == 1 || nbytes == 2 || nbytes == 4 || nbytes == 8) return nbytes;
    return nbytes == 128 ? 64 : 1;
}

#define ATTRIBUTE_SIZED 4
#define ATTRIBUTE_KERNEL_PARAMETER 0x17
#define ATTRIBUTE_MAX_THREADS 0x05
#define ATTRIBUTE_REQUIRED_THREADS 0x10
#define ATTRIBUTE_REGISTERS 0x2f

static void read_attributes(const unsigned char *p, const unsigned char *end, struct core_kernel *kernel,
                            struct core_parameter *parameters)
{
    while (p + 4 <= end) {
        unsigned format = p[0], attribute = p[1], nbytes = p[2] | (unsigned)p[3] << 8;
        p += 4;
        if (format != ATTRIBUTE_SIZED) continue;
        if (attribute == ATTRIBUTE_KERNEL_PARAMETER && nbytes == 12) {
            uint16_t ordinal, offset;
            uint32_t bits;
            memcpy(&ordinal, p + 4, 2);
            memcpy(&offset, p + 6, 2);
            memcpy(&bits, p + 8, 4);
            if (ordinal < MAX_PARAMETERS) {
                parameters[ordinal] = (struct core_parameter){offset, bits >> 18, natural(bits >> 18)};
                if (ordinal >= kernel->parameter_count) kernel->parameter_count = ordinal + 1u;
            }
        } else if ((attribute == ATTRIBUTE_MAX_THREADS || attribute == ATTRIBUTE_REQUIRED_THREADS) && nbytes == 12) {
            memcpy(attribute == ATTRIBUTE_MAX_THREADS ? kernel->max_block : kernel->required_block, p, 12);
        }
        p += nbytes;
    }
}

static uint32_t registers_of(const unsigned char *image, const char *kernel)
{
    unsigned count;
    const Elf64_Shdr *section = sections(image, &count);
    const Elf64_Ehdr *header = (const void *)image;
    const char *names = (const char *)image + section[header->e_shstrndx].sh_offset;
    const Elf64_Sym *symbols = NULL;
    const char *strings = NULL;
    for (unsigned i = 0; i < count; i++)
        if (section[i].sh_type == SHT_SYMTAB) {
            symbols = (const void *)(image + section[i].sh_offset);
            strings = (const char *)image + section[section[i].sh_link].sh_offset;
        }
    for (unsigned i = 0; symbols && i < count; i++) {
        const unsigned char *p = image + section[i].sh_offset, *end = p + section[i].sh_size;
        if (strcmp(names + section[i].sh_name, ".nv.info")) continue;
        while (p + 4 <= end) {
            unsigned format = p[0], attribute = p[1], nbytes = p[2] | (unsigned)p[3] << 8;
            p += 4;
            if (format != ATTRIBUTE_SIZED) continue;
            if (attribute == ATTRIBUTE_REGISTERS && nbytes == 8) {
                uint32_t pair[2];
                memcpy(pair, p, 8);
                if (!strcmp(strings + symbols[pair[0]].st_name, kernel)) return pair[1];
            }
            p += nbytes;
        }
    }
    return 0;
}

static int load_cubin(core_handle *out, const unsigned char *image, const void *whole, size_t whole_nbytes, char *log,
                      size_t room)
{
    static __thread struct core_parameter parameters[MAX_PARAMETERS];
    const Elf64_Ehdr *header = (const void *)image;
    unsigned count;
    const Elf64_Shdr *section = sections(image, &count);
    const char *names = (const char *)image + section[header->e_shstrndx].sh_offset;
    int code, target = elf_target(image);
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != 190) return CORE_INVALID_IMAGE;
    if (!elf_fits(target)) {
        snprintf(log, room, "the cubin is for sm_%d, the device is sm_%d", target, device_number());
        return CORE_NO_BINARY_FOR_GPU;
    }
    if ((code = core_module_create(out, whole, whole_nbytes, NULL, 0))) return code;
    for (unsigned i = 0; i < count && !code; i++) {
        const char *name = names + section[i].sh_name;
        if (!strncmp(name, ".nv.info.", 9)) {
            struct core_kernel kernel = {.name = name + 9, .parameters = parameters, .code_version = target,
                                         .binary_version = target, .registers = registers_of(image, name + 9)};
            char shared[1100];
            memset(parameters, 0, sizeof parameters);
            read_attributes(image + section[i].sh_offset, image + section[i].sh_offset + section[i].sh_size, &kernel,
                            parameters);
            snprintf(shared, sizeof shared, ".nv.shared.%s", name + 9);
            for (unsigned k = 0; k < count; k++) /* from 9.0 on with 1 KiB of the system's own in front */
                if (!strcmp(names + section[k].sh_name, shared))
                    kernel.static_shared = (uint32_t)section[k].sh_size - (target >= 90 ? 1024 : 0);
            code = core_module_add_kernel(*out, &kernel);
        } else if (section[i].sh_type == SHT_SYMTAB) {
            const Elf64_Sym *symbol = (const void *)(image + section[i].sh_offset);
            const char *strings = (const char *)image + section[section[i].sh_link].sh_offset;
            for (size_t k = 0; k < section[i].sh_size / sizeof *symbol && !code; k++) {
                const Elf64_Shdr *home;
                const char *where;
                if (ELF64_ST_TYPE(symbol[k].st_info) != STT_OBJECT || !symbol[k].st_size || !symbol[k].st_shndx ||
                    symbol[k].st_shndx >= count)
                    continue;
                home = &section[symbol[k].st_shndx];
                where = names + home->sh_name;
                if (strncmp(where, ".nv.global", 10) && strcmp(where, ".nv.constant3")) continue;
                code = core_module_add_global(*out, strings + symbol[k].st_name, symbol[k].st_size, 0, where[4] == 'c');
                if (!code && home->sh_type != SHT_NOBITS)
                    code = core_module_initialize(*out, strings + symbol[k].st_name,
                                                  image + home->sh_offset + symbol[k].st_value, symbol[k].st_size);
            }
        }
    }
    if (!code) code = core_module_ready(*out);
    else core_module_unload(*out);
    return code;
}

/* ------------------------------------------------ fatbins */

struct fat_header { uint32_t magic; uint16_t version, header_nbytes; uint64_t nbytes; };
struct fat_entry {
    uint16_t kind, version; /* kind 1: PTX, 2: ELF */
    uint32_t header_nbytes;
    uint64_t nbytes;
    uint32_t compressed_nbytes, unknown;
    uint16_t minor, major;
    uint32_t target;
};

static int load_fatbin(core_handle *out, const unsigned char *image, char *log, size_t room)
{
    const struct fat_header *header = (const void *)image;
    const unsigned char *at = image + header->header_nbytes, *end = at + header->nbytes;
    const struct fat_entry *binary = NULL, *text = NULL;
    int compressed = 0;
    size_t whole = header->header_nbytes + header->nbytes;
    for (; at < end; at += ((const struct fat_entry *)(const void *)at)->header_nbytes +
                           ((const struct fat_entry *)(const void *)at)->nbytes) {
        const struct fat_entry *entry = (const void *)at;
        if (entry->kind == 2 && elf_fits((int)entry->target) && (!binary || entry->target > binary->target)) {
            if (entry->compressed_nbytes) compressed = 1;
            else binary = entry;
        }
        if (entry->kind == 1 && ptx_fits((int)entry->target, 0) && (!text || entry->target > text->target)) {
            if (entry->compressed_nbytes) compressed = 1;
            else text = entry;
        }
    }
    if (binary)
        return load_cubin(out, (const unsigned char *)binary + binary->header_nbytes, image, whole, log, room);
    if (text) {
        const char *ptx = (const char *)text + text->header_nbytes;
        return load_ptx(out, ptx, strnlen(ptx, text->nbytes), image, whole, log, room);
    }
    snprintf(log, room, compressed ? "what fits of the fatbin is compressed, which this stand-in does not read; build it with "
             "--no-compress" : "nothing in the fatbin fits sm_%d", device_number());
    return compressed ? CORE_INVALID_IMAGE : CORE_NO_BINARY_FOR_GPU;
}

int image_load(core_handle *out, const void *image, char *log, size_t room)
{
    uint32_t magic;
    memcpy(&magic, image, sizeof magic);
    if (magic == WRAPPER_MAGIC) {
        memcpy(&image, (const char *)image + 8, sizeof image);
        memcpy(&magic, image, sizeof magic);
    }
    if (magic == FATBIN_MAGIC) return load_fatbin(out, image, log, room);
    if (!memcmp(image, ELFMAG, SELFMAG)) return load_cubin(out, image, image, elf_nbytes(image), log, room);
    return load_ptx(out, image, strlen(image), image, strlen(image), log, room);
}
