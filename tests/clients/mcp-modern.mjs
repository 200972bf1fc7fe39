// MCP of 2026-07-28, as the official client of the second generation speaks it,
// at each kind of endpoint; and the same client where it keeps to sessions.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from
	"@modelcontextprotocol/client";
import { call, callJson, key, run, test, url } from "./lib.mjs";

const options = { timeout: 300_000 };
const box = `box-${Date.now()}`;
const toolbox = `/api/projects/clients/toolboxes/${box}`;

await callJson(`${toolbox}/versions?api-version=v1`,
	{ tools: [{ type: "code_interpreter" }] });

const places = {
	server: "/mcp",
	pool: "/pools/default/mcp",
	toolbox: `${toolbox}/mcp?api-version=v1`,
};

async function connect(path, mode) {
	const client = new Client({ name: "test", version: "1" },
		{ capabilities: {}, versionNegotiation: { mode } });
	const transport = new StreamableHTTPClientTransport(
		new URL(`${url}${path}`),
		{ requestInit: { headers: { Authorization: `Bearer ${key}` } } });

	await client.connect(transport, options);
	return { client, transport };
}

function python(client, args, more = {}) {
	return client.callTool({ name: "code_interpreter", arguments: args },
		{ ...options, ...more });
}

for (const [place, path] of Object.entries(places)) {
	test(`${place}: the client finds the modern era by itself`, async () => {
		const { client, transport } = await connect(path, "auto");

		assert.equal(client.getNegotiatedProtocolVersion(),
			"2026-07-28");
		assert.equal(transport.sessionId, undefined);
		assert.ok((await client.listTools()).tools
			.some((t) => t.name === "code_interpreter"));
		await client.close();
	});

	test(`${place}: state is kept by the container's id`, async () => {
		const { client } = await connect(path, { pin: "2026-07-28" });
		const first = await python(client, { code: "x = 40" });
		const id = first.structuredContent.container_id;
		const second = await python(client,
			{ code: "x + 2", container_id: id });

		assert.equal(second.structuredContent.result, "42");
		const wrong = await python(client,
			{ code: "1", container_id: "cntr_none" });

		assert.equal(wrong.isError, true);
		assert.match(wrong.content[0].text, /cntr_none/);
		await client.close();
	});

	test(`${place}: the same client keeps to sessions`, async () => {
		const { client, transport } = await connect(path, "legacy");

		const id = transport.sessionId;

		assert.ok(id);
		await client.ping();
		await transport.terminateSession();
		const gone = await call(path, {
			method: "POST",
			headers: { "Content-Type": "application/json",
				"Mcp-Session-Id": id },
			body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
		});

		assert.equal(gone.status, 404);
		await client.close();
	});
}

test("progress is told, and a call that is left is interrupted", async () => {
	const { client } = await connect(places.server, { pin: "2026-07-28" });
	const seen = [];
	// The VM boots here, so that nothing below measures that.
	const booted = await python(client, { code: "import time\nx = 1" });
	const id = booted.structuredContent.container_id;

	await python(client, { code: "time.sleep(3)", container_id: id },
		{ onprogress: (p) => seen.push(p.progress) });
	assert.ok(seen.length > 0);
	assert.deepEqual(seen, [...seen].sort((a, b) => a - b));
	const stop = new AbortController();
	const left = python(client,
		{ code: "time.sleep(45)", container_id: id },
		{ signal: stop.signal });

	setTimeout(() => stop.abort("enough"), 1000);
	await assert.rejects(left);
	const began = Date.now();
	const after = await python(client, { code: "x", container_id: id });

	assert.equal(after.structuredContent.result, "1");
	assert.ok(Date.now() - began < 30_000);
	await client.close();
});

test("artifacts are linked, listed and read", async () => {
	const { client } = await connect(places.server, { pin: "2026-07-28" });
	const made = await python(client, {
		code: "open('/mnt/data/out.txt', 'w').write('HELLO')",
	});
	const link = made.content.find((c) => c.type === "resource_link");
	const { resources } = await client.listResources();

	assert.ok(resources.some((r) => r.uri === link.uri));
	const { contents } = await client.readResource({ uri: link.uri });

	assert.equal(contents[0].text, "HELLO");
	await client.close();
});

test("a tool that there is not is an error of the protocol", async () => {
	const { client } = await connect(places.server, { pin: "2026-07-28" });

	await assert.rejects(
		client.callTool({ name: "nothing", arguments: {} }, options),
		(error) => error.code === -32602);
	await client.close();
});

await run();
