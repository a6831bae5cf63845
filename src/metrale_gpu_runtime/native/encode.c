/* Python values into the bytes of a parameter, as scalars.py does it, or not at all.
 *
 * What is taken here: exact ints, floats and bools, mg.Scalar, buffers and pointers of this backend, None for null.
 * A NaN, a number too large for a double, a subclass of anything: Python reads those.
 */
#include "core.h"

#include <math.h>
#include <string.h>

struct known_classes known;

const uint8_t code_nbytes[CODE_END] = {
    [CODE_U8] = 1,    [CODE_U16] = 2,    [CODE_U32] = 4,    [CODE_U64] = 8,
    [CODE_I8] = 1,    [CODE_I16] = 2,    [CODE_I32] = 4,    [CODE_I64] = 8,
    [CODE_F16] = 2,   [CODE_BF16] = 2,   [CODE_F32] = 4,    [CODE_F64] = 8,
    [CODE_BOOL] = 1,  [CODE_C64] = 8,    [CODE_C128] = 16,
    [CODE_INT8] = 1,  [CODE_INT16] = 2,  [CODE_INT32] = 4,  [CODE_INT64] = 8,
    [CODE_POINTER] = 8, [CODE_POINTER + 1] = 8, [CODE_POINTER + 2] = 8, [CODE_POINTER + 3] = 8, [CODE_POINTER + 4] = 8,
    [CODE_POINTER + 5] = 8, [CODE_POINTER + 6] = 8, [CODE_POINTER + 7] = 8, [CODE_POINTER + 8] = 8,
    [CODE_POINTER + 9] = 8, [CODE_POINTER + 10] = 8, [CODE_POINTER + 11] = 8, [CODE_POINTER + 12] = 8,
    [CODE_POINTER + 13] = 8, [CODE_POINTER + 14] = 8, [CODE_POINTER + 15] = 8,
};

static inline uint8_t code_of_type(PyObject *type)
{
    for (uint8_t code = CODE_U8; code < CODE_COUNT; code++)
        if (known.types[code] == type) return code;
    return CODE_NONE;
}

/* An int of up to two digits of CPython's; others are not looked at. Calls nothing. */
INLINE bool read_short_int(PyObject *value, int64_t *number)
{
#if PY_VERSION_HEX >= 0x030c0000
    if (LIKELY(PyUnstable_Long_IsCompact((PyLongObject *)value))) {
        *number = PyUnstable_Long_CompactValue((PyLongObject *)value);
        return true;
    }
#else
    const digit *digits = ((PyLongObject *)value)->ob_digit;
    if (LIKELY(Py_SIZE(value) == 1)) {
        *number = digits[0];
        return true;
    }
    switch (Py_SIZE(value)) {
    case 0: *number = 0; return true;
    case -1: *number = -(int64_t)digits[0]; return true;
    case 2: *number = (int64_t)digits[1] << PyLong_SHIFT | digits[0]; return true;
    case -2: *number = -((int64_t)digits[1] << PyLong_SHIFT | digits[0]); return true;
    }
#endif
    return false;
}

/* An int that fits 64 bits with its sign. */
INLINE bool read_int(PyObject *value, int64_t *number)
{
    if (LIKELY(read_short_int(value, number))) return true;
    int overflow;
    *number = PyLong_AsLongLongAndOverflow(value, &overflow);
    return !overflow;
}

static uint8_t read_large(uint8_t code, PyObject *value, void *place)
{
    if (code != CODE_U64) return CODE_NONE;
    unsigned long long large = PyLong_AsUnsignedLongLong(value);
    if (large == (unsigned long long)-1 && PyErr_Occurred()) {
        PyErr_Clear();
        return CODE_NONE;
    }
    memcpy(place, &large, 8);
    return code;
}

/* A finite double or infinity to 16 bits, to nearest even: `fraction_bits` of fraction behind `exponent_bits`. */
static uint16_t round_to_16(double value, int exponent_bits, int fraction_bits)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    value = fabs(value);
    int bias = (1 << (exponent_bits - 1)) - 1, largest = (1 << exponent_bits) - 1;
    uint16_t infinity = (uint16_t)(largest << fraction_bits);
    if (isinf(value)) return sign | infinity;
    if (value == 0) return sign;
    int exponent;
    frexp(value, &exponent); /* value is in [0.5, 1) times two to the exponent */
    int least = 1 - bias;    /* the exponent of the smallest normal number */
    int unit = (exponent - 1 < least ? least : exponent - 1) - fraction_bits;
    if (exponent - 1 > bias + 1) return sign | infinity;
    /* Exact: a double has more fraction bits than any of these, and nearbyint rounds to even. */
    double count = nearbyint(ldexp(value, -unit));
    int64_t whole = (int64_t)count;
    int64_t biased = unit + fraction_bits + bias; /* of a normal number */
    int64_t bits = whole < ((int64_t)1 << fraction_bits) ? whole : ((biased - 1) << fraction_bits) + whole;
    return sign | (uint16_t)(bits >= infinity ? infinity : bits);
}

INLINE uint8_t read_float(uint8_t code, double value, void *place)
{
    if (UNLIKELY(value != value)) return CODE_NONE; /* a NaN's bits are Python's to choose */
    if (LIKELY(code == CODE_F32)) {
        float narrow = (float)value;
        memcpy(place, &narrow, 4);
        return code;
    }
    if (code == CODE_F64) {
        memcpy(place, &value, 8);
        return code;
    }
    if (code != CODE_F16 && code != CODE_BF16) return CODE_NONE;
    uint16_t bits = code == CODE_F16 ? round_to_16(value, 5, 10) : round_to_16(value, 8, 7);
    memcpy(place, &bits, 2);
    return code;
}

INLINE uint8_t place_integer(uint8_t code, int64_t number, void *place)
{
#define TAKE(condition, nbytes)                 \
    if (UNLIKELY(!(condition))) return CODE_NONE; \
    memcpy(place, &number, nbytes);             \
    return code
    switch (code) {
    case CODE_U32: TAKE((uint64_t)number <= UINT32_MAX, 4);
    case CODE_I32: TAKE(number >= INT32_MIN && number <= INT32_MAX, 4);
    case CODE_U64: TAKE(number >= 0, 8);
    case CODE_I64: TAKE(true, 8);
    /* Both readings, signed and unsigned. */
    case CODE_INT32: TAKE(number >= 0 && number <= INT32_MAX, 4);
    case CODE_INT64: TAKE(number >= 0, 8);
    case CODE_INT16: TAKE(number >= 0 && number <= INT16_MAX, 2);
    case CODE_U16: TAKE((uint64_t)number <= UINT16_MAX, 2);
    case CODE_I16: TAKE(number >= INT16_MIN && number <= INT16_MAX, 2);
    case CODE_U8: TAKE((uint64_t)number <= UINT8_MAX, 1);
    case CODE_I8: TAKE(number >= INT8_MIN && number <= INT8_MAX, 1);
    /* Up to here every int is a double, which is then rounded once. */
    case CODE_F16: case CODE_BF16: case CODE_F32: case CODE_F64:
        if (number > (1LL << 53) || number < -(1LL << 53)) return CODE_NONE;
        return read_float(code, (double)number, place);
    default: return CODE_NONE;
    }
#undef TAKE
}

INLINE uint8_t read_integer(uint8_t code, PyObject *value, void *place)
{
    int64_t number;
    if (UNLIKELY(!read_int(value, &number))) return read_large(code, value, place);
    return place_integer(code, number, place);
}

static uint8_t read_typed(PyObject *value, void *place)
{
    PyObject *data = SLOT_AT(value, known.scalar_data), *type = SLOT_AT(value, known.scalar_type);
    uint8_t own = type ? code_of_type(type) : CODE_NONE;
    if (own == CODE_NONE || !data || !PyBytes_CheckExact(data)) return CODE_NONE;
    if (PyBytes_GET_SIZE(data) != code_nbytes[own]) return CODE_NONE;
    memcpy(place, PyBytes_AS_STRING(data), code_nbytes[own]);
    return own;
}

/* NumPy's scalar classes, whose values lie behind the head of their objects; told as they are met. */
#define MOST_TYPED 16
static struct {
    PyTypeObject *type;
    uint8_t code;
} typed_classes[MOST_TYPED];
static int typed_count;

static uint8_t read_foreign(PyObject *value, void *place)
{
    for (int at = 0; at < typed_count; at++) {
        if (typed_classes[at].type != Py_TYPE(value)) continue;
        uint8_t code = typed_classes[at].code;
        memcpy(place, (char *)value + sizeof(PyObject), code_nbytes[code]);
        return code;
    }
    return CODE_NONE;
}

/* What is neither an int nor a float of Python. */
static __attribute__((noinline)) uint8_t read_other_number(uint8_t wanted, PyObject *value, void *place)
{
    PyTypeObject *type = Py_TYPE(value);
    if (type == known.scalar) return read_typed(value, place);
    if (type == &PyBool_Type && wanted == CODE_BOOL) {
        *(unsigned char *)place = value == Py_True;
        return CODE_BOOL;
    }
    return read_foreign(value, place);
}

INLINE uint8_t read_number(uint8_t wanted, PyObject *value, void *place)
{
    PyTypeObject *type = Py_TYPE(value);
    if (type == &PyLong_Type) return read_integer(wanted, value, place);
    if (type == &PyFloat_Type) return read_float(wanted, PyFloat_AS_DOUBLE(value), place);
    return read_other_number(wanted, value, place);
}

/* Memory of this backend that is alive; whether an address lies in it is the caller's to know. */
INLINE BlockState *live_block(Gate *gate, PyObject *allocation)
{
    if (UNLIKELY(!allocation || Py_TYPE(allocation) != known.allocation)) return NULL;
    BlockState *block = (BlockState *)((AllocationState *)allocation)->block;
    if (UNLIKELY(!block || block->ledger != gate->ledger || (!block->is_plain && !is_alive(block)))) return NULL;
    return block;
}

/* Some devices bind memory at certain offsets alone. */
INLINE bool is_bindable(Gate *gate, BlockState *block, uint64_t address)
{
    return LIKELY(gate->offset_alignment <= 1) || (address - block->base) % gate->offset_alignment == 0;
}

/* The code of a buffer's elements; CODE_NONE for untyped ones, CODE_COUNT where Python has to look. */
INLINE uint8_t element_of(const BufferState *buffer, uint8_t likely)
{
    PyObject *scalar = buffer->scalar;
    if (!scalar || scalar == Py_None) return CODE_NONE;
    if (LIKELY(likely > CODE_POINTER && known.types[likely - CODE_POINTER] == scalar)) return likely - CODE_POINTER;
    uint8_t element = code_of_type(scalar);
    return element == CODE_NONE ? CODE_COUNT : element;
}

/* `likely`: the code that it may be found to have, which is then found at once. */
INLINE uint8_t read_pointer(Gate *gate, uint8_t likely, PyObject *value, void *place, BlockState **block)
{
    PyTypeObject *type = Py_TYPE(value);
    /* Of a backend in trouble no pointer is taken. */
    if (UNLIKELY(gate->closed)) return CODE_NONE;
    if (LIKELY(type == known.device_buffer)) {
        BufferState *buffer = (BufferState *)value;
        *block = live_block(gate, buffer->allocation);
        if (UNLIKELY(!*block || !buffer->address)) return CODE_NONE; /* a buffer of no bytes has no address */
        if (UNLIKELY(!is_bindable(gate, *block, buffer->address))) return CODE_NONE;
        uint8_t element = element_of(buffer, likely);
        if (UNLIKELY(element == CODE_COUNT)) return CODE_NONE;
        memcpy(place, &buffer->address, 8);
        return CODE_POINTER + element;
    }
    if (type == known.device_pointer) {
        PointerState *pointer = (PointerState *)value;
        *block = live_block(gate, pointer->allocation);
        if (!*block || pointer->address - (*block)->base >= (*block)->nbytes) return CODE_NONE;
        if (UNLIKELY(!is_bindable(gate, *block, pointer->address))) return CODE_NONE;
        memcpy(place, &pointer->address, 8);
        return CODE_POINTER;
    }
    if (value == Py_None && gate->null_pointers) {
        *block = NULL;
        memset(place, 0, 8);
        return CODE_POINTER;
    }
    return CODE_NONE;
}

/* Reads a value for a place that wants `wanted` (CODE_NONE: only what carries its own type), and writes its bytes.
 * What it was read as, most quickly if that is `likely`; CODE_NONE where Python reads it. Never raises. `block` is set
 * for a pointer. */
INLINE uint8_t read_as(Gate *gate, uint8_t wanted, uint8_t likely, PyObject *value, void *place, BlockState **block)
{
    *block = NULL;
    if (wanted >= CODE_POINTER) return read_pointer(gate, likely, value, place, block);
    uint8_t code = read_number(wanted, value, place);
    if (LIKELY(code != CODE_NONE) || wanted != CODE_NONE) return code;
    return read_pointer(gate, likely, value, place, block);
}

INLINE uint8_t read_into(Gate *gate, uint8_t wanted, PyObject *value, void *place, BlockState **block)
{
    return read_as(gate, wanted, wanted, value, place, block);
}

/* The hold on the memory that a pointer, which was read, names; NULL for null. Borrowed. */
static inline PyObject *allocation_of(PyObject *value)
{
    if (Py_TYPE(value) == known.device_buffer) return ((BufferState *)value)->allocation;
    if (Py_TYPE(value) == known.device_pointer) return ((PointerState *)value)->allocation;
    return NULL;
}

/* ---------------------------------------------------------------- what the package tells once */

static Py_ssize_t slot_offset(PyObject *type, const char *name)
{
    PyObject *descriptor = PyObject_GetAttrString(type, name);
    if (!descriptor) return -1;
    Py_ssize_t offset = -1;
    if (Py_TYPE(descriptor) == &PyMemberDescr_Type)
        offset = ((PyMemberDescrObject *)descriptor)->d_member->offset;
    else
        PyErr_Format(PyExc_TypeError, "%R.%s is no slot", type, name);
    Py_DECREF(descriptor);
    return offset;
}

static PyObject *know_scalars(PyObject *self, PyObject *arguments)
{
    PyObject *type, *types;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyType_Type, &type, &PyTuple_Type, &types)) return NULL;
    if (PyTuple_GET_SIZE(types) != CODE_COUNT - 1) {
        PyErr_SetString(PyExc_ValueError, "one ScalarType for each code");
        return NULL;
    }
    known.scalar_type = slot_offset(type, "type");
    known.scalar_data = slot_offset(type, "data");
    if (known.scalar_type < 0 || known.scalar_data < 0) return NULL;
    for (int code = 1; code < CODE_COUNT; code++)
        Py_XSETREF(known.types[code], Py_NewRef(PyTuple_GET_ITEM(types, code - 1)));
    known.scalar = (PyTypeObject *)Py_NewRef(type);
    Py_RETURN_NONE;
}

#define KNOW_BASE(function, field, base)                                                              \
    static PyObject *function(PyObject *self, PyObject *type)                                         \
    {                                                                                                 \
        (void)self;                                                                                   \
        if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, &base)) {                  \
            PyErr_SetString(PyExc_TypeError, "not a class on this base");                             \
            return NULL;                                                                              \
        }                                                                                             \
        known.field = (PyTypeObject *)Py_NewRef(type);                                                \
        return Py_NewRef(type);                                                                       \
    }
KNOW_BASE(know_pointer, device_pointer, PointerState_Type)
KNOW_BASE(know_buffer, device_buffer, BufferState_Type)
KNOW_BASE(know_allocation, allocation, AllocationState_Type)

static PyObject *know_stream(PyObject *self, PyObject *type)
{
    (void)self;
    known.stream_lane = slot_offset(type, "_lane");
    known.stream_gpu = slot_offset(type, "_gpu");
    if (known.stream_lane < 0 || known.stream_gpu < 0) return NULL;
    known.stream = (PyTypeObject *)Py_NewRef(type);
    return Py_NewRef(type);
}

static PyObject *know_birth(PyObject *self, PyObject *type)
{
    (void)self;
    known.birth_lane = slot_offset(type, "lane");
    if (known.birth_lane < 0) return NULL;
    known.birth = (PyTypeObject *)Py_NewRef(type);
    return Py_NewRef(type);
}

static PyObject *know_typed(PyObject *self, PyObject *arguments)
{
    IN_CORE;
    PyObject *value;
    int code;
    const char *data;
    Py_ssize_t nbytes;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "Oiy#", &value, &code, &data, &nbytes)) return NULL;
    PyTypeObject *type = Py_TYPE(value);
    /* A class that keeps its values elsewhere is left to Python. */
    if (code <= CODE_NONE || code >= CODE_COUNT || nbytes != code_nbytes[code] || typed_count == MOST_TYPED ||
        type->tp_basicsize < (Py_ssize_t)sizeof(PyObject) + nbytes ||
        memcmp((char *)value + sizeof(PyObject), data, (size_t)nbytes))
        Py_RETURN_NONE;
    for (int at = 0; at < typed_count; at++)
        if (typed_classes[at].type == type) Py_RETURN_NONE;
    typed_classes[typed_count].type = (PyTypeObject *)Py_NewRef(type);
    typed_classes[typed_count++].code = (uint8_t)code;
    Py_RETURN_NONE;
}

/* For tests: what the core makes of one scalar, or None where it leaves it to Python. */
static PyObject *encoded(PyObject *self, PyObject *arguments)
{
    int wanted;
    PyObject *value;
    unsigned char place[16];
    (void)self;
    if (!PyArg_ParseTuple(arguments, "iO", &wanted, &value)) return NULL;
    if (wanted < 0 || wanted >= CODE_POINTER) {
        PyErr_SetString(PyExc_ValueError, "no code of a value");
        return NULL;
    }
    uint8_t code = read_number((uint8_t)wanted, value, place);
    if (code == CODE_NONE) Py_RETURN_NONE;
    return Py_BuildValue("iy#", code, place, (Py_ssize_t)code_nbytes[code]);
}

static PyMethodDef encode_functions[] = {
    {"know_scalars", know_scalars, METH_VARARGS, "Tell the class of typed values and the scalar type of each code."},
    {"know_pointer", know_pointer, METH_O, "Tell the class of device pointers."},
    {"know_buffer", know_buffer, METH_O, "Tell the class of device buffers."},
    {"know_allocation", know_allocation, METH_O, "Tell the class of allocations."},
    {"know_typed", know_typed, METH_VARARGS,
     "Tell that values of this one's class are a scalar type's bytes as they lie in memory."},
    {"know_stream", know_stream, METH_O, "Tell the class of streams."},
    {"know_birth", know_birth, METH_O, "Tell the class of what says where memory was allocated in a stream's order."},
    {"encoded", encoded, METH_VARARGS, "(code, bytes) of a scalar for a place of this code; None: Python reads it."},
    {NULL, NULL, 0, NULL},
};

int encode_setup(PyObject *module) { return PyModule_AddFunctions(module, encode_functions); }
