#ifndef CUPOLA_BASE_LIMITS_H
#define CUPOLA_BASE_LIMITS_H

/*
 * Ceilings that are no settings: each protects the program itself. Limits of
 * one protocol or format are in its own header.
 */

enum {
	/* Bodies of JSON requests, by call. */
	LIMIT_JSON_BODY = 1 << 20,
	LIMIT_JSON_BODY_EXEC = 4 << 20,

	/* HTTP. */
	LIMIT_URI_BYTES = 8 << 10,
	LIMIT_HEADERS_BYTES = 16 << 10,

	/* Files of our own that are read whole. */
	LIMIT_SETTINGS_FILE = 1 << 20,
	LIMIT_MANIFEST_FILE = 1 << 20,
	LIMIT_KEY_FILE = 4 << 10,
	LIMIT_CA_FILE = 16 << 20,
	LIMIT_LINE_BYTES = 4 << 10,

	/* Pools and other instances of open sections of the settings. */
	LIMIT_SETTING_INSTANCES = 64,

	/* The longest path of a Unix socket, without the NUL. */
	LIMIT_SOCKET_PATH = 107,
};

#endif
