/* The vector types of one precision (REAL_DOUBLE) and one instruction set (the flags of the compiler).

   GCC and clang vector extensions throughout; intrinsics only for what these lack: stores past the caches, minimum and
   maximum. Never compile with -ffast-math: it removes the range reduction of sincos.h. */
#ifndef KREIN_VECTOR_H
#define KREIN_VECTOR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#define X86 1
#endif

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#define TILE 12 /* rows of a tile: 12 x 2 accumulators, 2 vectors of weights, of 32 registers */
#define X86_NAME(op, type) _mm512_##op##_##type
#define X86_VECTOR(type) __m512##type
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#define TILE 6 /* of 16 registers */
#define X86_NAME(op, type) _mm256_##op##_##type
#define X86_VECTOR(type) __m256##type
#else
#define VECTOR_BYTES 16
#define TILE 4
#define X86_NAME(op, type) _mm_##op##_##type
#define X86_VECTOR(type) __m128##type
#endif

#ifdef REAL_DOUBLE
typedef double real;
typedef int64_t integer;
#define X86_OP(op) X86_NAME(op, pd)
#define X86_REAL X86_VECTOR(d)
#else
typedef float real;
typedef int32_t integer;
#define X86_OP(op) X86_NAME(op, ps)
#define X86_REAL X86_VECTOR()
#endif

#define VECTOR ((size_t)VECTOR_BYTES / sizeof(real)) /* numbers in a vector */
#define PANEL_VECTORS 2
#define PANEL (PANEL_VECTORS * VECTOR) /* frequencies in a panel */

typedef real vector __attribute__((vector_size(VECTOR_BYTES), may_alias));
typedef real loose __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias)); /* of any alignment */
typedef integer integers __attribute__((vector_size(VECTOR_BYTES), may_alias));

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")

INLINE vector load(const real *p) { return *(const loose *)p; }

INLINE vector broadcast(real x) { return (vector){0} + x; }

/* min(bound, x) and max(bound, x); NaN where x is NaN, which the second operand of the instructions ensures. */
INLINE vector at_most(vector x, vector bound) {
#ifdef X86
    return (vector)X86_OP(min)((X86_REAL)bound, (X86_REAL)x);
#else
    integers above = x > bound;
    return (vector)((above & (integers)bound) | (~above & (integers)x));
#endif
}

INLINE vector at_least(vector x, vector bound) {
#ifdef X86
    return (vector)X86_OP(max)((X86_REAL)bound, (X86_REAL)x);
#else
    integers below = x < bound;
    return (vector)((below & (integers)bound) | (~below & (integers)x));
#endif
}

/* A store past the caches needs p to be a multiple of VECTOR_BYTES. */
INLINE void store(real *p, vector x, int stream) {
#ifdef X86
    if (stream) {
        X86_OP(stream)(p, (X86_REAL)x);
        return;
    }
#endif
    (void)stream;
    *(loose *)p = x;
}

INLINE void finish_streaming(int stream) {
#ifdef X86
    if (stream)
        _mm_sfence();
#endif
    (void)stream;
}

#endif
