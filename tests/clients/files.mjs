// The openai library: files, and files in parts.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { toFile } from "openai";
import { openai, refused, run, test } from "./lib.mjs";

const client = openai();

async function upload(name, bytes, purpose = "assistants") {
	return client.files.create({
		file: await toFile(bytes, name),
		purpose,
	});
}

async function content(id) {
	const response = await client.files.content(id);

	return Buffer.from(await response.arrayBuffer());
}

test("a file goes up and comes down byte for byte", async () => {
	const bytes = randomBytes(300_001);
	const file = await upload("données 1.bin", bytes, "user_data");

	assert.match(file.id, /^file-/);
	assert.equal(file.filename, "données 1.bin");
	assert.equal(file.bytes, bytes.length);
	assert.equal((await client.files.waitForProcessing(file.id)).status,
		"processed");
	assert.deepEqual(await content(file.id), bytes);
	assert.equal((await client.files.delete(file.id)).deleted, true);
	await refused(404, client.files.retrieve(file.id));
});

test("a list is paged in the order of creation", async () => {
	const made = [];

	for (let i = 0; i < 5; i++)
		made.push((await upload(`${i}.txt`, Buffer.from(`${i}`),
			"evals")).id);
	const seen = [];

	for await (const file of client.files.list({
		purpose: "evals", limit: 2, order: "asc",
	}))
		seen.push(file.id);
	assert.deepEqual(seen, made);
	for (const id of made)
		await client.files.delete(id);
});

test("what is wrong is named", async () => {
	const purpose = await refused(400,
		upload("a.txt", Buffer.from("a"), "nonsense"));

	assert.equal(purpose.param, "purpose");
	await refused(404, client.files.retrieve("file-none"));
	await refused(400, client.files.list({ limit: 0 }));
});

test("parts sent in any order make one file", async () => {
	const bytes = randomBytes(250_000);
	const md5 = createHash("md5").update(bytes).digest("hex");
	const begun = await client.uploads.create({
		filename: "big.bin",
		purpose: "assistants",
		bytes: bytes.length,
		mime_type: "application/octet-stream",
	});

	assert.equal(begun.status, "pending");
	const part = async (from, to) => (await client.uploads.parts.create(
		begun.id, { data: await toFile(bytes.subarray(from, to), "p") })).id;
	const ids = await Promise.all([
		part(200_000, 250_000), part(0, 100_000), part(100_000, 200_000),
	]);
	const wrong = await refused(400, client.uploads.complete(begun.id, {
		part_ids: [ids[1]],
	}));

	assert.match(wrong.message, /100000.*250000/);
	const done = await client.uploads.complete(begun.id, {
		part_ids: [ids[1], ids[2], ids[0]], md5,
	});

	assert.equal(done.status, "completed");
	assert.deepEqual(await content(done.file.id), bytes);
	await refused(400, client.uploads.cancel(begun.id));
	await client.files.delete(done.file.id);
});

test("an upload can be cancelled", async () => {
	const begun = await client.uploads.create({
		filename: "x.bin", purpose: "assistants", bytes: 1,
		mime_type: "text/plain",
	});

	assert.equal((await client.uploads.cancel(begun.id)).status,
		"cancelled");
	await refused(400, client.uploads.complete(begun.id, {
		part_ids: [],
	}));
});

await run();
