/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_MCP_ORIGIN_H
#define API_MCP_ORIGIN_H

#include "base/error.h"

struct request;

/**
 * mcp_origin_check() - Whether the script of a web page may ask
 *
 * Only browsers send the field Origin. A page that has made its own name lead
 * here (DNS rebinding) cannot hide where it is from by that; so what counts is
 * the address that we listen on and what the setting says, never Host.
 *
 * Return: 0, or ERR_FORBIDDEN
 */
int mcp_origin_check(struct request *req, struct error *err);

#endif
