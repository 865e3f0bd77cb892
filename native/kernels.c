/* The kernels of one instruction set and one precision; meson.build compiles this file for every pair of them, with
   KERNELS the name of the table and INSTRUCTIONS that of the instruction set. */
#include "angles.h"
#include "dense.h"
#include "gram.h"
#include "hadamard.h"
#include "roofline.h"

const struct kernels KERNELS = {
    .instructions = INSTRUCTIONS,
    .vector = VECTOR,
    .panel = PANEL,
    .dense = dense,
    .hadamard = hadamard,
    .angles = angles,
    .dense_work = dense_work,
    .hadamard_work = hadamard_work,
    .angles_work = angles_work,
    .pack = pack,
    .gram = gram,
    .gram_work = gram_work,
    .multiply_add = multiply_add,
    .fill = fill,
    .sincos = sincos_in_cache,
};
