import type {
	IDataObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	IN8nHttpFullResponse,
	ITriggerFunctions,
	JsonObject,
} from 'n8n-workflow';
import { NodeApiError, sleep } from 'n8n-workflow';

import type { MemoryRequest } from './operations';

export const CREDENTIALS = 'distributedMemoryApi';
const BASE = '/api/v1/memory';
const TEMPORARY = [429, 500, 502, 503, 504];
/** How long a Retry-After is waited for, in seconds; a longer one is told at once. */
const PATIENCE = 60;

/** An answer of the service. */
export interface Answer {
	body: IDataObject;
	etag: string;
}

/** What asks the service: the node, and a trigger. */
type Asking = IExecuteFunctions | ITriggerFunctions;

/**
 * The answer to a request, which is repeated while that may help. `key` is its Idempotency-Key: however often it is sent,
 * also by n8n itself, it is done once. Throws `NodeApiError`.
 */
export async function ask(node: Asking, request: MemoryRequest, key: string, retries: number, item = 0): Promise<Answer> {
	const options = await optionsOf(node, request, key);
	for (let attempt = 0; ; attempt += 1) {
		let failure: NodeApiError;
		let asked = 0;
		let again = true;
		try {
			const response = await send(node, options);
			const body = documentOf(response.body);
			if (response.statusCode < 400) return { body, etag: String(response.headers.etag ?? '') };
			const wait = Number(response.headers['retry-after'] ?? 0);
			asked = Number.isNaN(wait) ? 0 : wait;
			again = TEMPORARY.includes(response.statusCode) || codeOf(body) === 'IDEMPOTENCY_KEY_IN_PROGRESS';
			failure = failureOf(node, response.statusCode, body, item);
		} catch (error) {
			failure = new NodeApiError(node.getNode(), error as JsonObject, { itemIndex: item });
		}
		if (!again || attempt >= retries || asked > PATIENCE) throw failure;
		await sleep(1000 * (asked + Math.random() * Math.min(8, 0.5 * 2 ** attempt)));
	}
}

/** How n8n is to send a request. */
export async function optionsOf(node: Asking, request: MemoryRequest, key = ''): Promise<IHttpRequestOptions> {
	const { baseUrl } = await node.getCredentials<{ baseUrl: string }>(CREDENTIALS);
	const { method, path, body, qs = {}, headers = {} } = request;
	return {
		method,
		url: `${baseUrl.replace(/\/+$/, '')}${BASE}${path}`,
		qs,
		headers: { Accept: 'application/json', ...headers, ...(key ? { 'Idempotency-Key': key } : {}) },
		...(body ? { body } : {}),
		json: true,
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		timeout: 30_000,
	};
}

/** Sends it with the credentials. */
export async function send(node: Asking, options: IHttpRequestOptions): Promise<IN8nHttpFullResponse> {
	const sent = node.helpers.httpRequestWithAuthentication.call(node, CREDENTIALS, options);
	return (await sent) as IN8nHttpFullResponse;
}

/** The error that an answer tells. */
export function failureOf(node: Asking, status: number, body: IDataObject, item = 0): NodeApiError {
	const error = (body.error ?? {}) as IDataObject;
	const description = JSON.stringify({ ...(error.details as IDataObject), request_id: body.request_id });
	return new NodeApiError(node.getNode(), body as JsonObject, {
		message: `${codeOf(body) || `HTTP ${status}`}: ${String(error.message ?? 'no reason was given')}`,
		description,
		httpCode: String(status),
		itemIndex: item,
	});
}

function codeOf(body: IDataObject): string {
	return String((body.error as IDataObject | undefined)?.code ?? '');
}

function documentOf(body: unknown): IDataObject {
	return typeof body === 'object' && body !== null ? (body as IDataObject) : {};
}
