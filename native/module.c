/* krein._native: feature maps by the fastest instructions that this processor has.

   Arrays come through the buffer protocol, so that numpy is not needed to build this. A Map copies what it is made of,
   never changes afterwards, and works without the interpreter lock: any number of threads may call it at once. What a
   caller hands over is checked here, whatever Python code has checked before: a wrong call raises, it never writes
   outside an array. Overlap of x and out is the caller's business. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "kernels.h"

#define ADD(name) extern const struct kernels krein_##name##_float, krein_##name##_double;
ADD(baseline)
#ifdef HAVE_AVX2
ADD(avx2)
#endif
#ifdef HAVE_AVX512
ADD(avx512)
#endif

/* ---- instruction sets, the best first ---- */

struct instructions {
    const struct kernels *of_float, *of_double;
};

static struct instructions available[3];
static size_t n_available;

static void find_instructions(void) {
    n_available = 0;
#ifdef HAVE_AVX512
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        available[n_available++] = (struct instructions){&krein_avx512_float, &krein_avx512_double};
#endif
#ifdef HAVE_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        available[n_available++] = (struct instructions){&krein_avx2_float, &krein_avx2_double};
#endif
    available[n_available++] = (struct instructions){&krein_baseline_float, &krein_baseline_double};
}

static const struct kernels *kernels_of(const char *name, char format) {
    for (size_t i = 0; i < n_available; i++)
        if (!strcmp(name, available[i].of_float->instructions))
            return format == 'f' ? available[i].of_float : available[i].of_double;
    PyErr_Format(PyExc_ValueError, "instructions must be one of krein._native.INSTRUCTIONS; got '%s'.", name);
    return NULL;
}

/* ---- arrays ---- */

static size_t itemsize(char format) { return format == 'f' ? sizeof(float) : sizeof(double); }

/* A view of an array of one of the formats in `formats`, aligned, with `ndim` axes of which the last is contiguous. */
static int get_array(PyObject *object, Py_buffer *view, const char *name, const char *formats, int ndim, int flags) {
    if (PyObject_GetBuffer(object, view, PyBUF_STRIDES | PyBUF_FORMAT | flags) < 0)
        return -1;
    const char *format = view->format ? view->format : "B";
    size_t size = (size_t)view->itemsize;
    if (!format[0] || format[1] || !strchr(formats, format[0])) {
        PyErr_Format(PyExc_TypeError, "%s must have one of the formats '%s'; got '%s'.", name, formats, format);
    } else if (view->ndim != ndim) {
        PyErr_Format(PyExc_ValueError, "%s must have %d axes; got %d.", name, ndim, view->ndim);
    } else if (view->shape[ndim - 1] > 1 && view->strides[ndim - 1] != view->itemsize) {
        PyErr_Format(PyExc_ValueError, "%s must be contiguous along its last axis.", name);
    } else if ((uintptr_t)view->buf % size || (ndim > 1 && view->strides[0] % view->itemsize)) {
        PyErr_Format(PyExc_ValueError, "%s must be aligned to its items.", name);
    } else {
        return 0;
    }
    PyBuffer_Release(view);
    return -1;
}

/* The same with all axes contiguous. */
static int get_contiguous(PyObject *object, Py_buffer *view, const char *name, const char *formats, int ndim) {
    if (get_array(object, view, name, formats, ndim, 0) < 0)
        return -1;
    if (PyBuffer_IsContiguous(view, 'C'))
        return 0;
    PyErr_Format(PyExc_ValueError, "%s must be C-contiguous.", name);
    PyBuffer_Release(view);
    return -1;
}

static Py_ssize_t row_stride(const Py_buffer *view) {
    return view->shape[0] > 1 ? view->strides[0] / view->itemsize : 0;
}

/* Zeroed, aligned memory of n * m numbers of `size` bytes after what came before; *owner is to be freed. */
static void *aligned_zeros(size_t n, size_t m, size_t size, void **owner) {
    size_t bytes;
    *owner = NULL;
    if (__builtin_mul_overflow(n, m, &bytes) || __builtin_mul_overflow(bytes, size, &bytes) ||
        bytes > (size_t)PY_SSIZE_T_MAX - ALIGNMENT || !(*owner = PyMem_RawCalloc(bytes + ALIGNMENT, 1)))
        return PyErr_NoMemory();
    return (void *)(((uintptr_t)*owner + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

/* ---- the type Map ---- */

enum { AMPLITUDES, PHASES, WEIGHTS, SCALES, BLOCKS, PERMUTATION, N_OWNED };

typedef struct {
    PyObject_HEAD
    struct map map;
    const struct kernels *kernels;
    map_rows *rows;
    work_size *work;
    char format; /* 'f' or 'd' */
    void *owned[N_OWNED];
} Map;

static PyTypeObject *map_type;

static void map_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    for (int i = 0; i < N_OWNED; i++) PyMem_RawFree(((Map *)self)->owned[i]);
    type->tp_free(self);
    Py_DECREF(type);
}

/* A copy of a vector of `count` numbers, padded with zeros: a panel that begins at any of them can be read. */
static void *padded_copy(Map *self, int which, const Py_buffer *view) {
    size_t size = itemsize(self->format), panel = self->kernels->panel, count = (size_t)view->shape[0];
    void *copy = aligned_zeros(count / panel + 2, panel, size, &self->owned[which]);
    if (copy)
        memcpy(copy, view->buf, count * size);
    return copy;
}

static int get_vector(Map *self, PyObject *object, const char *name, int which, void **place) {
    Py_buffer view;
    char format[2] = {self->format, 0};
    if (get_contiguous(object, &view, name, format, 1) < 0)
        return -1;
    if ((size_t)view.shape[0] != self->map.count)
        PyErr_Format(PyExc_ValueError, "%s must have length %zu; got %zd.", name, self->map.count, view.shape[0]);
    else
        *place = padded_copy(self, which, &view);
    PyBuffer_Release(&view);
    return *place ? 0 : -1;
}

/* A map with all but its angles: amplitudes give its precision and the number of its frequencies. */
static Map *new_map(const char *instructions, PyObject *amplitudes, PyObject *phases, PyObject *constant) {
    Py_buffer view;
    if (get_contiguous(amplitudes, &view, "amplitudes", "fd", 1) < 0)
        return NULL;
    char format = view.format[0];
    size_t count = (size_t)view.shape[0];
    PyBuffer_Release(&view);
    if (count == 0 || count > (size_t)PY_SSIZE_T_MAX / 64)
        return (Map *)PyErr_Format(PyExc_ValueError, "amplitudes must have at least 1 entry; got %zu.", count);
    const struct kernels *kernels = kernels_of(instructions, format);
    Map *self = kernels ? (Map *)map_type->tp_alloc(map_type, 0) : NULL;
    if (!self)
        return NULL;
    self->kernels = kernels;
    self->format = format;
    struct map *map = &self->map;
    map->count = count;
    map->has_constant = constant != Py_None;
    map->columns = count * (phases == Py_None ? 2 : 1) + (size_t)map->has_constant;
    if (map->has_constant)
        map->constant = PyFloat_AsDouble(constant);
    if (PyErr_Occurred() || get_vector(self, amplitudes, "amplitudes", AMPLITUDES, &map->amplitudes) < 0 ||
        (phases != Py_None && get_vector(self, phases, "phases", PHASES, &map->phases) < 0)) {
        Py_DECREF(self);
        return NULL;
    }
    return self;
}

PyDoc_STRVAR(angles_doc, "angles(instructions, amplitudes, phases, constant)\n--\n\nMap of angles in radians.");

static PyObject *angles(PyObject *Py_UNUSED(module), PyObject *arguments) {
    const char *instructions;
    PyObject *amplitudes, *phases, *constant;
    if (!PyArg_ParseTuple(arguments, "sOOO:angles", &instructions, &amplitudes, &phases, &constant))
        return NULL;
    Map *self = new_map(instructions, amplitudes, phases, constant);
    if (!self)
        return NULL;
    self->map.dim = self->map.count;
    self->rows = self->kernels->angles;
    self->work = self->kernels->angles_work;
    return (PyObject *)self;
}

PyDoc_STRVAR(dense_doc, "dense(instructions, amplitudes, phases, constant, weights)\n--\n\n"
                        "Map of rows by a matrix of shape (frequencies, dim), in half turns.");

static PyObject *dense(PyObject *Py_UNUSED(module), PyObject *arguments) {
    const char *instructions;
    PyObject *amplitudes, *phases, *constant, *weights;
    if (!PyArg_ParseTuple(arguments, "sOOOO:dense", &instructions, &amplitudes, &phases, &constant, &weights))
        return NULL;
    Map *self = new_map(instructions, amplitudes, phases, constant);
    if (!self)
        return NULL;
    struct map *map = &self->map;
    Py_buffer view;
    char format[2] = {self->format, 0};
    if (get_contiguous(weights, &view, "weights", format, 2) < 0)
        goto failed;
    size_t panel = self->kernels->panel, n_panels = (map->count + panel - 1) / panel;
    map->dim = (size_t)view.shape[1];
    if ((size_t)view.shape[0] != map->count || map->dim == 0)
        PyErr_Format(PyExc_ValueError, "weights must have shape (%zu, at least 1); got (%zd, %zd).", map->count,
                     view.shape[0], view.shape[1]);
    else if ((map->weights = aligned_zeros(n_panels * panel, map->dim, itemsize(self->format), &self->owned[WEIGHTS])))
        self->kernels->pack(view.buf, map->count, map->dim, map->weights);
    PyBuffer_Release(&view);
    if (!map->weights)
        goto failed;
    self->rows = self->kernels->dense;
    self->work = self->kernels->dense_work;
    return (PyObject *)self;
failed:
    Py_DECREF(self);
    return NULL;
}

/* Blocks from their numbers of frequencies, each at most the length of a transform; -1 with an exception. */
static int get_blocks(Map *self, PyObject *widths) {
    struct map *map = &self->map;
    Py_ssize_t n = PyTuple_GET_SIZE(widths);
    void *blocks = aligned_zeros((size_t)n, 1, sizeof(struct block), &self->owned[BLOCKS]);
    if (!blocks)
        return -1;
    map->blocks = blocks;
    size_t start = 0;
    for (Py_ssize_t b = 0; b < n; b++) {
        Py_ssize_t width = PyLong_AsSsize_t(PyTuple_GET_ITEM(widths, b));
        if (PyErr_Occurred())
            return -1;
        if (width < 0 || (size_t)width > map->padded || (size_t)width > map->count - start) {
            PyErr_Format(PyExc_ValueError, "widths must be 0 to %zu with sum %zu; got %zd.", map->padded, map->count, width);
            return -1;
        }
        map->blocks[b].start = start;
        map->blocks[b].stop = start += (size_t)width;
    }
    if (start == map->count && (size_t)n == map->n_blocks)
        return 0;
    PyErr_Format(PyExc_ValueError, "widths must be %zu with sum %zu; got %zd with sum %zu.", map->n_blocks, map->count, n, start);
    return -1;
}

static int get_diagonals(Map *self, PyObject *diagonals) {
    struct map *map = &self->map;
    Py_buffer view;
    char format[2] = {self->format, 0};
    if (get_contiguous(diagonals, &view, "diagonals", format, 3) < 0)
        return -1;
    map->n_blocks = (size_t)view.shape[0];
    map->n_stages = (size_t)view.shape[1];
    map->padded = (size_t)view.shape[2];
    if (map->padded < 64 || map->padded & (map->padded - 1) || map->padded > INT32_MAX || map->dim > map->padded ||
        map->n_stages == 0 || map->dim == 0)
        PyErr_Format(PyExc_ValueError, "diagonals must have shape (blocks, at least 1, a power of two >= 64 and dim); got "
                     "(%zu, %zu, %zu) and dim %zu.", map->n_blocks, map->n_stages, map->padded, map->dim);
    else if ((map->weights = aligned_zeros((size_t)view.len, 1, 1, &self->owned[WEIGHTS])))
        memcpy(map->weights, view.buf, (size_t)view.len);
    PyBuffer_Release(&view);
    return map->weights ? 0 : -1;
}

static int get_permutation(Map *self, PyObject *permutation) {
    struct map *map = &self->map;
    Py_buffer view;
    if (get_contiguous(permutation, &view, "permutation", "i", 2) < 0)
        return -1;
    size_t n = (size_t)view.shape[0] * (size_t)view.shape[1];
    int inside = (size_t)view.shape[0] == map->n_blocks && (size_t)view.shape[1] == map->padded &&
                 view.itemsize == sizeof(int32_t);
    for (size_t i = 0; inside && i < n; i++)
        inside = ((int32_t *)view.buf)[i] >= 0 && (size_t)((int32_t *)view.buf)[i] < map->padded;
    if (!inside)
        PyErr_Format(PyExc_ValueError, "permutation must have shape (%zu, %zu) and entries in the last axis.",
                     map->n_blocks, map->padded);
    else if ((map->permutation = aligned_zeros(n, 1, sizeof(int32_t), &self->owned[PERMUTATION])))
        memcpy(map->permutation, view.buf, n * sizeof(int32_t));
    PyBuffer_Release(&view);
    return map->permutation ? 0 : -1;
}

PyDoc_STRVAR(hadamard_doc, "hadamard(instructions, amplitudes, phases, constant, dim, diagonals, permutation, scales, widths)\n--\n\n"
                           "Map of rows by blocks of Hadamard transforms and diagonals.");

static PyObject *hadamard(PyObject *Py_UNUSED(module), PyObject *arguments) {
    const char *instructions;
    PyObject *amplitudes, *phases, *constant, *diagonals, *permutation, *scales, *widths;
    Py_ssize_t dim;
    if (!PyArg_ParseTuple(arguments, "sOOOnOOOO!:hadamard", &instructions, &amplitudes, &phases, &constant, &dim, &diagonals,
                          &permutation, &scales, &PyTuple_Type, &widths))
        return NULL;
    if (dim < 1)
        return PyErr_Format(PyExc_ValueError, "dim must be at least 1; got %zd.", dim);
    Map *self = new_map(instructions, amplitudes, phases, constant);
    if (!self)
        return NULL;
    self->map.dim = (size_t)dim;
    if (get_diagonals(self, diagonals) < 0 || get_blocks(self, widths) < 0 ||
        get_vector(self, scales, "scales", SCALES, &self->map.scales) < 0 ||
        (permutation != Py_None && get_permutation(self, permutation) < 0)) {
        Py_DECREF(self);
        return NULL;
    }
    self->rows = self->kernels->hadamard;
    self->work = self->kernels->hadamard_work;
    return (PyObject *)self;
}

/* ---- calls ---- */

/* n rows, without the lock where they are many; whether they are finite, or -1 with an exception. */
static int run(Map *self, const void *x, Py_ssize_t x_stride, void *out, Py_ssize_t out_stride, size_t n, int stream) {
    char small[8192];
    size_t bytes = self->work(&self->map, n);
    char *owner = small;
    int finite;
    if (bytes + ALIGNMENT > sizeof small && !(owner = PyMem_RawMalloc(bytes + ALIGNMENT))) {
        PyErr_NoMemory();
        return -1;
    }
    void *work = (void *)(((uintptr_t)owner + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (n == 1) {
        finite = self->rows(&self->map, x, x_stride, out, out_stride, n, stream, work);
    } else {
        Py_BEGIN_ALLOW_THREADS
        finite = self->rows(&self->map, x, x_stride, out, out_stride, n, stream, work);
        Py_END_ALLOW_THREADS
    }
    if (owner != small)
        PyMem_RawFree(owner);
    return finite;
}

PyDoc_STRVAR(rows_doc, "rows($self, x, out, stream, /)\n--\n\n"
                       "Write the columns of the rows x into out; with stream past the caches, where it is aligned.\n"
                       "Return whether all entries of x are finite.");

static PyObject *map_rows_method(PyObject *object, PyObject *const *arguments, Py_ssize_t n_arguments) {
    Map *self = (Map *)object;
    if (n_arguments != 3)
        return PyErr_Format(PyExc_TypeError, "rows takes x, out and stream; got %zd arguments.", n_arguments);
    int stream = PyObject_IsTrue(arguments[2]);
    char format[2] = {self->format, 0};
    Py_buffer x, out;
    if (stream < 0 || get_array(arguments[0], &x, "x", format, 2, 0) < 0)
        return NULL;
    if (get_array(arguments[1], &out, "out", format, 2, PyBUF_WRITABLE) < 0) {
        PyBuffer_Release(&x);
        return NULL;
    }
    int finite = -1;
    if ((size_t)x.shape[1] != self->map.dim || (size_t)out.shape[1] != self->map.columns || x.shape[0] != out.shape[0])
        PyErr_Format(PyExc_ValueError, "x must have shape (n, %zu) and out (n, %zu); got (%zd, %zd) and (%zd, %zd).",
                     self->map.dim, self->map.columns, x.shape[0], x.shape[1], out.shape[0], out.shape[1]);
    else if (x.shape[0] == 0)
        finite = 1;
    else
        finite = run(self, x.buf, row_stride(&x), out.buf, row_stride(&out), (size_t)x.shape[0], stream);
    PyBuffer_Release(&out);
    PyBuffer_Release(&x);
    return finite < 0 ? NULL : PyBool_FromLong(finite);
}

PyDoc_STRVAR(row_doc, "row($self, x, out, /)\n--\n\nWrite the columns of the one row x into out, both with one axis.");

static PyObject *map_row_method(PyObject *object, PyObject *const *arguments, Py_ssize_t n_arguments) {
    Map *self = (Map *)object;
    if (n_arguments != 2)
        return PyErr_Format(PyExc_TypeError, "row takes x and out; got %zd arguments.", n_arguments);
    char format[2] = {self->format, 0};
    Py_buffer x, out;
    if (get_array(arguments[0], &x, "x", format, 1, 0) < 0)
        return NULL;
    if (get_array(arguments[1], &out, "out", format, 1, PyBUF_WRITABLE) < 0) {
        PyBuffer_Release(&x);
        return NULL;
    }
    int status = -1;
    if ((size_t)x.shape[0] != self->map.dim || (size_t)out.shape[0] != self->map.columns)
        PyErr_Format(PyExc_ValueError, "x must have length %zu and out %zu; got %zd and %zd.", self->map.dim,
                     self->map.columns, x.shape[0], out.shape[0]);
    else
        status = run(self, x.buf, 0, out.buf, 0, 1, 0);
    PyBuffer_Release(&out);
    PyBuffer_Release(&x);
    if (status < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef map_methods[] = {
    {"rows", (PyCFunction)(void (*)(void))map_rows_method, METH_FASTCALL, rows_doc},
    {"row", (PyCFunction)(void (*)(void))map_row_method, METH_FASTCALL, row_doc},
    {NULL, NULL, 0, NULL},
};

PyDoc_STRVAR(map_doc, "A feature map of one precision and one instruction set; made by dense, hadamard and angles.");

static PyType_Slot map_slots[] = {
    {Py_tp_dealloc, map_dealloc},
    {Py_tp_methods, map_methods},
    {Py_tp_doc, (void *)map_doc},
    {0, NULL},
};

static PyType_Spec map_spec = {
    .name = "krein._native.Map",
    .basicsize = sizeof(Map),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = map_slots,
};

/* ---- the Gram matrix ---- */

PyDoc_STRVAR(gram_doc, "gram(instructions, z, w, g, first, last)\n--\n\n"
                       "Add z^T diag(w) z to the rows from first to last of g, on and below its diagonal.");

static PyObject *gram(PyObject *Py_UNUSED(module), PyObject *arguments) {
    const char *instructions;
    PyObject *z_object, *w_object, *g_object;
    Py_ssize_t first, last;
    if (!PyArg_ParseTuple(arguments, "sOOOnn:gram", &instructions, &z_object, &w_object, &g_object, &first, &last))
        return NULL;
    const struct kernels *kernels = kernels_of(instructions, 'd');
    Py_buffer z, g, w = {0};
    if (!kernels || get_array(z_object, &z, "z", "d", 2, 0) < 0)
        return NULL;
    int status = get_array(g_object, &g, "g", "d", 2, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS);
    if (status == 0 && w_object != Py_None && (status = get_contiguous(w_object, &w, "w", "d", 1)) < 0)
        PyBuffer_Release(&g);
    if (status < 0) {
        PyBuffer_Release(&z);
        return NULL;
    }
    void *owner = NULL, *work = NULL;
    if (g.shape[0] != g.shape[1] || z.shape[1] != g.shape[1] || (w.buf && w.shape[0] != z.shape[0]) || first < 0 ||
        last < first || last > g.shape[0])
        PyErr_SetString(PyExc_ValueError, "z must have shape (n, m), w (n,), g (m, m), and 0 <= first <= last <= m.");
    else if (!(owner = PyMem_RawMalloc(kernels->gram_work((size_t)g.shape[0]) + ALIGNMENT)))
        PyErr_NoMemory();
    else
        work = (void *)(((uintptr_t)owner + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (work) {
        Py_BEGIN_ALLOW_THREADS
        kernels->gram(z.buf, row_stride(&z), w.buf, (size_t)z.shape[0], (size_t)g.shape[0], g.buf, (size_t)first,
                      (size_t)last, work);
        Py_END_ALLOW_THREADS
    }
    PyMem_RawFree(owner);
    PyBuffer_Release(&w); /* does nothing where there is none */
    PyBuffer_Release(&g);
    PyBuffer_Release(&z);
    if (!work)
        return NULL;
    Py_RETURN_NONE;
}

/* ---- limits of the machine ---- */

PyDoc_STRVAR(multiply_add_doc, "multiply_add(instructions, precision, repeats)\n--\n\n"
                               "Multiply and add in registers only; return the number of operations.");

static PyObject *multiply_add(PyObject *Py_UNUSED(module), PyObject *arguments) {
    const char *instructions;
    int precision;
    Py_ssize_t repeats;
    double operations;
    if (!PyArg_ParseTuple(arguments, "sCn:multiply_add", &instructions, &precision, &repeats))
        return NULL;
    const struct kernels *kernels = kernels_of(instructions, precision == 'f' ? 'f' : 'd');
    if (!kernels)
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    operations = kernels->multiply_add(repeats < 0 ? 0 : (size_t)repeats);
    Py_END_ALLOW_THREADS
    return PyFloat_FromDouble(operations);
}

/* A one-dimensional array that is aligned to whole cache lines and has whole ones. */
static int get_lines(PyObject *object, Py_buffer *view, const char *name, const char *formats, int flags) {
    if (get_array(object, view, name, formats, 1, flags) < 0)
        return -1;
    if ((uintptr_t)view->buf % ALIGNMENT == 0 && view->len % ALIGNMENT == 0)
        return 0;
    PyErr_Format(PyExc_ValueError, "%s must be whole cache lines.", name);
    PyBuffer_Release(view);
    return -1;
}

PyDoc_STRVAR(fill_doc, "fill(instructions, out)\n--\n\nWrite past the caches.");

static PyObject *fill(PyObject *Py_UNUSED(module), PyObject *arguments) {
    const char *instructions;
    PyObject *object;
    Py_buffer out;
    if (!PyArg_ParseTuple(arguments, "sO:fill", &instructions, &object) ||
        get_lines(object, &out, "out", "fd", PyBUF_WRITABLE) < 0)
        return NULL;
    const struct kernels *kernels = kernels_of(instructions, out.format[0]);
    if (kernels) {
        Py_BEGIN_ALLOW_THREADS
        kernels->fill(out.buf, (size_t)out.shape[0]);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&out);
    if (!kernels)
        return NULL;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(sincos_doc, "sincos(instructions, t, c, s, repeats)\n--\n\n"
                         "c = cos(pi t) and s = sin(pi t), `repeats` times.");

static PyObject *sincos_method(PyObject *Py_UNUSED(module), PyObject *arguments) {
    const char *instructions;
    PyObject *objects[3];
    Py_ssize_t repeats;
    if (!PyArg_ParseTuple(arguments, "sOOOn:sincos", &instructions, &objects[0], &objects[1], &objects[2], &repeats))
        return NULL;
    Py_buffer views[3];
    int n = 0, failed = 0;
    for (; n < 3 && !failed; n += !failed) {
        const char format[] = {n ? views[0].format[0] : 'f', n ? 0 : 'd', 0};
        failed = get_lines(objects[n], &views[n], n ? "c and s" : "t", format, n ? PyBUF_WRITABLE : 0) < 0;
    }
    const struct kernels *kernels = NULL;
    if (!failed && (views[0].len != views[1].len || views[0].len != views[2].len))
        PyErr_SetString(PyExc_ValueError, "t, c and s must have the same length.");
    else if (!failed && (kernels = kernels_of(instructions, views[0].format[0]))) {
        Py_BEGIN_ALLOW_THREADS
        kernels->sincos(views[0].buf, views[1].buf, views[2].buf, (size_t)views[0].shape[0], repeats < 0 ? 0 : (size_t)repeats);
        Py_END_ALLOW_THREADS
    }
    while (n > 0) PyBuffer_Release(&views[--n]);
    if (!kernels)
        return NULL;
    Py_RETURN_NONE;
}

/* ---- the module ---- */

static PyMethodDef module_methods[] = {
    {"angles", angles, METH_VARARGS, angles_doc},
    {"dense", dense, METH_VARARGS, dense_doc},
    {"hadamard", hadamard, METH_VARARGS, hadamard_doc},
    {"gram", gram, METH_VARARGS, gram_doc},
    {"multiply_add", multiply_add, METH_VARARGS, multiply_add_doc},
    {"fill", fill, METH_VARARGS, fill_doc},
    {"sincos", sincos_method, METH_VARARGS, sincos_doc},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module) {
    find_instructions();
    if (!map_type && !(map_type = (PyTypeObject *)PyType_FromSpec(&map_spec)))
        return -1;
    PyObject *names = PyTuple_New((Py_ssize_t)n_available);
    if (!names)
        return -1;
    for (size_t i = 0; i < n_available; i++) {
        PyObject *name = PyUnicode_FromString(available[i].of_float->instructions);
        if (!name) {
            Py_DECREF(names);
            return -1;
        }
        PyTuple_SET_ITEM(names, (Py_ssize_t)i, name);
    }
    int status = PyModule_AddObjectRef(module, "INSTRUCTIONS", names);
    Py_DECREF(names);
    return status < 0 || PyModule_AddObjectRef(module, "Map", (PyObject *)map_type) < 0 ? -1 : 0;
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, execute},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED}, /* the type is shared */
#endif
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "krein._native",
    .m_doc = "Feature maps by the fastest instructions that this processor has.",
    .m_methods = module_methods,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&definition); }
