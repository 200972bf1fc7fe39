// MCP, as its official client speaks it.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from
	"@modelcontextprotocol/sdk/client/streamableHttp.js";
import { call, key, run, test, url } from "./lib.mjs";

const options = { timeout: 300_000 };

async function connect() {
	const client = new Client({ name: "test", version: "1" },
		{ capabilities: {} });
	const transport = new StreamableHTTPClientTransport(
		new URL(`${url}/mcp`),
		{ requestInit: { headers: { Authorization: `Bearer ${key}` } } });

	await client.connect(transport);
	return { client, transport };
}

function tool(client, name, args, more = {}) {
	return client.callTool({ name, arguments: args }, undefined,
		{ ...options, ...more });
}

// Its VM boots before the tests, so that none of them measures that.
const one = await connect();
await tool(one.client, "code_interpreter", { code: "pass" });

test("tools are listed, and the client takes their schemas", async () => {
	const { tools } = await one.client.listTools();

	assert.deepEqual(tools.map((t) => t.name),
		["code_interpreter", "upload_file", "list_files", "read_file"]);
	await one.client.ping();
});

test("state is kept in the session", async () => {
	await tool(one.client, "code_interpreter", { code: "x = 40" });
	const result = await tool(one.client, "code_interpreter",
		{ code: "x + 2" });

	assert.equal(result.structuredContent.result, "42");
	assert.equal(result.isError, false);
	const failed = await tool(one.client, "code_interpreter",
		{ code: "1 / 0" });

	assert.match(failed.content[0].text, /ZeroDivisionError/);
});

test("files go in, and come out as resources", async () => {
	await tool(one.client, "upload_file",
		{ path: "in.txt", content: "hello" });
	const made = await tool(one.client, "code_interpreter", {
		code: "open('/mnt/data/out.txt', 'w').write(" +
			"open('/mnt/data/in.txt').read().upper())",
	});
	const link = made.content.find((c) => c.type === "resource_link");
	const read = await tool(one.client, "read_file", { path: "out.txt" });

	assert.equal(read.content[0].text, "HELLO");
	assert.equal(link.name, "out.txt");
	const { resources } = await one.client.listResources();

	assert.ok(resources.some((r) => r.uri === link.uri));
	const { contents } = await one.client.readResource({ uri: link.uri });

	assert.equal(contents[0].text, "HELLO");
	const { structuredContent } = await tool(one.client, "list_files", {});

	assert.deepEqual(structuredContent.files.map((f) => f.path).sort(),
		["/mnt/data/in.txt", "/mnt/data/out.txt"]);
});

test("progress rises while code runs", async () => {
	const seen = [];
	const result = await tool(one.client, "code_interpreter",
		{ code: "import time\nfor i in range(4):\n" +
			" print('step', i, flush=True)\n time.sleep(1)" },
		{ onprogress: (p) => seen.push(p.progress) });

	assert.match(result.structuredContent.stdout, /step 3/);
	assert.ok(seen.length > 0);
	assert.deepEqual(seen, [...seen].sort((a, b) => a - b));
});

test("a call that is given up is interrupted", async () => {
	const stop = new AbortController();
	const pending = tool(one.client, "code_interpreter",
		{ code: "import time\ntime.sleep(45)" }, { signal: stop.signal });

	setTimeout(() => stop.abort("enough"), 1000);
	await assert.rejects(pending);
	const began = Date.now();
	const result = await tool(one.client, "code_interpreter",
		{ code: "x" });

	assert.equal(result.structuredContent.result, "40");
	assert.ok(Date.now() - began < 30_000);
});

test("a container is a handle for who has no session", async () => {
	const first = await tool(one.client, "code_interpreter", { code: "x" });
	const response = await call("/mcp", {
		method: "POST",
		headers: {
			"Content-Type": "application/json",
			"MCP-Protocol-Version": "2026-07-28",
			"Mcp-Method": "tools/call",
			"Mcp-Name": "code_interpreter",
		},
		body: JSON.stringify({
			jsonrpc: "2.0", id: 1, method: "tools/call", params: {
				name: "code_interpreter",
				arguments: {
					code: "x", container_id:
					first.structuredContent.container_id,
				},
				_meta: {
					"io.modelcontextprotocol/protocolVersion":
						"2026-07-28",
					"io.modelcontextprotocol/clientCapabilities":
						{},
				},
			},
		}),
	});
	const { result } = await response.json();

	assert.equal(result.resultType, "complete");
	assert.equal(result.structuredContent.result, "40");
});

test("a session that was ended is gone", async () => {
	const id = one.transport.sessionId;

	await one.transport.terminateSession();
	const response = await call("/mcp", {
		method: "POST",
		headers: { "Content-Type": "application/json",
			"Mcp-Session-Id": id },
		body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
	});

	assert.equal(response.status, 404);
});

await run();
