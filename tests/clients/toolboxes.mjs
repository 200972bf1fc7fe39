// Foundry's toolboxes, through its project library, and their MCP endpoints.
import assert from "node:assert/strict";
import { AIProjectClient } from "@azure/ai-projects";
import { call, key, refused, run, test, url } from "./lib.mjs";

const endpoint = `${url}/api/projects/default`;

// The library sends tokens over TLS only.
const plain = {
	name: "plain",
	sendRequest: async (request, next) => {
		const https = request.url;

		request.url = https.replace(/^https:/, "http:");
		request.allowInsecureConnection = true;
		try {
			return await next(request);
		} finally {
			request.url = https;
		}
	},
};
const project = new AIProjectClient(endpoint.replace(/^http:/, "https:"), {
	getToken: async () => ({
		token: key, expiresOnTimestamp: Date.now() + 3_600_000,
	}),
}, {
	retryOptions: { maxRetries: 0 },
	additionalPolicies: [{ position: "perRetry", policy: plain }],
});
const toolboxes = project.toolboxes ?? project.beta.toolboxes;
const entry = { type: "code_interpreter", container: { type: "auto" } };

async function rpc(path, method, params) {
	const response = await call(`/api/projects/default${path}`, {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
	});

	assert.equal(response.status, 200);
	return (await response.json()).result;
}

async function collect(items) {
	const all = [];

	for await (const item of items)
		all.push(item);
	return all;
}

function gone(promise) {
	return refused(404, promise.catch((error) => {
		throw Object.assign(error, { status: Number(error.statusCode) });
	}));
}

test("versions are made, promoted and deleted", async () => {
	const first = await toolboxes.createVersion("box", [entry],
		{ description: "one", metadata: { k: "v" } });

	assert.equal(first.version, "1");
	assert.deepEqual(first.metadata, { k: "v" });
	await toolboxes.createVersion("box", [{ ...entry, name: "run_python" }]);
	assert.equal((await toolboxes.update("box", "2")).default_version, "2");
	assert.deepEqual((await collect(toolboxes.listVersions("box")))
		.map((v) => v.version), ["2", "1"]);
	assert.deepEqual((await collect(toolboxes.list())).map((t) => t.name),
		["box"]);
	await toolboxes.deleteVersion("box", "1");
	await gone(toolboxes.getVersion("box", "1"));
});

test("the endpoint offers its entries and runs code", async () => {
	const path = "/toolboxes/box/mcp?api-version=v1";
	const { tools } = await rpc(path, "tools/list", {});

	assert.deepEqual(tools.map((t) => t.name), ["run_python"]);
	const result = await rpc(path, "tools/call",
		{ name: "run_python", arguments: { code: "print(6 * 7)" } });

	assert.equal(result.structuredContent.stdout, "42\n");
});

test("a toolbox that was deleted is gone", async () => {
	await toolboxes.delete("box");
	await gone(toolboxes.get("box"));
});

await run();
