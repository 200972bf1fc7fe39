/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNIT_TURN_FIXTURE_H
#define UNIT_TURN_FIXTURE_H

/*
 * The agent loop on a whole core with scripted guests (core_fixture.h), with a
 * scripted model, and a reader who checks every event (response_reader.h).
 */

#include "core_fixture.h"
#include "response_reader.h"
#include "scripted_model.h"

#include "base/json.h"
#include "turn/turn.h"

/** struct talk - One request, and who follows what becomes of it */
struct talk {
	struct turn_fixture *fx;
	char id[ID_SIZE];
	bool told;
	bool refused;
	struct error err;
	struct turn_accepted turn;
	struct turn_watch *watch;
	bool over;
	struct response_reader reader;
};

enum { FIXTURE_TALKS_MAX = 128 };

#define FIXTURE_REQUEST "req_of_fixture"

struct turn_fixture {
	struct fixture *core;
	struct turns *turns;
	struct upstream *model;
	const char *trace; /* that requests come with; NULL: none */
	struct talk *talks[FIXTURE_TALKS_MAX];
	size_t talk_count;
};

int turn_setup(void **state);
int turn_teardown(void **state);

/** turn_start() - Begin; after settings were made on @fx->core */
void turn_start(struct turn_fixture *fx);

/** turn_restart() - As after kill -9 */
void turn_restart(struct turn_fixture *fx);

/**
 * talk_begin() - Ask for a response, and follow it once it is accepted
 * @body:	JSON, with ' for "
 */
struct talk *talk_begin(struct turn_fixture *fx, const char *body);

/** talk_asked() - The same, and wait until the model is asked */
struct talk *talk_asked(struct turn_fixture *fx, const char *body);

/** talk_refuse() - The request has to fail; Return: why */
const struct error *talk_refuse(struct turn_fixture *fx, const char *body);

/** talk_drop() - Stop following */
void talk_drop(struct talk *talk);

/** talk_read() - Take the events that there are */
void talk_read(struct talk *talk);

/** turn_conversation() - A new one; Return: @ret */
const char *turn_conversation(struct turn_fixture *fx, char ret[ID_SIZE]);

/** talk_end() - Wait until it is over; the response has to have come to @last */
void talk_end(struct talk *talk, const char *last);

/** talk_container() - The container of the last interpreter's call, waited for */
void talk_container(struct talk *talk, char ret[ID_SIZE]);

/** talk_code() - Wait until the guest has been given code; Return: the guest */
struct scripted_guest *talk_code(struct talk *talk, const char *code);

/** turn_get() - A kept response, with outputs if @include; valid until the next */
const char *turn_get(struct turn_fixture *fx, const char *id, unsigned include);

/** asked() - Whether what the model was asked last has this text in it */
bool asked(const struct turn_fixture *fx, const char *text);

#endif
