/* What this machine can do at most, by the instructions that the kernels use: for the benchmark. */
#ifndef KREIN_ROOFLINE_H
#define KREIN_ROOFLINE_H

#include "sincos.h"

#ifdef X86
#define KEEP(x) __asm__ volatile("" : "+v"(x)) /* in its register */
#else
#define KEEP(x) __asm__ volatile("" : "+w"(x))
#endif

static double multiply_add(size_t repeats) {
    enum { CHAINS = 12 }; /* more than the latency of the instruction hides */
    vector sum[CHAINS], x = broadcast((real)0.5), y = broadcast((real)1);
    UNROLL for (int i = 0; i < CHAINS; i++) sum[i] = broadcast((real)i);
    for (size_t k = 0; k < repeats; k++) {
        UNROLL for (int i = 0; i < CHAINS; i++) {
            sum[i] = sum[i] * x + y;
            KEEP(sum[i]);
        }
    }
    return 2.0 * (double)repeats * CHAINS * (double)VECTOR;
}

static void fill(void *out, size_t n) {
    for (size_t i = 0; i + VECTOR <= n; i += VECTOR) store((real *)out + i, broadcast((real)1), 1);
    finish_streaming(1);
}

static void sincos_in_cache(const void *t, void *c, void *s, size_t n, size_t repeats) {
    vector amplitude = broadcast((real)1);
    for (size_t k = 0; k < repeats; k++) {
        for (size_t i = 0; i < n; i += VECTOR) {
            vector cosine, sine;
            sincos_half_turns(*(const vector *)((const real *)t + i), amplitude, &cosine, &sine);
            store((real *)c + i, cosine, 0);
            store((real *)s + i, sine, 0);
        }
        __asm__ volatile("" : : : "memory");
    }
}

#endif
