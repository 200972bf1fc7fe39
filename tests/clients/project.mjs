// Foundry's project library, talking to the daemon.
import { AIProjectClient } from "@azure/ai-projects";
import { key, refused, url } from "./lib.mjs";

// Of its own: others may have left things in "default".
export const endpoint = `${url}/api/projects/library`;

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

export const project = new AIProjectClient(
	endpoint.replace(/^http:/, "https:"), {
		getToken: async () => ({
			token: key, expiresOnTimestamp: Date.now() + 3_600_000,
		}),
	}, {
		retryOptions: { maxRetries: 0 },
		additionalPolicies: [{ position: "perRetry", policy: plain }],
	});

export async function collect(items) {
	const all = [];

	for await (const item of items)
		all.push(item);
	return all;
}

// fails() - refused() for a call of this library
export function fails(status, promise) {
	return refused(status, promise.catch((error) => {
		throw Object.assign(error, { status: Number(error.statusCode) });
	}));
}
