/* Code objects as modules: ELF headers, the metadata note and its MessagePack, the variables with their contents.
 *
 * The image's length is not given, as it is not given to the driver: it is what the headers say. Images come from
 * compilers or from tests of the refusals, which come before; lengths inside are still held against that length. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip.h"

#define EM_AMDGPU_NUMBER 224
#define NT_AMDGPU_METADATA 32
#define BUNDLE_MAGIC "__CLANG_OFFLOAD_BUNDLE__"
#define MOST_PARAMETERS 256

/* ------------------------------------------------ MessagePack */

struct reader { const uint8_t *at, *end; int failed; };

struct value {
    enum { NOTHING, NUMBER, TEXT, ARRAY, MAP, OTHER } kind;
    int64_t number;
    const char *text;
    uint32_t count; /* bytes, elements or pairs */
};

static uint64_t big_endian(struct reader *r, unsigned nbytes)
{
    uint64_t value = 0;
    if ((size_t)(r->end - r->at) < nbytes) return r->failed = 1, 0;
    for (unsigned i = 0; i < nbytes; i++) value = value << 8 | *r->at++;
    return value;
}

static struct value text_value(struct reader *r, uint64_t nbytes, int kind)
{
    struct value v = {kind, 0, (const char *)r->at, (uint32_t)nbytes};
    if ((uint64_t)(r->end - r->at) < nbytes) return r->failed = 1, v;
    r->at += nbytes;
    return v;
}

static struct value next(struct reader *r)
{
    struct value v = {NOTHING, 0, NULL, 0};
    uint8_t b = (uint8_t)big_endian(r, 1);
    if (r->failed) return v;
    if (b < 0x80 || b >= 0xe0) return (struct value){NUMBER, (int8_t)b, NULL, 0};
    if (b < 0x90) return (struct value){MAP, 0, NULL, b & 15u};
    if (b < 0xa0) return (struct value){ARRAY, 0, NULL, b & 15u};
    if (b < 0xc0) return text_value(r, b & 31u, TEXT);
    switch (b) {
    case 0xc2: case 0xc3: return (struct value){NUMBER, b & 1, NULL, 0};
    case 0xc4: return text_value(r, big_endian(r, 1), OTHER);
    case 0xc5: return text_value(r, big_endian(r, 2), OTHER);
    case 0xc6: return text_value(r, big_endian(r, 4), OTHER);
    case 0xca: return text_value(r, 4, OTHER);
    case 0xcb: return text_value(r, 8, OTHER);
    case 0xcc: return (struct value){NUMBER, (int64_t)big_endian(r, 1), NULL, 0};
    case 0xcd: return (struct value){NUMBER, (int64_t)big_endian(r, 2), NULL, 0};
    case 0xce: return (struct value){NUMBER, (int64_t)big_endian(r, 4), NULL, 0};
    case 0xcf: return (struct value){NUMBER, (int64_t)big_endian(r, 8), NULL, 0};
    case 0xd0: return (struct value){NUMBER, (int8_t)big_endian(r, 1), NULL, 0};
    case 0xd1: return (struct value){NUMBER, (int16_t)big_endian(r, 2), NULL, 0};
    case 0xd2: return (struct value){NUMBER, (int32_t)big_endian(r, 4), NULL, 0};
    case 0xd3: return (struct value){NUMBER, (int64_t)big_endian(r, 8), NULL, 0};
    case 0xd9: return text_value(r, big_endian(r, 1), TEXT);
    case 0xda: return text_value(r, big_endian(r, 2), TEXT);
    case 0xdb: return text_value(r, big_endian(r, 4), TEXT);
    case 0xdc: return (struct value){ARRAY, 0, NULL, (uint32_t)big_endian(r, 2)};
    case 0xdd: return (struct value){ARRAY, 0, NULL, (uint32_t)big_endian(r, 4)};
    case 0xde: return (struct value){MAP, 0, NULL, (uint32_t)big_endian(r, 2)};
    case 0xdf: return (struct value){MAP, 0, NULL, (uint32_t)big_endian(r, 4)};
    case 0xc0: return v;
    default: return r->failed = 1, v;
    }
}

static void skip(struct reader *r)
{
    uint64_t left = 1;
    while (left-- && !r->failed) {
        struct value v = next(r);
        if (v.kind == ARRAY) left += v.count;
        if (v.kind == MAP) left += 2ull * v.count;
    }
}

static int is(struct value v, const char *word)
{
    return v.kind == TEXT && v.count == strlen(word) && !memcmp(v.text, word, v.count);
}

/* ------------------------------------------------ kernels */

struct described {
    char name[1024];
    struct core_parameter parameters[MOST_PARAMETERS];
    struct core_kernel kernel;
};

static uint32_t low_bit(uint32_t value) { return value & -value; }

static uint32_t natural_alignment(uint32_t offset, uint32_t nbytes)
{
    uint32_t alignment = low_bit(nbytes | 8);
    return offset && low_bit(offset) < alignment ? low_bit(offset) : alignment;
}

static void read_argument(struct reader *r, struct described *d)
{
    struct value map = next(r);
    struct core_parameter p = {0, 0, 1};
    int hidden = 0;
    for (uint32_t i = 0; i < map.count && map.kind == MAP && !r->failed; i++) {
        struct value key = next(r);
        if (is(key, ".offset")) p.offset = (uint32_t)next(r).number;
        else if (is(key, ".size")) p.nbytes = (uint32_t)next(r).number;
        else if (is(key, ".value_kind")) {
            struct value kind = next(r);
            hidden = kind.kind == TEXT && kind.count > 7 && !memcmp(kind.text, "hidden_", 7);
        } else skip(r);
    }
    if (hidden || d->kernel.parameter_count == MOST_PARAMETERS) return;
    p.align = natural_alignment(p.offset, p.nbytes);
    d->parameters[d->kernel.parameter_count++] = p;
}

static void read_kernel(struct reader *r, struct described *d)
{
    struct value map = next(r);
    memset(d, 0, sizeof *d);
    d->kernel.name = d->name;
    d->kernel.parameters = d->parameters;
    for (uint32_t i = 0; i < map.count && map.kind == MAP && !r->failed; i++) {
        struct value key = next(r);
        if (is(key, ".name")) {
            struct value name = next(r);
            snprintf(d->name, sizeof d->name, "%.*s", (int)name.count, name.text);
        } else if (is(key, ".args")) {
            struct value list = next(r);
            for (uint32_t n = 0; n < list.count && !r->failed; n++) read_argument(r, d);
        } else if (is(key, ".reqd_workgroup_size")) {
            struct value list = next(r);
            for (uint32_t n = 0; n < list.count && !r->failed; n++) {
                struct value extent = next(r);
                if (n < 3) d->kernel.required_block[n] = (uint32_t)extent.number;
            }
        } else if (is(key, ".max_flat_workgroup_size")) {
            d->kernel.max_block[0] = (uint32_t)next(r).number;
            d->kernel.max_block[1] = d->kernel.max_block[2] = 1;
        } else if (is(key, ".group_segment_fixed_size")) d->kernel.static_shared = (uint32_t)next(r).number;
        else if (is(key, ".private_segment_fixed_size")) d->kernel.local = (uint32_t)next(r).number;
        else if (is(key, ".vgpr_count")) d->kernel.registers = (uint32_t)next(r).number;
        else skip(r);
    }
}

/* The processor of a target id, without the triple before it and the features behind. */
static size_t processor_of(const char *target, size_t nbytes, const char **out)
{
    size_t start = 0, end;
    for (size_t i = 0; i + 3 <= nbytes; i++)
        if (!memcmp(target + i, "gfx", 3)) start = i;
    for (end = start; end < nbytes && target[end] != ':'; end++) {}
    *out = target + start;
    return end - start;
}

static int runs_on(const char *target, size_t nbytes, const char *architecture)
{
    const char *ours, *theirs;
    size_t a = processor_of(target, nbytes, &ours), b = processor_of(architecture, strlen(architecture), &theirs);
    if (a != b || memcmp(ours, theirs, a)) return 0;
    /* Each feature that the code demands must be the device's: ":xnack+" as a whole. */
    for (size_t i = a; ours + i < target + nbytes;) {
        size_t next_one = i + 1;
        char feature[64];
        while (ours + next_one < target + nbytes && ours[next_one] != ':') next_one++;
        snprintf(feature, sizeof feature, "%.*s", (int)(next_one - i), ours + i);
        if (!strstr(architecture, feature)) return 0;
        i = next_one;
    }
    return 1;
}

static int read_metadata(core_handle module, const uint8_t *note, size_t nbytes, const char *architecture)
{
    struct reader r = {note, note + nbytes, 0};
    struct value map = next(&r);
    struct described *d = malloc(sizeof *d);
    int code = map.kind == MAP ? CORE_OK : CORE_INVALID_IMAGE;
    for (uint32_t i = 0; i < map.count && !r.failed && !code; i++) {
        struct value key = next(&r);
        if (is(key, "amdhsa.target")) {
            struct value target = next(&r);
            if (target.kind != TEXT || !runs_on(target.text, target.count, architecture)) code = CORE_NO_BINARY_FOR_GPU;
        } else if (is(key, "amdhsa.kernels")) {
            struct value list = next(&r);
            for (uint32_t n = 0; n < list.count && !r.failed && !code; n++) {
                read_kernel(&r, d);
                if (!r.failed) code = core_module_add_kernel(module, &d->kernel);
            }
        } else skip(&r);
    }
    free(d);
    return r.failed && !code ? CORE_INVALID_IMAGE : code;
}

/* ------------------------------------------------ ELF */

static size_t elf_nbytes(const Elf64_Ehdr *e)
{
    const Elf64_Phdr *p = (const void *)((const char *)e + e->e_phoff);
    size_t end = e->e_shoff + (size_t)e->e_shnum * e->e_shentsize;
    for (int i = 0; i < e->e_phnum; i++)
        if (p[i].p_offset + p[i].p_filesz > end) end = p[i].p_offset + p[i].p_filesz;
    return end;
}

static int read_notes(core_handle module, const uint8_t *at, size_t nbytes, const char *architecture, int *found)
{
    const uint8_t *end = at + nbytes;
    while (end - at >= (ptrdiff_t)sizeof(Elf64_Nhdr)) {
        const Elf64_Nhdr *n = (const void *)at;
        const uint8_t *name = at + sizeof *n, *data = name + ((n->n_namesz + 3u) & ~3u);
        if (data > end || n->n_descsz > (size_t)(end - data)) return CORE_INVALID_IMAGE;
        if (n->n_type == NT_AMDGPU_METADATA && n->n_namesz == 7 && !memcmp(name, "AMDGPU", 7)) {
            *found = 1;
            return read_metadata(module, data, n->n_descsz, architecture);
        }
        at = data + ((n->n_descsz + 3u) & ~3u);
    }
    return CORE_OK;
}

static int ends_in_kd(const char *name)
{
    size_t length = strlen(name);
    return length > 3 && !strcmp(name + length - 3, ".kd");
}

/* The bytes behind a virtual address, NULL for those that the file does not hold (.bss). */
static const void *contents(const Elf64_Ehdr *e, uint64_t address, uint64_t nbytes)
{
    const Elf64_Phdr *p = (const void *)((const char *)e + e->e_phoff);
    for (int i = 0; i < e->e_phnum; i++)
        if (p[i].p_type == PT_LOAD && address >= p[i].p_vaddr && address + nbytes <= p[i].p_vaddr + p[i].p_filesz)
            return (const char *)e + p[i].p_offset + (address - p[i].p_vaddr);
    return NULL;
}

static int is_writable(const Elf64_Ehdr *e, uint64_t address)
{
    const Elf64_Phdr *p = (const void *)((const char *)e + e->e_phoff);
    for (int i = 0; i < e->e_phnum; i++)
        if (p[i].p_type == PT_LOAD && address >= p[i].p_vaddr && address < p[i].p_vaddr + p[i].p_memsz)
            return (p[i].p_flags & PF_W) != 0;
    return 0;
}

static int read_variables(core_handle module, const Elf64_Ehdr *e)
{
    const Elf64_Shdr *sections = (const void *)((const char *)e + e->e_shoff);
    for (int i = 0; i < e->e_shnum; i++) {
        const Elf64_Sym *symbols;
        const char *names;
        if (sections[i].sh_type != SHT_DYNSYM) continue;
        symbols = (const void *)((const char *)e + sections[i].sh_offset);
        names = (const char *)e + sections[sections[i].sh_link].sh_offset;
        for (uint64_t n = 0; n < sections[i].sh_size / sizeof *symbols; n++) {
            const Elf64_Sym *s = &symbols[n];
            const char *name = names + s->st_name;
            const void *data;
            int code;
            if (ELF64_ST_TYPE(s->st_info) != STT_OBJECT || !s->st_size || s->st_shndx == SHN_UNDEF) continue;
            if (ends_in_kd(name) || !strncmp(name, "__hip_cuid", 10)) continue;
            code = core_module_add_global(module, name, s->st_size, 16, !is_writable(e, s->st_value));
            if (!code && (data = contents(e, s->st_value, s->st_size)))
                code = core_module_initialize(module, name, data, s->st_size);
            if (code) return code;
        }
    }
    return CORE_OK;
}

static const void *entry_of_bundle(const char *image, const char *architecture)
{
    uint64_t count, numbers[3];
    const char *at = image + strlen(BUNDLE_MAGIC);
    memcpy(&count, at, 8);
    at += 8;
    for (uint64_t i = 0; i < count && i < 4096; i++) {
        memcpy(numbers, at, 24);
        at += 24;
        if (numbers[1] && strstr(at, "amdgcn") && runs_on(at, numbers[2], architecture)) return image + numbers[0];
        at += numbers[2];
    }
    return NULL;
}

int hip_module_from_code_object(core_handle *out, const void *image, const char *architecture)
{
    const Elf64_Ehdr *e = image;
    const Elf64_Phdr *p;
    int code, found = 0;
    if (!image) return CORE_INVALID_VALUE;
    if (!memcmp(image, BUNDLE_MAGIC, strlen(BUNDLE_MAGIC)) && !(e = entry_of_bundle(image, architecture)))
        return CORE_NO_BINARY_FOR_GPU;
    if (memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_machine != EM_AMDGPU_NUMBER || e->e_type != ET_DYN)
        return CORE_INVALID_IMAGE;
    if ((code = core_module_create(out, e, elf_nbytes(e), NULL, 0))) return code;
    p = (const void *)((const char *)e + e->e_phoff);
    for (int i = 0; i < e->e_phnum && !code && !found; i++)
        if (p[i].p_type == PT_NOTE)
            code = read_notes(*out, (const uint8_t *)e + p[i].p_offset, p[i].p_filesz, architecture, &found);
    if (!code && !found) code = CORE_INVALID_IMAGE;
    if (!code) code = read_variables(*out, e);
    if (!code) code = core_module_ready(*out);
    if (code) core_module_unload(*out);
    return code;
}
