// Ask a question about a table: the model writes code, Cupola runs it, and the
// files it made come back.
//
//	npm install --no-save openai		# it wants Node.js 20 or newer
//	export CUPOLA_URL=http://127.0.0.1:8080 CUPOLA_API_KEY=ck-... MODEL=qwen3
//	node agent.mjs table.csv "What is the standard deviation of price? Draw it."
//
// Only baseURL differs from a program for OpenAI's own service.
import { createReadStream } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import OpenAI from "openai";

const { CUPOLA_URL, CUPOLA_API_KEY, MODEL } = process.env;
const [table, question] = process.argv.slice(2);

if (!question || !CUPOLA_URL || !CUPOLA_API_KEY || !MODEL) {
	console.error("usage: agent.mjs FILE QUESTION, with CUPOLA_URL, " +
		"CUPOLA_API_KEY and MODEL set");
	process.exit(2);
}

const openai = new OpenAI({
	baseURL: `${CUPOLA_URL}/v1`,
	apiKey: CUPOLA_API_KEY,
});

const file = await openai.files.create(
	{ file: createReadStream(table), purpose: "assistants" });
const conversation = await openai.conversations.create();

const stream = await openai.responses.create({
	model: MODEL,
	conversation: conversation.id,
	instructions: "You are an analyst. Run code to answer, save charts below " +
		"/mnt/data and link to them.",
	tools: [{
		type: "code_interpreter",
		container: { type: "auto", file_ids: [file.id] },
	}],
	input: question,
	stream: true,
});

let response;

for await (const event of stream) {
	if (event.type === "response.code_interpreter_call_code.delta")
		process.stderr.write(event.delta);
	else if (event.type === "response.code_interpreter_call_code.done")
		process.stderr.write("\n");
	else if (event.type === "response.output_text.delta")
		process.stdout.write(event.delta);
	else if (event.response)
		response = event.response;
}
console.log();
if (response.status !== "completed")
	throw new Error(response.error?.message ?? response.status);

const citations = response.output
	.filter((item) => item.type === "message")
	.flatMap((item) => item.content)
	.flatMap((part) => part.annotations ?? [])
	.filter((a) => a.type === "container_file_citation");

// The model chose the names: they are for a directory where nothing else is.
await mkdir("out", { recursive: true });
for (const citation of citations) {
	const to = path.join("out", path.basename(citation.filename));
	const content = await openai.containers.files.content.retrieve(
		citation.file_id, { container_id: citation.container_id });

	await writeFile(to, Buffer.from(await content.arrayBuffer()));
	console.log(`saved ${to}`);
}

// This ends the container, too. What the code made stays for a while.
await openai.conversations.delete(conversation.id);
await openai.files.delete(file.id);
