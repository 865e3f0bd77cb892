/* The structured map: t = scale * H D_m ... H D_1 x by blocks, with H the Walsh-Hadamard matrix of size 2^p and D
   diagonal; before the last diagonal the entries may be permuted. Rows are padded with zeros to 2^p. One row at a time:
   it and its transform stay in the nearest cache.

   The factor 2^(-p/2) of the orthonormal H is in the diagonals. Every entry is the same tree of sums for any width of a
   vector. */
#ifndef KREIN_HADAMARD_H
#define KREIN_HADAMARD_H

#include "rows.h"

/* Lanes 1, 2, 4, 8 apart exchanged, and the signs of the second of each pair; constants, so that they stay registers. */
#define LANE(i, h) (i) ^ (h)
#define SIGN(i, h) (i) & (h) ? -1 : 1
#define LANES_4(of, i, h) of((i), h), of((i) + 1, h), of((i) + 2, h), of((i) + 3, h)
#define LANES_8(of, h) LANES_4(of, 0, h), LANES_4(of, 4, h)
#define LANES_16(of, h) LANES_8(of, h), LANES_4(of, 8, h), LANES_4(of, 12, h)
#if VECTOR_BYTES == 64 && !defined(REAL_DOUBLE)
#define LANES(of, h) LANES_16(of, h)
#elif VECTOR_BYTES == 64 || (VECTOR_BYTES == 32 && !defined(REAL_DOUBLE))
#define LANES(of, h) LANES_8(of, h)
#elif VECTOR_BYTES == 32 || !defined(REAL_DOUBLE)
#define LANES(of, h) LANES_4(of, 0, h)
#else
#define LANES(of, h) of(0, h), of(1, h)
#endif
enum { IN_REGISTERS = VECTOR_BYTES == 64 ? 16 : 8 }; /* vectors of a transform that stay in registers */

#ifdef __clang__
#define SWAPPED(x, h) __builtin_shufflevector(x, x, LANES(LANE, h))
#else
#define SWAPPED(x, h) __builtin_shuffle(x, (integers){LANES(LANE, h)})
#endif
#define BUTTERFLIES(x, h) ((x) * (vector){LANES(SIGN, h)} + SWAPPED(x, h))

/* Butterflies of entries that are h = 1, 2, ..., VECTOR / 2 apart: all within a vector. */
INLINE vector within(vector x) {
    x = BUTTERFLIES(x, 1);
#if VECTOR_BYTES > 16 || !defined(REAL_DOUBLE)
    x = BUTTERFLIES(x, 2);
#endif
#if VECTOR_BYTES > 32 || (VECTOR_BYTES > 16 && !defined(REAL_DOUBLE))
    x = BUTTERFLIES(x, 4);
#endif
#if VECTOR_BYTES > 32 && !defined(REAL_DOUBLE)
    x = BUTTERFLIES(x, 8);
#endif
    return x;
}

INLINE void butterfly(vector *a, vector *b) {
    vector sum = *a + *b;
    *b = *a - *b;
    *a = sum;
}

/* Butterflies of vectors that are h, 2 h, ... (radix of them) apart, of n vectors in all. */
INLINE void across(vector *v, size_t n, size_t h, int radix) {
    for (size_t start = 0; start < n; start += radix * h)
        for (size_t i = start; i < start + h; i++) {
            vector a[8];
            UNROLL for (int k = 0; k < radix; k++) a[k] = v[i + k * h];
            UNROLL for (int apart = 1; apart < radix; apart *= 2)
                UNROLL for (int k = 0; k < radix; k++) if (!(k & apart)) butterfly(&a[k], &a[k + apart]);
            UNROLL for (int k = 0; k < radix; k++) v[i + k * h] = a[k];
        }
}

/* v <- H (diagonal * v), n vectors, without the factor of H; from and to may be the same. */
INLINE void stage(const vector *from, const vector *diagonal, vector *to, size_t n) {
    if (n <= IN_REGISTERS) { /* the same with every index known */
        UNROLL for (size_t i = 0; i < n; i++) to[i] = within(from[i] * diagonal[i]);
        UNROLL for (size_t h = 1; h < n; h *= 2)
            UNROLL for (size_t i = 0; i < n; i++) if (!(i & h)) butterfly(&to[i], &to[i + h]);
        return;
    }
    for (size_t i = 0; i < n; i += 8) { /* n is a multiple of 8; the first butterflies before anything is stored */
        vector a[8];
        UNROLL for (int k = 0; k < 8; k++) a[k] = within(from[i + k] * diagonal[i + k]);
        UNROLL for (int apart = 1; apart < 8; apart *= 2)
            UNROLL for (int k = 0; k < 8; k++) if (!(k & apart)) butterfly(&a[k], &a[k + apart]);
        UNROLL for (int k = 0; k < 8; k++) to[i + k] = a[k];
    }
    size_t h = 8;
    for (; 8 * h <= n; h *= 8) across(to, n, h, 8);
    if (4 * h <= n)
        across(to, n, h, 4);
    else if (2 * h <= n)
        across(to, n, h, 2);
}

INLINE void permute(const real *from, const int32_t *permutation, real *to, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] = from[permutation[i]];
}

/* Columns of a block from its transform v, two vectors at a time. */
INLINE void block_columns(const struct map *map, const struct block *block, const vector *v, real *row, int stream) {
    const real *scales = map->scales, *amplitudes = map->amplitudes, *phases = map->phases;
    size_t count = map->count, start = block->start, stop = block->stop;
    for (size_t j = start; j < stop; j += PANEL, v += PANEL_VECTORS) {
        int n = stop - j > VECTOR ? 2 : 1;
        size_t width = stop - j < PANEL ? stop - j : PANEL;
        vector t[PANEL_VECTORS] = {{0}}, a[PANEL_VECTORS] = {{0}}, b[PANEL_VECTORS] = {{0}};
        for (int k = 0; k < n; k++) {
            t[k] = v[k] * load(scales + j + k * VECTOR);
            a[k] = load(amplitudes + j + k * VECTOR);
            if (phases)
                b[k] = load(phases + j + k * VECTOR);
        }
        if (n == 2 && !phases)
            write_columns(row, j, count, width, 2, t, a, b, 0, stream);
        else if (n == 2)
            write_columns(row, j, count, width, 2, t, a, b, 1, stream);
        else if (!phases)
            write_columns(row, j, count, width, 1, t, a, b, 0, stream);
        else
            write_columns(row, j, count, width, 1, t, a, b, 1, stream);
    }
}

INLINE int hadamard_rows(const struct map *map, const size_t n_vectors, const real *x, ptrdiff_t x_stride, real *out,
                         ptrdiff_t out_stride, size_t n, int stream, void *work) {
    size_t size = n_vectors * VECTOR;
    vector *row = work, *permuted = row + n_vectors, few[IN_REGISTERS], *v = n_vectors <= IN_REGISTERS ? few : permuted + n_vectors;
    int finite = 1;
    memset(row, 0, n_vectors * sizeof *row);
    for (size_t i = 0; i < n; i++) {
        memcpy(row, x + (ptrdiff_t)i * x_stride, map->dim * sizeof(real));
        finite &= all_finite((const real *)row, 0, 1, size);
        for (size_t b = 0; b < map->n_blocks; b++) {
            const vector *diagonals = (const vector *)((const real *)map->weights + b * map->n_stages * size);
            for (size_t m = 0; m < map->n_stages; m++) {
                const vector *from = m ? v : row;
                if (map->permutation && m + 1 == map->n_stages) {
                    permute((const real *)from, map->permutation + b * size, (real *)permuted, size);
                    from = permuted;
                }
                stage(from, diagonals + m * n_vectors, v, n_vectors);
            }
            block_columns(map, map->blocks + b, v, out + (ptrdiff_t)i * out_stride, stream);
        }
    }
    return finite;
}

static size_t hadamard_work(const struct map *map, size_t n) {
    (void)n;
    return 3 * map->padded * sizeof(real);
}

static int hadamard(const struct map *map, const void *x, ptrdiff_t x_stride, void *out, ptrdiff_t out_stride, size_t n,
                    int stream, void *work) {
    int finite;
    stream = stream && can_stream(map, out, out_stride, n);
    for (size_t b = 0; b < map->n_blocks; b++) stream = stream && map->blocks[b].start % VECTOR == 0;
    switch (map->padded / VECTOR) { /* a known number of vectors makes better code for short rows */
#define CASE(n_vectors)                                                                      \
    case n_vectors:                                                                          \
        finite = hadamard_rows(map, n_vectors, x, x_stride, out, out_stride, n, stream, work); \
        break;
        CASE(4)
        CASE(8)
        CASE(16)
        CASE(32)
        CASE(64)
        CASE(128)
#undef CASE
    default:
        finite = hadamard_rows(map, map->padded / VECTOR, x, x_stride, out, out_stride, n, stream, work);
    }
    write_constant(map, out, out_stride, n);
    finish_streaming(stream);
    return finite;
}

#endif
