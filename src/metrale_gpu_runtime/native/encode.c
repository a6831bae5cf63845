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

static uint8_t code_of_type(PyObject *type)
{
    for (uint8_t code = CODE_U8; code < CODE_COUNT; code++)
        if (known.types[code] == type) return code;
    return CODE_NONE;
}

static bool read_int(PyObject *value, int64_t *number)
{
    int overflow;
    long long read = PyLong_AsLongLongAndOverflow(value, &overflow);
    *number = read;
    return !overflow;
}

static outcome read_integer(uint8_t code, PyObject *value, Read *read)
{
    int64_t number;
    if (!read_int(value, &number)) {
        if (code != CODE_U64) return PYTHON;
        unsigned long long large = PyLong_AsUnsignedLongLong(value);
        if (large == (unsigned long long)-1 && PyErr_Occurred()) {
            PyErr_Clear();
            return PYTHON;
        }
        read->u64 = large;
        return DONE;
    }
    bool fits;
    switch (code) {
    case CODE_U8: fits = number >= 0 && number <= UINT8_MAX; break;
    case CODE_U16: fits = number >= 0 && number <= UINT16_MAX; break;
    case CODE_U32: fits = number >= 0 && number <= UINT32_MAX; break;
    case CODE_U64: fits = number >= 0; break;
    case CODE_I8: fits = number >= INT8_MIN && number <= INT8_MAX; break;
    case CODE_I16: fits = number >= INT16_MIN && number <= INT16_MAX; break;
    case CODE_I32: fits = number >= INT32_MIN && number <= INT32_MAX; break;
    case CODE_I64: fits = true; break;
    /* Both readings, signed and unsigned. */
    case CODE_INT16: fits = number >= 0 && number <= INT16_MAX; break;
    case CODE_INT32: fits = number >= 0 && number <= INT32_MAX; break;
    case CODE_INT64: fits = number >= 0; break;
    default: fits = false;
    }
    if (!fits) return PYTHON;
    read->u64 = (uint64_t)number;
    return DONE;
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
    /* Exact: a double has more fraction bits than any of these, and nearbyint rounds to even. */
    double count = nearbyint(ldexp(value, -unit));
    int64_t whole = (int64_t)count;
    int64_t biased = unit + fraction_bits + bias; /* of a normal number */
    int64_t bits = whole < ((int64_t)1 << fraction_bits) ? whole : ((biased - 1) << fraction_bits) + whole;
    return sign | (uint16_t)(bits >= infinity ? infinity : bits);
}

static outcome read_float(uint8_t code, double value, Read *read)
{
    if (UNLIKELY(value != value)) return PYTHON; /* a NaN's bits are Python's to choose */
    switch (code) {
    case CODE_F32: {
        float narrow = (float)value;
        memcpy(read->bytes, &narrow, 4);
        return DONE;
    }
    case CODE_F64: memcpy(read->bytes, &value, 8); return DONE;
    case CODE_F16: {
        uint16_t bits = round_to_16(value, 5, 10);
        memcpy(read->bytes, &bits, 2);
        return DONE;
    }
    case CODE_BF16: {
        uint16_t bits = round_to_16(value, 8, 7);
        memcpy(read->bytes, &bits, 2);
        return DONE;
    }
    default: return PYTHON;
    }
}

outcome read_scalar(uint8_t code, PyObject *value, Read *read)
{
    PyTypeObject *type = Py_TYPE(value);
    read->block = NULL;
    read->code = code;
    if (type == &PyLong_Type) {
        if (code >= CODE_F16 && code <= CODE_F64) {
            int64_t number;
            /* Up to here every int is a double, which is then rounded once. */
            if (!read_int(value, &number) || number > (1LL << 53) || number < -(1LL << 53)) return PYTHON;
            return read_float(code, (double)number, read);
        }
        return read_integer(code, value, read);
    }
    if (type == &PyFloat_Type) return read_float(code, PyFloat_AS_DOUBLE(value), read);
    if (type == &PyBool_Type) {
        if (code != CODE_BOOL) return PYTHON;
        read->u64 = value == Py_True;
        return DONE;
    }
    if (type == known.scalar) {
        PyObject *data = SLOT_AT(value, known.scalar_data);
        uint8_t own = code_of_type(SLOT_AT(value, known.scalar_type));
        if (own == CODE_NONE || !data || !PyBytes_CheckExact(data)) return PYTHON;
        uint8_t nbytes = code_nbytes[own];
        if (PyBytes_GET_SIZE(data) != nbytes) return PYTHON;
        read->code = own;
        memcpy(read->bytes, PyBytes_AS_STRING(data), nbytes);
        return DONE;
    }
    return PYTHON;
}

/* Memory of this backend that is alive; whether `address` lies in it is the caller's to know. */
static BlockState *live_block(Gate *gate, PyObject *allocation)
{
    if (UNLIKELY(!allocation || Py_TYPE(allocation) != known.allocation)) return NULL;
    BlockState *block = (BlockState *)((AllocationState *)allocation)->block;
    if (UNLIKELY(!block || block->ledger != gate->ledger || !block->gone || !is_empty_text(block->gone))) return NULL;
    return block;
}

outcome read_pointer(Gate *gate, PyObject *value, Read *read)
{
    PyTypeObject *type = Py_TYPE(value);
    if (type == known.device_buffer) {
        BufferState *buffer = (BufferState *)value;
        BlockState *block = live_block(gate, buffer->allocation);
        if (UNLIKELY(!block || !buffer->address)) return PYTHON; /* a buffer of no bytes has no address */
        uint8_t element = CODE_NONE;
        if (buffer->scalar && buffer->scalar != Py_None) {
            element = code_of_type(buffer->scalar);
            if (element == CODE_NONE) return PYTHON;
        }
        read->code = CODE_POINTER + element;
        read->u64 = buffer->address;
        read->block = block;
        read->allocation = buffer->allocation;
        return DONE;
    }
    if (type == known.device_pointer) {
        PointerState *pointer = (PointerState *)value;
        BlockState *block = live_block(gate, pointer->allocation);
        if (!block) return PYTHON;
        uint64_t offset = pointer->address - block->base;
        if (offset >= block->nbytes) return PYTHON;
        read->code = CODE_POINTER;
        read->u64 = pointer->address;
        read->block = block;
        read->allocation = pointer->allocation;
        return DONE;
    }
    if (value == Py_None && gate->null_pointers) {
        read->code = CODE_POINTER;
        read->u64 = 0;
        read->block = NULL;
        return DONE;
    }
    return PYTHON;
}

outcome read_value(Gate *gate, uint8_t wanted, PyObject *value, Read *read)
{
    if (wanted >= CODE_POINTER) return read_pointer(gate, value, read);
    outcome result = read_scalar(wanted, value, read);
    if (result == DONE || wanted != CODE_NONE) return result;
    return read_pointer(gate, value, read);
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

/* For tests: what the core makes of one scalar, or None where it leaves it to Python. */
static PyObject *encoded(PyObject *self, PyObject *arguments)
{
    int code;
    PyObject *value;
    Read read = {0};
    (void)self;
    if (!PyArg_ParseTuple(arguments, "iO", &code, &value)) return NULL;
    if (code < 0 || code >= CODE_POINTER) {
        PyErr_SetString(PyExc_ValueError, "no code of a value");
        return NULL;
    }
    if (read_scalar((uint8_t)code, value, &read) != DONE) Py_RETURN_NONE;
    return Py_BuildValue("iy#", read.code, read.bytes, (Py_ssize_t)code_nbytes[read.code]);
}

static PyMethodDef encode_functions[] = {
    {"know_scalars", know_scalars, METH_VARARGS, "Tell the class of typed values and the scalar type of each code."},
    {"know_pointer", know_pointer, METH_O, "Tell the class of device pointers."},
    {"know_buffer", know_buffer, METH_O, "Tell the class of device buffers."},
    {"know_allocation", know_allocation, METH_O, "Tell the class of allocations."},
    {"know_stream", know_stream, METH_O, "Tell the class of streams."},
    {"know_birth", know_birth, METH_O, "Tell the class of what says where memory was allocated in a stream's order."},
    {"encoded", encoded, METH_VARARGS, "(code, bytes) of a scalar for a place of this code; None: Python reads it."},
    {NULL, NULL, 0, NULL},
};

int encode_setup(PyObject *module) { return PyModule_AddFunctions(module, encode_functions); }
