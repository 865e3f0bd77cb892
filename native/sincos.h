/* Cosine and sine of pi t, for vectors.

   m = t + 1.5 * 2^p rounds t to an integer k, whose parity is the lowest bit of m; r = t - k is exact for |t| < 2^(p-1).
   Then cos(pi t) = (-1)^k cos(pi r) and sin(pi t) = (-1)^k sin(pi r) with |r| <= 1/2, by polynomials in r^2 of least
   largest error. Beyond 2^(p-1) neighbouring numbers are whole half turns or more apart: the result has no meaning
   there, but stays in [-1, 1], because r^2 and the sine are bounded. The cosine is: its polynomial is 1 minus
   something. NaN and infinities give NaN. */
#ifndef KREIN_SINCOS_H
#define KREIN_SINCOS_H

#include "vector.h"

#ifdef REAL_DOUBLE
#define ROUNDER 6755399441055744.0 /* 1.5 * 2^52 */
#define SIGN_BIT 63
static const real SINE[] = {3.1415926535897932378,     -5.1677127800499696087,   2.5501640398773005566,
                            -0.59926452931894730955,   0.082145886573144208702,  -0.0073704305062695801501,
                            0.00046629981785722964,    -0.000021903501179792268335, 7.6978678271849894131e-7};
static const real COSINE[] = {1.0,                       -4.9348022005446793043,   4.0587121264167675451,
                              -1.3352627688545550128,    0.23533063035792601577,   -0.025806891376604471109,
                              0.0019295741873593386058,  -0.00010463741712648405534, 4.3007248318146787192e-6,
                              -1.3435271532313808683e-7};
#else
#define ROUNDER 12582912.0f /* 1.5 * 2^23 */
#define SIGN_BIT 31
static const real SINE[] = {3.1415926401840514249f, -5.1677100903330680679f, 2.5500776597467376226f,
                            -0.59829215958597545091f, 0.077659408465195662336f};
static const real COSINE[] = {1.0f, -4.9348021372283223236f, 4.0587091643412954475f, -1.3352120566537517992f,
                              0.23493755890074912673f, -0.024396716536961509853f};
#endif
enum { SINE_TERMS = sizeof SINE / sizeof *SINE, COSINE_TERMS = sizeof COSINE / sizeof *COSINE };

/* *c = amplitude cos(pi t), *s = amplitude sin(pi t) */
INLINE void sincos_half_turns(vector t, vector amplitude, vector *c, vector *s) {
    vector m = t + ROUNDER;
    vector r = t - (m - ROUNDER);
    vector u = at_most(r * r, broadcast((real)0.25));
    vector signed_amplitude = (vector)((integers)amplitude ^ ((integers)m << SIGN_BIT));
    vector sine = broadcast(SINE[SINE_TERMS - 1]), cosine = broadcast(COSINE[COSINE_TERMS - 1]);
    UNROLL for (int k = SINE_TERMS - 2; k >= 0; k--) sine = sine * u + SINE[k];
    UNROLL for (int k = COSINE_TERMS - 2; k >= 0; k--) cosine = cosine * u + COSINE[k];
    sine = at_least(at_most(sine * r, broadcast(1)), broadcast(-1));
    *c = cosine * signed_amplitude;
    *s = sine * signed_amplitude;
}

#endif
