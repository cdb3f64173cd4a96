import type { IDataObject, IExecuteFunctions, IHttpRequestMethods } from 'n8n-workflow';
import { jsonParse, NodeOperationError } from 'n8n-workflow';

/** A request to the service; `path` is below `/api/v1/memory`. */
export interface MemoryRequest {
	method: IHttpRequestMethods;
	path: string;
	body?: IDataObject | IDataObject[];
	qs?: IDataObject;
	headers?: IDataObject;
	/** The member of the answer that lists the items, where there are several. */
	items?: string;
}

/** Reads the parameters of one item. */
export class Parameters {
	constructor(
		private readonly node: IExecuteFunctions,
		private readonly item: number,
	) {}

	text(name: string): string {
		return String(this.node.getNodeParameter(name, this.item, ''));
	}

	/** A text that is a part of an address. */
	id(name: string): string {
		return encodeURIComponent(this.text(name));
	}

	number(name: string): number {
		return Number(this.node.getNodeParameter(name, this.item, 0));
	}

	/** A JSON document, which a parameter may have as text. */
	json(name: string): IDataObject {
		const value: unknown = this.node.getNodeParameter(name, this.item, {});
		const parsed = typeof value === 'string' ? jsonParse<unknown>(value || '{}', { fallbackValue: null }) : value;
		if (typeof parsed === 'object' && parsed !== null) return parsed as IDataObject;
		throw new NodeOperationError(this.node.getNode(), `"${name}" is no JSON document`, { itemIndex: this.item });
	}

	/** What a collection has that is not empty; a list is written with commas, a document as JSON. */
	some(collection: string, lists: string[] = []): IDataObject {
		const given = this.node.getNodeParameter(collection, this.item, {}) as IDataObject;
		const some = Object.entries(given).filter(([, value]) => value !== '' && value !== undefined && value !== null);
		return Object.fromEntries(some.map(([name, value]) => [name, lists.includes(name) ? listed(value) : value]));
	}
}

const MERGE_PATCH = 'application/merge-patch+json';

/** How each operation asks the service, by resource and operation. */
export const OPERATIONS: Record<string, Record<string, (parameters: Parameters) => MemoryRequest>> = {
	context: {
		create: (p) => {
			const { metadata = '{}', ...access } = p.some('additionalFields', ['authorized_agents']);
			const body = { session_id: p.text('sessionId'), context: p.json('context'), ...access };
			return { method: 'POST', path: '/context', body: { ...body, metadata: parsed(metadata) } };
		},
		get: (p) => ({ method: 'GET', path: `/context/${p.id('sessionId')}` }),
		replace: (p) => ({
			method: 'PUT',
			path: `/context/${p.id('sessionId')}`,
			body: without(p.json('package'), 'etag'),
			headers: { 'If-Match': p.text('etag') },
		}),
		update: (p) => patch(`/context/${p.id('sessionId')}`, p.json('changes')),
		updateFocus: (p) =>
			patch(`/context/${p.id('sessionId')}`, { context: { immediate: { current_focus: p.json('focus') } } }),
		delete: (p) => ({ method: 'DELETE', path: `/context/${p.id('sessionId')}` }),
	},
	entry: {
		create: (p) => {
			const given = p.some('additionalFields', ['tags', 'references', 'authorized_agents']);
			const { tags = [], references = [], session, ...rest } = given;
			const data = { content: p.json('content'), meta_tags: tags, references };
			const source = session ? { source: { type: 'function', session } } : {};
			return { method: 'POST', path: '/entries', body: { data, level: p.text('level'), ...source, ...rest } };
		},
		get: (p) => ({ method: 'GET', path: `/entries/${p.id('entryId')}` }),
		getAll: (p) => ({ method: 'GET', path: '/query', qs: p.some('filters'), items: 'entries' }),
		search: (p) => {
			const body = { query: p.text('query'), limit: p.number('limit'), ...p.some('filters', ['tags']) };
			return { method: 'POST', path: '/search', body };
		},
		update: (p) => patch(`/entries/${p.id('entryId')}`, p.json('changes')),
		delete: (p) => ({ method: 'DELETE', path: `/entries/${p.id('entryId')}` }),
	},
	handoff: {
		create: (p) => {
			const { context = '{}', ...rest } = p.some('additionalFields');
			const from = { type: 'chat', id: p.text('sessionId') };
			const body = { from, to: { type: p.text('toType'), id: p.text('toId') }, instructions: p.text('instructions') };
			return { method: 'POST', path: '/handoff', body: { ...body, context: parsed(context), ...rest } };
		},
		get: (p) => ({ method: 'GET', path: `/handoff/${p.id('handoffId')}` }),
		getAll: (p) => ({ method: 'GET', path: '/handoff', qs: p.some('filters'), items: 'handoffs' }),
		claim: (p) => step(p, 'claim', { lease_seconds: p.number('leaseSeconds') }),
		complete: (p) => step(p, 'complete', { claim_id: p.text('claimId'), result: p.json('result') }),
		reject: (p) => step(p, 'reject', { claim_id: p.text('claimId'), reason: p.text('reason') }),
		cancel: (p) => step(p, 'cancel', { reason: p.text('reason') }),
	},
	agent: {
		get: (p) => ({ method: 'GET', path: `/agent/${p.id('agentId')}/state` }),
		getAll: (p) => ({
			method: 'GET',
			path: `/agent/${p.id('agentId')}/history`,
			qs: { limit: p.number('limit') },
			items: 'history',
		}),
		update: (p) => {
			const body = { state: p.json('state'), mode: p.text('mode') };
			return { method: 'POST', path: `/agent/${p.id('agentId')}/update`, body };
		},
	},
	page: {
		get: (p) => ({ method: 'GET', path: `/pages/${p.text('path').split('/').map(encodeURIComponent).join('/')}` }),
		getAll: () => ({ method: 'GET', path: '/pages', items: 'pages' }),
		create: (p) => ({ method: 'POST', path: '/pages', body: { text: p.text('text'), ...p.some('additionalFields') } }),
	},
};

function patch(path: string, body: IDataObject): MemoryRequest {
	return { method: 'PATCH', path, body, headers: { 'Content-Type': MERGE_PATCH } };
}

function step(p: Parameters, name: string, body: IDataObject): MemoryRequest {
	return { method: 'POST', path: `/handoff/${p.id('handoffId')}/${name}`, body };
}

function parsed(value: unknown): IDataObject {
	return typeof value === 'string' ? jsonParse<IDataObject>(value) : (value as IDataObject);
}

function listed(value: unknown): string[] {
	return Array.isArray(value) ? value.map(String) : String(value).split(',').map((each) => each.trim()).filter(Boolean);
}

function without(document: IDataObject, name: string): IDataObject {
	return Object.fromEntries(Object.entries(document).filter(([key]) => key !== name));
}
