/* Z^T diag(w) Z added to the lower triangle of a matrix, by the tiles of dense.h: OpenBLAS takes old kernels on processors
   that it does not know, and reaches half of what they can do. */
#ifndef KREIN_GRAM_H
#define KREIN_GRAM_H

#include "dense.h"

enum {
    DEPTH = 256,     /* rows of Z summed at once: a panel of them fits the nearest cache */
    TILE_ROWS = 20,  /* tiles below one another that stay in the second cache while the panels pass by */
};

/* Columns from start to stop of `depth` rows, `width` side by side, times w; zeros after the last column. */
INLINE void pack_columns(const real *z, ptrdiff_t z_stride, const real *w, size_t depth, size_t start, size_t stop,
                         size_t width, real *packed) {
    for (size_t j = start; j < stop; j += width, packed += width * depth) {
        size_t filled = stop - j < width ? stop - j : width;
        for (size_t k = 0; k < depth; k++) {
            const real *row = z + (ptrdiff_t)k * z_stride + (ptrdiff_t)j, weight = w ? w[k] : 1;
            real *to = packed + k * width;
            if (filled == width)
                for (size_t v = 0; v < width; v++) to[v] = weight * row[v];
            else
                for (size_t v = 0; v < width; v++) to[v] = v < filled ? weight * row[v] : 0;
        }
    }
}

static size_t gram_work(size_t columns) {
    return whole_lines(((columns / PANEL + 1) * PANEL + TILE_ROWS * TILE) * DEPTH * sizeof(real)) +
           TILE * sizeof(vector[PANEL_VECTORS]);
}

/* Rows from first to last of the matrix g of shape (columns, columns); above its diagonal there are parts of sums. */
static void gram(const void *z_, ptrdiff_t z_stride, const void *w_, size_t n, size_t columns, void *g_, size_t first,
                 size_t last, void *work) {
    const real *z = z_, *w = w_;
    real *g = g_, *panels = work, *rows = panels + (columns / PANEL + 1) * PANEL * DEPTH;
    vector(*t)[PANEL_VECTORS] = (vector(*)[PANEL_VECTORS])((char *)work + gram_work(columns) - TILE * sizeof *t);
    for (size_t k = 0; k < n; k += DEPTH) {
        size_t depth = n - k < DEPTH ? n - k : DEPTH;
        const real *zk = z + (ptrdiff_t)k * z_stride;
        pack_columns(zk, z_stride, NULL, depth, 0, last, PANEL, panels);
        for (size_t start = first; start < last; start += TILE_ROWS * TILE) {
            size_t stop = last - start < TILE_ROWS * TILE ? last : start + TILE_ROWS * TILE;
            pack_columns(zk, z_stride, w ? w + k : NULL, depth, start, stop, TILE, rows);
            for (size_t j = 0; j < stop; j += PANEL) {
                size_t width = columns - j < PANEL ? columns - j : PANEL;
                for (size_t i = start; i < stop; i += TILE) {
                    if (i + TILE <= j)
                        continue; /* above the diagonal */
                    for (size_t r = 0; r < TILE && i + r < stop; r++) /* g is far away by the time that the sums are there */
                        for (size_t line = 0; line < width; line += 64 / sizeof(real))
                            __builtin_prefetch(g + (i + r) * columns + j + line, 1);
                    tile(TILE, PANEL_VECTORS, rows + (i - start) * depth, 1, TILE, depth, panels + j * depth, t, 1);
                    for (size_t r = 0; r < TILE && i + r < stop; r++) {
                        real *to = g + (i + r) * columns + j;
                        if (width == PANEL)
                            UNROLL for (size_t v = 0; v < PANEL_VECTORS; v++)
                                store(to + v * VECTOR, load(to + v * VECTOR) + t[r][v], 0);
                        else
                            for (size_t v = 0; v < width; v++) to[v] += t[r][v / VECTOR][v % VECTOR];
                    }
                }
            }
        }
    }
}

#endif
