// The openai library: conversations and their items.
import assert from "node:assert/strict";
import { openai, refused, run, test } from "./lib.mjs";

const client = openai();
const { conversations } = client;

const message = (text) => ({ type: "message", role: "user", content: text });
const textOf = (item) => item.content[0].text;

test("metadata is kept, replaced and emptied", async () => {
	const made = await conversations.create({ metadata: { topic: "größe" } });
	const { id } = made;

	assert.match(id, /^conv_/);
	assert.deepEqual(await conversations.retrieve(id), made);
	assert.deepEqual((await conversations.update(id,
		{ metadata: { other: "x" } })).metadata, { other: "x" });
	assert.deepEqual((await conversations.update(id,
		{ metadata: null })).metadata, {});
	const error = await refused(400, conversations.update(id,
		{ metadata: { topic: "x".repeat(513) } }));
	assert.equal(error.param, "metadata.topic");
	assert.deepEqual(await conversations.delete(id),
		{ id, object: "conversation.deleted", deleted: true });
	await refused(404, conversations.retrieve(id));
	await refused(404, conversations.items.list(id));
});

test("items are paged both ways, in the order in which they came", async () => {
	const words = ["one", "two", "three", "four", "five", "six", "seven"];
	const { id } = await conversations.create({ items: [message(words[0])] });

	for (let i = 1; i < words.length; i += 2)
		await conversations.items.create(id,
			{ items: words.slice(i, i + 2).map(message) });
	for (const order of ["asc", "desc"]) {
		const seen = [];

		for await (const item of conversations.items.list(id,
			{ order, limit: 2 }))
			seen.push(textOf(item));
		assert.deepEqual(seen,
			order === "asc" ? words : words.toReversed());
	}
	await conversations.delete(id);
});

test("outputs come to those who ask, and with a reference", async () => {
	const call = {
		type: "code_interpreter_call", id: "ci_clients", status: "completed",
		container_id: "cntr_1", code: "1",
		outputs: [{ type: "logs", logs: "1\n" }],
	};
	const first = await conversations.create({ items: [call] });
	const second = await conversations.create(
		{ items: [{ type: "item_reference", id: call.id }] });
	const where = { conversation_id: second.id };
	const include = ["code_interpreter_call.outputs"];

	assert.equal((await conversations.items.retrieve(call.id,
		where)).outputs, null);
	assert.deepEqual(await conversations.items.retrieve(call.id,
		{ ...where, include }), call);
	await conversations.delete(first.id);
	assert.deepEqual(await conversations.items.retrieve(call.id,
		{ ...where, include }), call);
	assert.equal((await conversations.items.delete(call.id, where)).id,
		second.id);
	await refused(404, conversations.items.retrieve(call.id, where));
	await conversations.delete(second.id);
});

test("nothing is fetched, and what is wrong is named", async () => {
	const { id } = await conversations.create();
	const add = (content) => conversations.items.create(id,
		{ items: [message("fine"), message(content)] });

	const error = await refused(400, add([{ type: "input_file",
		file_url: "http://127.0.0.1:1/" }]));
	assert.equal(error.param, "items[1].content[0].file_url");
	assert.equal((await refused(400, add([{ type: "none" }]))).param,
		"items[1].content[0].type");
	assert.deepEqual((await conversations.items.list(id)).data, []);
	await conversations.delete(id);
});

await run();
