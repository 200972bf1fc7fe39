// The openai library: containers and their files; and our own call that runs
// code in them.
import assert from "node:assert/strict";
import { toFile } from "openai";
import { callJson, openai, refused, run, test } from "./lib.mjs";

const client = openai();
let container;

async function text(fileId) {
	const response = await client.containers.files.content.retrieve(
		fileId, { container_id: container.id });

	return response.text();
}

function execute(code) {
	return callJson(`/v1/containers/${container.id}/exec`, { code });
}

test("a container is made with files in it", async () => {
	const file = await client.files.create({
		file: await toFile(Buffer.from("a,b\n1,2\n"), "in.csv"),
		purpose: "assistants",
	});

	container = await client.containers.create({
		name: "client test",
		expires_after: { anchor: "last_active_at", minutes: 5 },
		file_ids: [file.id],
	});
	assert.match(container.id, /^cntr_/);
	assert.equal(container.status, "running");
	assert.equal(container.expires_after.minutes, 5);
	await client.files.delete(file.id);
	const done = await execute("print(open('/mnt/data/in.csv').read())");

	assert.equal(done.stdout, "a,b\n1,2\n\n");
});

test("it is in the list, and found by its id", async () => {
	const ids = [];

	for await (const one of client.containers.list({ limit: 100 }))
		ids.push(one.id);
	assert.ok(ids.includes(container.id));
	assert.equal((await client.containers.retrieve(container.id)).name,
		"client test");
});

test("what code makes can be downloaded, what is uploaded is seen", async () => {
	const put = await client.containers.files.create(container.id, {
		file: await toFile(Buffer.from("seen"), "up.txt"),
	});

	assert.equal(put.source, "user");
	const done = await execute(
		"s = open('/mnt/data/up.txt').read()\n" +
		"open('/mnt/data/out.txt', 'w').write(s.upper())");
	const made = done.artifacts[0];

	assert.equal(made.path, "/mnt/data/out.txt");
	assert.equal(made.source, "assistant");
	assert.equal(await text(made.id), "SEEN");
	const listed = [];

	for await (const file of client.containers.files.list(container.id))
		listed.push(file.path);
	assert.deepEqual(listed.sort(), ["/mnt/data/in.csv",
		"/mnt/data/out.txt", "/mnt/data/up.txt"]);
	await client.containers.files.delete(put.id, {
		container_id: container.id,
	});
	await refused(404, client.containers.files.retrieve(put.id, {
		container_id: container.id,
	}));
});

test("a deleted container is gone", async () => {
	await client.containers.delete(container.id);
	await refused(404, client.containers.retrieve(container.id));
});

await run();
