/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DES is long out of favour, and all that VNC's password scheme has. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "takeover/vnc_auth.h"

#include <openssl/des.h>
#include <string.h>

/* VNC takes the bits of each key byte from the other end. */
static uint8_t reverse_bits(uint8_t byte)
{
	uint8_t out = 0;
	for (int i = 0; i < 8; i++)
		out = (uint8_t)(out << 1 | (byte >> i & 1));
	return out;
}

void vnc_auth_encrypt(const char *password, const uint8_t challenge[16], uint8_t out[16])
{
	DES_cblock key = {0};
	DES_key_schedule schedule;
	for (size_t i = 0; i < sizeof(key) && password[i] != '\0'; i++)
		key[i] = reverse_bits((uint8_t)password[i]);
	DES_set_key_unchecked(&key, &schedule);
	for (int half = 0; half < 16; half += 8) {
		DES_cblock in, encrypted;
		memcpy(in, challenge + half, sizeof(in));
		DES_ecb_encrypt(&in, &encrypted, &schedule, DES_ENCRYPT);
		memcpy(out + half, encrypted, sizeof(encrypted));
	}
}
