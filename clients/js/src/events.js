import { NotConnected, NotFound, ServiceError, serviceError } from './errors.js';
import { TEMPORARY } from './wire.js';

/**
 * A change, or `resync_required`: events were missed, so load the state again.
 *
 * @typedef {object} Event
 * @property {string} event
 * @property {string} cursor
 * @property {string} [id]
 * @property {string} [subject]
 * @property {string} [time]
 * @property {'immediate' | 'working' | 'longterm'} [level]
 * @property {any} [data]
 */

/**
 * Which events are wanted; an empty list is all of them.
 *
 * @typedef {object} Wish
 * @property {string[]} [events]
 * @property {string[]} [levels]
 * @property {string[]} [sessions]
 * @property {string[]} [agents]
 */

const UNSEEN = new Set(['subscribed', 'ping']);
/** Statuses of the errors that end a stream, which are told by their code alone.
 * @type {Record<string, number>} */
const STATUS_OF = { UNAUTHENTICATED: 401, PERMISSION_DENIED: 403, SUBSCRIPTION_NOT_FOUND: 404 };

/**
 * Events, each once and in order, which go on by themselves after whatever interrupts them: each carries the cursor from
 * which to go on. They never end by themselves; leaving the loop ends the subscription.
 *
 * @implements {AsyncIterableIterator<Event>}
 */
export class Events {
  #subscription = '';
  #failures = 0;
  #abort = new AbortController();
  /** @type {AsyncGenerator<any> | undefined} */
  #messages;

  /**
   * @param {import('./delivery.js').Delivery} delivery
   * @param {Wish} wish
   * @param {string} cursor
   */
  constructor(delivery, wish, cursor) {
    this.delivery = delivery;
    this.wish = wish;
    /** The place after the last event: kept somewhere, the next process goes on from it. */
    this.cursor = cursor;
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  /** Subscribes: from now on no event is missed. */
  async open() {
    if (this.#subscription) return;
    const made = await this.delivery.ask({ method: 'POST', path: '/subscribe', body: this.wish });
    this.#subscription = made.subscription_id;
    this.cursor ||= made.cursor;
  }

  /**
   * The next event. Throws `ServiceError` if the service ends the stream for good.
   *
   * @returns {Promise<IteratorResult<Event, undefined>>}
   */
  async next() {
    while (!this.#abort.signal.aborted) {
      const message = await this.#message();
      if (message) {
        this.#failures = 0;
        this.cursor = message.cursor;
        if (!UNSEEN.has(message.event)) return { done: false, value: message };
      } else if (!this.#abort.signal.aborted) {
        await this.delivery.wire.sleep(this.delivery.wire.wait(Math.min(this.#failures, 10)));
        this.#failures += 1;
      }
    }
    return { done: true, value: undefined };
  }

  /**
   * Ends the subscription; the service would forget it by itself in a month.
   *
   * @returns {Promise<IteratorResult<Event, undefined>>}
   */
  async return() {
    this.#abort.abort();
    if (this.#subscription) {
      const request = { method: 'DELETE', path: `/subscribe/${this.#subscription}` };
      this.#subscription = '';
      await this.delivery.wire.fetch(request, AbortSignal.timeout(5000)).catch(() => {});
    }
    return { done: true, value: undefined };
  }

  /** Ends the subscription. */
  async close() {
    await this.return();
  }

  /** The next message; `undefined` if the stream has ended, and the next one begins from the cursor. */
  async #message() {
    try {
      await this.open();
      this.#messages ??= messages(this.delivery.wire.lines(this.#request(), this.#abort.signal));
      const { done, value } = await this.#messages.next();
      if (!done) return value;
    } catch (error) {
      if (error instanceof NotFound && this.#subscription) {
        this.#subscription = ''; // it has expired: make it again, and go on from the cursor
      } else if (!(error instanceof NotConnected || (error instanceof ServiceError && TEMPORARY.has(error.status)))) {
        throw error;
      }
    }
    this.#messages = undefined;
    return undefined;
  }

  #request() {
    const query = { cursor: this.cursor, subscription: this.#subscription };
    return { method: 'GET', path: '/events', query, headers: { Accept: 'text/event-stream' } };
  }
}

/**
 * The messages in the lines of Server-Sent Events. Throws `ServiceError` for an error among them.
 *
 * @param {AsyncIterable<string>} lines
 */
async function* messages(lines) {
  let kind = '';
  let data = '';
  for await (const line of lines) {
    const [, name, value] = /** @type {string[]} */ (/^([^:]*):? ?(.*?)\r?$/s.exec(line));
    if (name === 'event') kind = value;
    else if (name === 'data') data += value;
    else if (!name && data) {
      const document = JSON.parse(data);
      if (kind === 'error') throw serviceError(STATUS_OF[document.code] ?? 503, { error: document });
      yield document;
      kind = data = '';
    }
  }
}
