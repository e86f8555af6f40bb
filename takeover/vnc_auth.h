/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The old VNC password scheme: DES with 8 characters of password. Pure. */
#ifndef TAKEOVER_VNC_AUTH_H
#define TAKEOVER_VNC_AUTH_H

#include <stdint.h>

/* What a viewer that knows the password makes of the challenge. Bytes past the 8th do not count:
   that is all the scheme has. */
void vnc_auth_encrypt(const char *password, const uint8_t challenge[16], uint8_t out[16]);

#endif
