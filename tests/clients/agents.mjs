// Foundry's prompt agents, through its project library.
import assert from "node:assert/strict";
import { run, test } from "./lib.mjs";
import { collect, fails, project } from "./project.mjs";

const { agents } = project;

function prompt(more = {}) {
	return {
		kind: "prompt", model: "m", instructions: "Hi {{who}}",
		tools: [{ type: "code_interpreter", container: { type: "auto" } }],
		structured_inputs: { who: { default_value: "you" } }, ...more,
	};
}

test("versions are made, shown and deleted", async () => {
	const first = await agents.createVersion("analyst", prompt(),
		{ description: "one", metadata: { k: "v" } });

	assert.equal(first.id, "analyst:1");
	assert.deepEqual(first.metadata, { k: "v" });
	assert.equal(first.definition.structured_inputs.who.default_value, "you");
	assert.ok(first.created_at.valueOf());
	await agents.createVersion("analyst", prompt({ temperature: 0.5 }));
	assert.equal((await agents.get("analyst")).versions.latest.version, "2");
	assert.equal((await agents.getVersion("analyst", "1")).description, "one");
	assert.equal((await agents.deleteVersion("analyst", "2")).version, "2");
	assert.equal((await agents.get("analyst")).versions.latest.version, "1");
	await fails(404, agents.getVersion("analyst", "2"));
	await agents.deleteVersion("analyst", "1");
	await fails(404, agents.get("analyst"));
});

test("an agent is made once, and changes when it changes", async () => {
	await agents.create("once", prompt());
	await fails(409, agents.create("once", prompt()));
	const same = await agents.update("once", prompt());
	const other = await agents.update("once", prompt({ top_p: 0.5 }));

	assert.equal(same.versions.latest.version, "1");
	assert.equal(other.versions.latest.version, "2");
	assert.equal((await agents.delete("once")).deleted, true);
	await fails(404, agents.update("once", prompt()));
});

test("lists go on where they stopped", async () => {
	for (const name of ["a", "b", "c"])
		await agents.create(name, prompt());
	for (const order of ["asc", "desc"]) {
		const names = (await collect(agents.list({ limit: 1, order })))
			.map((a) => a.name);

		assert.deepEqual(names, order === "asc" ? ["a", "b", "c"]
			: ["c", "b", "a"]);
	}
	await agents.update("a", prompt({ top_p: 0.5 }));
	await agents.update("a", prompt({ top_p: 0.6 }));
	const versions = await collect(agents.listVersions("a", { limit: 1 }));

	assert.deepEqual(versions.map((v) => v.version), ["3", "2", "1"]);
	for (const name of ["a", "b", "c"])
		await agents.delete(name);
	assert.deepEqual(await collect(agents.list()), []);
});

test("what cannot be an agent is refused", async () => {
	await fails(400, agents.createVersion("-bad-", prompt()));
	await fails(400, agents.createVersion("x", prompt({ model: "" })));
	await fails(400, agents.createVersion("x",
		{ kind: "external", description: "elsewhere" }));
	await fails(404, agents.get("x"));
});

await run();
