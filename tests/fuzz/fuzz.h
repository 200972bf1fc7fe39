#ifndef CUPOLA_FUZZ_H
#define CUPOLA_FUZZ_H

/* What libFuzzer and replay.c call, and every fuzz target defines. */

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
