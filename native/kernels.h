/* What the Python module (module.c) and the kernels (kernels.c, compiled once per instruction set and precision) share.

   A map turns rows x into columns: with angles t_j in half turns (the angle divided by pi) of s frequencies,

       out[j] = a_j cos(pi t_j),  out[s + j] = a_j sin(pi t_j)      or, with phases,  out[j] = a_j cos(pi (t_j + b_j))

   and, where there is a constant, one more column that holds it. t comes from a matrix (dense), from products of
   Hadamard matrices and diagonals (hadamard), or is given in radians (angles). Nothing here knows of Python. */
#ifndef KREIN_KERNELS_H
#define KREIN_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum { ALIGNMENT = 64 }; /* bytes: a cache line, and the widest vector */

/* A block of a Hadamard map gives the frequencies from start to stop, at most `padded` of them. */
struct block {
    size_t start, stop;
};

/* Everything is aligned to ALIGNMENT, of the precision of the map, and never changes after it was made. */
struct map {
    size_t dim;         /* entries of a row that are read, at least 1 */
    size_t count;       /* frequencies, s, at least 1 */
    size_t columns;     /* that are written: s or 2 s, and the constant */
    int has_constant;
    double constant;
    void *amplitudes;   /* s, and at least a panel of zeros after them */
    void *phases;       /* the same in half turns, or NULL */
    void *weights;      /* dense: panels (see dense.h); hadamard: diagonals (block, stage, padded) */
    size_t padded;      /* hadamard: length of a transform, a power of two */
    size_t n_blocks, n_stages;
    struct block *blocks;
    int32_t *permutation; /* (block, padded), before the last diagonal, or NULL */
    void *scales;         /* s, padded like the amplitudes: half turns per unit of the transform */
};

/* Strides are in numbers, not bytes. `stream` writes past the caches, where rows and columns of out are aligned.
   `work` has work_size(map, n) bytes and the same alignment. Returns whether all entries of x are finite. */
typedef int map_rows(const struct map *map, const void *x, ptrdiff_t x_stride, void *out, ptrdiff_t out_stride, size_t n,
                     int stream, void *work);
typedef size_t work_size(const struct map *map, size_t n);

struct kernels {
    const char *instructions;
    size_t vector; /* numbers in a vector */
    size_t panel;  /* frequencies in a panel */
    map_rows *dense, *hadamard, *angles;
    work_size *dense_work, *hadamard_work, *angles_work;
    void (*pack)(const void *weights, size_t count, size_t dim, void *panels);
    void (*gram)(const void *z, ptrdiff_t z_stride, const void *w, size_t n, size_t columns, void *g, size_t first,
                 size_t last, void *work);
    size_t (*gram_work)(size_t columns);
    /* Limits of the machine, for the benchmark. */
    double (*multiply_add)(size_t repeats);                     /* returns operations done; stores nothing */
    void (*fill)(void *out, size_t n);                          /* aligned, past the caches */
    void (*sincos)(const void *t, void *c, void *s, size_t n, size_t repeats); /* n in whole vectors, aligned */
};

#endif
