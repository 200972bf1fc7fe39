// Container Apps dynamic sessions, as its REST clients call them.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { call, callJson, run, test } from "./lib.mjs";

const id = randomUUID();
const old = `api-version=2024-02-02-preview&identifier=${id}`;
const now = `api-version=2025-02-02-preview&identifier=${id}`;
const pool = "/subscriptions/s/resourceGroups/g/sessionPools/default";

async function oldRun(code) {
	const answer = await callJson(`${pool}/code/execute?${old}`, {
		properties: {
			codeInputType: "inline", executionType: "synchronous", code,
		},
	});

	return answer.properties;
}

test("code runs, and state is kept by identifier", async () => {
	const first = await oldRun("x = 40\nprint('hello')\n'value'");

	assert.equal(first.status, "Success");
	assert.equal(first.stdout, "hello\n");
	assert.equal(first.result, "value");
	assert.equal((await oldRun("x + 2")).result, 42);
	const failed = await oldRun("1 / 0");

	assert.equal(failed.status, "Failure");
	assert.match(failed.stderr, /ZeroDivisionError/);
});

test("both families see one session", async () => {
	const done = await callJson(`/executions?${now}`, {
		codeInputType: "Inline", executionType: "Synchronous",
		code: "x * 2",
	});

	assert.equal(done.identifier, id);
	assert.equal(done.status, "Succeeded");
	assert.equal(done.result.executionResult, 80);
	const read = await callJson(`/executions/${done.id}?${now}`);

	assert.deepEqual(read.result, done.result);
});

test("an asynchronous execution is polled where it says", async () => {
	const response = await call(`/pools/default/executions?${now}`, {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: JSON.stringify({
			executionType: "Asynchronous",
			code: "import time; time.sleep(1); print('late')",
		}),
	});

	assert.equal(response.status, 202);
	const where = new URL(response.headers.get("operation-location"));
	let read;

	do {
		await new Promise((resolve) => setTimeout(resolve, 300));
		read = await callJson(where.pathname + where.search);
	} while (read.status === "NotStarted" || read.status === "Running");
	assert.equal(read.status, "Succeeded");
	assert.equal(read.result.stdout, "late\n");
});

test("a shell command has its exit code as status", async () => {
	const done = await callJson(`/executions?${now}`, {
		shellCommand: "echo out; exit 3",
	});

	assert.equal(done.status, "3");
	assert.equal(done.result.stdout, "out\n");
});

test("files go into directories and come back", async () => {
	const form = new FormData();

	form.set("file", new Blob(["1,2\n"]), "a b.csv");
	const put = await call(`/files?path=sub&${now}`, {
		method: "POST", body: form,
	});

	assert.equal(put.status, 200);
	const entry = await put.json();

	assert.equal(entry.name, "a b.csv");
	assert.equal(entry.directory, "sub");
	assert.equal(entry.sizeInBytes, 4);
	const top = (await callJson(`/files?${now}`)).value;

	assert.deepEqual(top.map((e) => [e.type, e.name]),
		[["directory", "sub"]]);
	const body = await call(
		`/files/${encodeURIComponent("a b.csv")}/content?path=sub&${now}`);

	assert.equal(await body.text(), "1,2\n");
	const gone = await call(
		`/files/${encodeURIComponent("a b.csv")}?path=sub&${now}`,
		{ method: "DELETE" });

	assert.equal(gone.status, 204);
});

test("the session can be ended, and the next use begins a new one", async () => {
	const session = await callJson(`/session?${now}`);

	assert.equal(session.identifier, id);
	const ended = await call(`/session?${now}`, { method: "DELETE" });

	assert.equal(ended.status, 204);
	assert.equal((await call(`/session?${now}`)).status, 404);
});

await run();
