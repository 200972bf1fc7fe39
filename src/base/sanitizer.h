#ifndef CUPOLA_BASE_SANITIZER_H
#define CUPOLA_BASE_SANITIZER_H

/*
 * Whether AddressSanitizer is in the program: WITH_ADDRESS_SANITIZER is 1 or 0.
 * gcc tells by a macro, clang by a feature that it can be asked for.
 */

#if defined(__SANITIZE_ADDRESS__)
#define WITH_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ADDRESS_SANITIZER 1
#endif
#endif
#ifndef WITH_ADDRESS_SANITIZER
#define WITH_ADDRESS_SANITIZER 0
#endif

#endif
