/* The map of angles that something else has computed: sparse products, Fourier transforms. Angles are in radians. */
#ifndef KREIN_ANGLES_H
#define KREIN_ANGLES_H

#include "rows.h"

static size_t angles_work(const struct map *map, size_t n) {
    (void)map, (void)n;
    return 0;
}

static int angles(const struct map *map, const void *x_, ptrdiff_t x_stride, void *out_, ptrdiff_t out_stride, size_t n,
                  int stream, void *work) {
    const real *x = x_, turn = (real)0.31830988618379067154; /* 1 / pi */
    real *out = out_;
    (void)work;
    stream = stream && can_stream(map, out, out_stride, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < map->count; j += VECTOR) {
            size_t width = map->count - j < VECTOR ? map->count - j : VECTOR;
            vector t = {0}, phase = {0};
            memcpy(&t, x + (ptrdiff_t)i * x_stride + (ptrdiff_t)j, width * sizeof(real));
            t = t * turn;
            if (map->phases)
                phase = *(const vector *)((const real *)map->phases + j);
            write_columns(out + (ptrdiff_t)i * out_stride, j, map->count, width, 1, &t,
                          (const vector *)((const real *)map->amplitudes + j), &phase, map->phases != NULL, stream);
        }
    write_constant(map, out, out_stride, n);
    finish_streaming(stream);
    return all_finite(x, x_stride, n, map->count);
}

#endif
