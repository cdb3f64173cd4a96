import type { IDataObject, ITriggerFunctions } from 'n8n-workflow';
import { jsonParse, sleep } from 'n8n-workflow';

import { ask, failureOf, optionsOf, send } from '../DistributedMemory/request';

/** An event of the service, or `resync_required`. */
export interface MemoryEvent extends IDataObject {
	event: string;
	cursor: string;
}

/** A stream as Node has it. */
interface Readable extends AsyncIterable<Uint8Array> {
	destroy(): void;
}

const UNSEEN = ['subscribed', 'ping'];
const TEMPORARY = [429, 500, 502, 503, 504];
/** Seconds until the next connection is tried, at most. */
const LONGEST_WAIT = 4;

/**
 * Follows the events after a cursor, each once and in order, until it is closed. It goes on by itself after whatever
 * interrupts it. `onEvent` is called for each.
 */
export class Follower {
	private isClosed = false;

	private stream?: Readable;

	private subscription = '';

	constructor(
		private readonly node: ITriggerFunctions,
		private readonly wish: IDataObject,
		private cursor: string,
		private readonly onEvent: (event: MemoryEvent) => void,
	) {}

	/** Subscribes: from now on no event is missed. Throws `NodeApiError`. */
	async open(): Promise<void> {
		const request = { method: 'POST' as const, path: '/subscribe', body: this.wish };
		const { body } = await ask(this.node, request, '', 4);
		this.subscription = String(body.subscription_id);
		this.cursor = this.cursor || String(body.cursor);
	}

	/** Follows until it is closed. Throws what ends the events for good. */
	async follow(): Promise<void> {
		for (let failures = 0; !this.isClosed; failures += 1) {
			const before = this.cursor;
			await this.followOnce();
			if (this.cursor !== before) failures = 0;
			if (!this.isClosed) await sleep(1000 * Math.random() * Math.min(LONGEST_WAIT, 0.1 * 2 ** failures));
		}
	}

	/** Ends the subscription; the service would forget it by itself in a month. */
	async close(): Promise<void> {
		this.isClosed = true;
		this.stream?.destroy();
		const options = await optionsOf(this.node, { method: 'DELETE', path: `/subscribe/${this.subscription}` });
		await Promise.allSettled([send(this.node, options)]);
	}

	/** Reads one connection to its end. Returns if another one may go on. */
	private async followOnce(): Promise<void> {
		const qs = { cursor: this.cursor, subscription: this.subscription };
		const headers = { Accept: 'text/event-stream' };
		const asked = await optionsOf(this.node, { method: 'GET', path: '/events', qs, headers });
		const [sent] = await Promise.allSettled([send(this.node, { ...asked, encoding: 'stream', json: false, timeout: 0 })]);
		if (sent.status === 'rejected') return;
		const { statusCode, body } = sent.value;
		this.stream = body as unknown as Readable;
		if (this.isClosed) return this.stream.destroy();
		const [read] = await Promise.allSettled([statusCode === 200 ? this.read(this.stream) : textOf(this.stream)]);
		if (statusCode === 200 || TEMPORARY.includes(statusCode)) return;
		if (statusCode === 404) return await this.open(); // it has expired: go on from the cursor
		const text = read.status === 'fulfilled' && read.value ? read.value : '{}';
		throw failureOf(this.node, statusCode, jsonParse<IDataObject>(text, { fallbackValue: {} }));
	}

	private async read(stream: Readable): Promise<void> {
		const decoder = new TextDecoder();
		let rest = '';
		for await (const part of stream) {
			const blocks = (rest + decoder.decode(part, { stream: true })).split('\n\n');
			rest = blocks.pop() ?? '';
			for (const block of blocks) this.tell(block);
		}
	}

	private tell(block: string): void {
		const data = block.split('\n').filter((line) => line.startsWith('data:'));
		const event = JSON.parse(data.map((line) => line.slice(5)).join('')) as MemoryEvent;
		if (this.isClosed || !event.cursor) return; // an error in the stream: the next connection tells it by its status
		this.cursor = event.cursor;
		if (!UNSEEN.includes(event.event)) this.onEvent(event);
	}
}

async function textOf(stream: Readable): Promise<string> {
	const decoder = new TextDecoder();
	let text = '';
	for await (const part of stream) text += decoder.decode(part, { stream: true });
	return text;
}
