/* SHA-256 (FIPS 180-4). */
#ifndef AGENT_TASK_SHA256_H
#define AGENT_TASK_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
  uint32_t state[8];
  uint64_t length;
  unsigned char block[64];
};

void sha256_begin(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *bytes, size_t length);

/* 64 hexadecimal digits and a NUL. */
void sha256_end(struct sha256 *s, char hex[65]);

#endif
