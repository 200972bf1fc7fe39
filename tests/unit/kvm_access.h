/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_KVM_ACCESS_H
#define TESTS_KVM_ACCESS_H

/* Whether there is a /dev/kvm, for tests that link with --wrap=access. */

/** kvm_errno - What access() fails with of it, or 0 */
extern int kvm_errno;

#endif
