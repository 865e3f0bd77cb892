/* The dense map: t = X W^T by tiles, and the columns of a tile while it is in registers and the nearest cache.

   W in half turns is packed into panels of PANEL frequencies: panel p holds, for k = 0, ..., d - 1, entry k of its
   frequencies side by side, zeros after the last frequency. A tile is a few rows by a panel. Long rows are cut into
   equal pieces of at most PIECE entries, whose sums are added in order: so a column depends on its row alone, not on
   the tile, the split of the rows, or the width of a vector. */
#ifndef KREIN_DENSE_H
#define KREIN_DENSE_H

#include "rows.h"

enum {
    PIECE = 256,               /* entries of a row summed at once */
    DIRECT = 256,              /* longer rows are packed, because a tile of them strides over too many pages and cache sets */
    PANELS_IN_CACHE = 1 << 18, /* bytes of panels that stay in the second cache: then rows go by single tiles */
    ROWS_IN_CACHE = 3<<18,   /* bytes of a piece of the rows that stay there while the panels pass by */
};

/* sum_k x[i, k] w[k] for `rows` rows, with strides of x between rows and entries; added to t unless first. */
INLINE void tile(int rows, int n, const real *x, ptrdiff_t row_stride, ptrdiff_t entry_stride, size_t length,
                 const real *panel, vector (*t)[PANEL_VECTORS], int first) {
    vector sum[TILE][PANEL_VECTORS];
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int v = 0; v < n; v++) sum[i][v] = (vector){0};
    for (size_t k = 0; k < length; k++) {
        vector w[PANEL_VECTORS];
        UNROLL for (int v = 0; v < n; v++) w[v] = *(const vector *)(panel + k * PANEL + v * VECTOR);
        UNROLL for (int i = 0; i < rows; i++) {
            real entry = x[i * row_stride + (ptrdiff_t)k * entry_stride];
            UNROLL for (int v = 0; v < n; v++) sum[i][v] += w[v] * entry;
        }
    }
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int v = 0; v < n; v++) {
        if (!first)
            sum[i][v] += t[i][v];
        t[i][v] = sum[i][v];
    }
}

/* One panel for n_tiles tiles of `rows` rows each, of which the last may end after `n` rows in all. Packed rows lie
   tile after tile, with the entries of a tile side by side. */
INLINE void panel_of_tiles(const struct map *map, int rows, int n_vectors, const real *x, ptrdiff_t x_stride, int packed,
                           real *out, ptrdiff_t out_stride, size_t n, size_t p, int stream,
                           vector (*t)[PANEL_VECTORS]) {
    size_t d = map->dim, j = p * PANEL, width = map->count - j < PANEL ? map->count - j : PANEL;
    const real *panel = (const real *)map->weights + p * d * PANEL;
    const vector *a = (const vector *)((const real *)map->amplitudes + j);
    const vector *b = map->phases ? (const vector *)((const real *)map->phases + j) : NULL;
    size_t n_pieces = (d + PIECE - 1) / PIECE, piece = (d + n_pieces - 1) / n_pieces;
    for (size_t k = 0; k < d; k += piece) {
        size_t length = d - k < piece ? d - k : piece;
        int first = k == 0, last = k + length >= d;
        for (size_t i = 0; i < n; i += rows) {
            vector(*sums)[PANEL_VECTORS] = n_pieces > 1 ? t + i : t;
            if (packed)
                tile(rows, n_vectors, x + i * d + k * rows, 1, rows, length, panel + k * PANEL, sums, first);
            else
                tile(rows, n_vectors, x + (ptrdiff_t)i * x_stride + k, x_stride, 1, length, panel + k * PANEL, sums, first);
            if (!last)
                continue;
            size_t in_tile = n - i < (size_t)rows ? n - i : (size_t)rows;
            real *row = out + (ptrdiff_t)i * out_stride;
            if (b)
                for (size_t r = 0; r < in_tile; r++)
                    write_columns(row + (ptrdiff_t)r * out_stride, j, map->count, width, n_vectors, sums[r], a, b, 1, stream);
            else
                for (size_t r = 0; r < in_tile; r++)
                    write_columns(row + (ptrdiff_t)r * out_stride, j, map->count, width, n_vectors, sums[r], a, b, 0, stream);
        }
    }
}

/* All panels for n rows; n is a multiple of `rows` unless packed. */
INLINE void panels_of_tiles(const struct map *map, int rows, const real *x, ptrdiff_t x_stride, int packed, real *out,
                            ptrdiff_t out_stride, size_t n, int stream, vector (*t)[PANEL_VECTORS]) {
    size_t n_full = (map->count + PANEL - 1) / PANEL, rest = map->count % PANEL;
    int half = rest > 0 && rest <= VECTOR; /* the last panel fills one vector at most */
    n_full -= half;
    if (stream)
        for (size_t p = 0; p < n_full; p++)
            panel_of_tiles(map, rows, PANEL_VECTORS, x, x_stride, packed, out, out_stride, n, p, 1, t);
    else
        for (size_t p = 0; p < n_full; p++)
            panel_of_tiles(map, rows, PANEL_VECTORS, x, x_stride, packed, out, out_stride, n, p, 0, t);
    if (half)
        panel_of_tiles(map, rows, 1, x, x_stride, packed, out, out_stride, n, n_full, stream, t);
}

/* Rows that do not fill a tile, or a single one that should come soon. */
static void few_rows(const struct map *map, const real *x, ptrdiff_t x_stride, real *out, ptrdiff_t out_stride, size_t n,
                     int stream, vector (*t)[PANEL_VECTORS]) {
    size_t fours = n / 4 * 4;
    if (fours)
        panels_of_tiles(map, 4, x, x_stride, 0, out, out_stride, fours, stream, t);
    if (n > fours)
        panels_of_tiles(map, 1, x + (ptrdiff_t)fours * x_stride, x_stride, 0, out + (ptrdiff_t)fours * out_stride,
                        out_stride, n - fours, stream, t);
}

static void direct_tiles(const struct map *map, const real *x, ptrdiff_t x_stride, real *out, ptrdiff_t out_stride,
                         size_t n, int stream, vector (*t)[PANEL_VECTORS]) {
    panels_of_tiles(map, TILE, x, x_stride, 0, out, out_stride, n, stream, t);
}

static void packed_tiles(const struct map *map, const real *x, real *out, ptrdiff_t out_stride, size_t n, int stream,
                         vector (*t)[PANEL_VECTORS]) {
    panels_of_tiles(map, TILE, x, 0, 1, out, out_stride, n, stream, t);
}

/* n rows as tiles, the last one filled with zeros. */
static void pack_rows(const real *x, ptrdiff_t x_stride, size_t n, size_t d, real *packed) {
    for (size_t i = 0; i < n; i += TILE, packed += TILE * d)
        for (size_t r = 0; r < TILE; r++)
            for (size_t k = 0; k < d; k++)
                packed[k * TILE + r] = i + r < n ? x[(ptrdiff_t)(i + r) * x_stride + (ptrdiff_t)k] : 0;
}

/* Rows that are worked on while all panels pass by, a multiple of TILE. */
static size_t rows_at_once(const struct map *map) {
    size_t d = map->dim, n_panels = (map->count + PANEL - 1) / PANEL;
    if (n_panels * PANEL * d * sizeof(real) <= PANELS_IN_CACHE)
        return TILE;
    size_t fit = ROWS_IN_CACHE / ((d < PIECE ? d : PIECE) * sizeof(real)) / TILE;
    return (fit < 1 ? 1 : fit > 40 ? 40 : fit) * TILE;
}

INLINE size_t whole_lines(size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static size_t dense_work(const struct map *map, size_t n) {
    size_t rows = rows_at_once(map), sums = rows * sizeof(vector[PANEL_VECTORS]);
    return whole_lines(sums) + (map->dim > DIRECT && n >= TILE ? rows * map->dim * sizeof(real) : 0);
}

static int dense(const struct map *map, const void *x_, ptrdiff_t x_stride, void *out_, ptrdiff_t out_stride, size_t n,
                 int stream, void *work) {
    const real *x = x_;
    real *out = out_;
    size_t step = rows_at_once(map);
    int finite = 1;
    vector(*t)[PANEL_VECTORS] = work;
    real *packed = (real *)((char *)work + whole_lines(step * sizeof *t));
    stream = stream && can_stream(map, out, out_stride, n);
    for (size_t i = 0; i < n;) {
        size_t rows = n - i < step ? n - i : step;
        const real *xi = x + (ptrdiff_t)i * x_stride;
        real *row = out + (ptrdiff_t)i * out_stride;
        finite &= all_finite(xi, x_stride, rows, map->dim);
        if (rows < TILE) {
            few_rows(map, xi, x_stride, row, out_stride, rows, stream, t);
        } else if (map->dim > DIRECT) {
            pack_rows(xi, x_stride, rows, map->dim, packed);
            packed_tiles(map, packed, row, out_stride, rows, stream, t);
        } else {
            rows = rows / TILE * TILE;
            direct_tiles(map, xi, x_stride, row, out_stride, rows, stream, t);
        }
        i += rows;
    }
    write_constant(map, out, out_stride, n);
    finish_streaming(stream);
    return finite;
}

static void pack(const void *weights_, size_t count, size_t d, void *panels_) {
    const real *weights = weights_;
    real *panel = panels_;
    for (size_t j = 0; j < count; j += PANEL, panel += PANEL * d)
        for (size_t v = 0; v < PANEL; v++)
            for (size_t k = 0; k < d; k++)
                panel[k * PANEL + v] = j + v < count ? weights[(j + v) * d + k] : 0;
}

#endif
