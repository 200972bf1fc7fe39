// What the programs share: where the daemon is, and a runner that prints TAP.
//
// CUPOLA_URL and CUPOLA_API_KEY name the daemon.
import assert from "node:assert/strict";
import OpenAI from "openai";

export const url = process.env.CUPOLA_URL;
export const key = process.env.CUPOLA_API_KEY;

// A VM under emulation takes its time to boot.
const patienceMs = 300_000;

export function openai() {
	return new OpenAI({
		baseURL: `${url}/v1`,
		apiKey: key,
		maxRetries: 0,
		timeout: patienceMs,
	});
}

export function call(path, options = {}) {
	return fetch(`${url}${path}`, {
		...options,
		headers: { Authorization: `Bearer ${key}`, ...options.headers },
		signal: AbortSignal.timeout(patienceMs),
	});
}

export async function callJson(path, body) {
	const response = await call(path, body === undefined ? {} : {
		method: "POST",
		headers: { "Content-Type": "application/json" },
		body: JSON.stringify(body),
	});
	const text = await response.text();

	assert.ok(response.ok, `${path}: ${response.status} ${text}`);
	return JSON.parse(text);
}

// refused() - The call must fail with this status; its error is returned
export async function refused(status, promise) {
	try {
		await promise;
	} catch (error) {
		assert.equal(error.status, status, error.message);
		return error;
	}
	assert.fail(`no error, where ${status} was expected`);
}

const tests = [];

export function test(name, body) {
	tests.push([name, body]);
}

export async function run() {
	let failed = 0;

	console.log(`1..${tests.length}`);
	for (const [i, [name, body]] of tests.entries()) {
		try {
			await body();
			console.log(`ok ${i + 1} - ${name}`);
		} catch (error) {
			failed++;
			console.log(`not ok ${i + 1} - ${name}`);
			console.log((error.stack ?? String(error))
				.replace(/^/gm, "# "));
		}
	}
	process.exit(failed > 0 ? 1 : 0);
}
