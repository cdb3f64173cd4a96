import { documentWith } from './documents.js';

/** @typedef {import('./wire.js').Request} Request */

/** Sends requests; `offline.js` has the way with an outbox between. */
export class Delivery {
  /** @param {import('./wire.js').Wire} wire */
  constructor(wire) {
    this.wire = wire;
  }

  /**
   * What the service answers.
   *
   * @param {Request} request
   * @returns {Promise<any>}
   */
  read(request) {
    return this.#exchange(request);
  }

  /**
   * What the service answers to a write that only makes sense now. However often it is sent, it is done once.
   *
   * @param {Request} request
   * @returns {Promise<any>}
   */
  ask(request) {
    return this.#exchange(withHeaders(request, { 'Idempotency-Key': crypto.randomUUID() }));
  }

  /**
   * What the service answers to a write.
   *
   * @param {Request} request
   * @returns {Promise<any>}
   */
  write(request) {
    return this.ask(request);
  }

  /** @param {Request} request */
  async #exchange(request) {
    const { document, etag } = await this.wire.exchange(request);
    return documentWith(document, { etag });
  }
}

/**
 * The same request with more headers; empty ones are left out.
 *
 * @param {Request} request
 * @param {Record<string, string | undefined>} more
 * @returns {Request}
 */
export function withHeaders(request, more) {
  const headers = { ...request.headers };
  for (const [name, value] of Object.entries(more)) if (value) headers[name] = value;
  return { ...request, headers };
}
