/* Writing the columns of one row: what the three kinds of maps share. */
#ifndef KREIN_ROWS_H
#define KREIN_ROWS_H

#include "kernels.h"
#include "sincos.h"

/* Columns of the frequencies from j on, `width` of them in n vectors of angles t; a and b are their amplitudes and
   phases, where `phased`. `row` is the first column of the row. */
INLINE void write_columns(real *row, size_t j, size_t count, size_t width, int n, const vector *t, const vector *a,
                          const vector *b, int phased, int stream) {
    vector c[PANEL_VECTORS], s[PANEL_VECTORS];
    UNROLL for (int v = 0; v < n; v++) {
        vector angle = t[v];
        if (phased)
            angle += b[v];
        sincos_half_turns(angle, a[v], &c[v], &s[v]);
    }
    if (width == (size_t)n * VECTOR) {
        UNROLL for (int v = 0; v < n; v++) store(row + j + v * VECTOR, c[v], stream);
        if (!phased)
            UNROLL for (int v = 0; v < n; v++) store(row + count + j + v * VECTOR, s[v], stream);
    } else { /* the last columns do not fill their vectors */
        memcpy(row + j, c, width * sizeof(real));
        if (!phased)
            memcpy(row + count + j, s, width * sizeof(real));
    }
}

/* Whether no entry of n rows is NaN or infinite; cheap where they are about to be mapped, because then they are near. */
INLINE int all_finite(const real *x, ptrdiff_t x_stride, size_t n, size_t d) {
    vector sum = {0}; /* of zeros, or NaN */
    if (x_stride == (ptrdiff_t)d) {
        d *= n;
        n = 1;
    }
    for (size_t i = 0; i < n; i++, x += x_stride) {
        size_t k = 0;
        for (; k + VECTOR <= d; k += VECTOR) sum += load(x + k) * 0;
        for (; k < d; k++) sum[0] += x[k] * 0;
    }
    real zero = 0;
    for (size_t v = 0; v < VECTOR; v++) zero += sum[v];
    return zero == 0;
}

INLINE void write_constant(const struct map *map, real *out, ptrdiff_t out_stride, size_t n) {
    if (map->has_constant)
        for (size_t i = 0; i < n; i++)
            out[(ptrdiff_t)i * out_stride + (ptrdiff_t)map->columns - 1] = (real)map->constant;
}

/* Whether every vector of the cosines and of the sines of every row is aligned. */
INLINE int can_stream(const struct map *map, const real *out, ptrdiff_t out_stride, size_t n) {
    size_t between = map->phases ? 0 : map->count;
    size_t distances = (uintptr_t)out | between * sizeof(real) | (n > 1 ? (size_t)out_stride * sizeof(real) : 0);
    return distances % VECTOR_BYTES == 0;
}

#endif
