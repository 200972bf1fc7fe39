// Foundry's toolboxes, through its project library, and their MCP endpoints.
import assert from "node:assert/strict";
import { call, run, test } from "./lib.mjs";
import { collect, fails, project } from "./project.mjs";

const toolboxes = project.toolboxes ?? project.beta.toolboxes;
const entry = { type: "code_interpreter", container: { type: "auto" } };

async function rpc(path, method, params) {
	const response = await call(`/api/projects/library${path}`, {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
	});

	assert.equal(response.status, 200);
	return (await response.json()).result;
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
	await fails(404, toolboxes.getVersion("box", "1"));
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
	await fails(404, toolboxes.get("box"));
});

await run();
