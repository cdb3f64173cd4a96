/**
 * What is known about a document beside what it says. Copies know nothing.
 *
 * @typedef {object} Known
 * @property {string} etag
 * @property {number} [cachedAt]
 * @property {string} [pending]
 */

/** @type {WeakMap<object, Known>} */
const KNOWN = new WeakMap();

/**
 * A document and what is known about it.
 *
 * @param {any} body
 * @param {Known} known
 */
export function documentWith(body, known) {
  const document = body ?? {};
  KNOWN.set(document, known);
  return document;
}

/**
 * The version of a document that the client returned; empty if it is not one, or has none.
 *
 * @param {object} document
 */
export function etagOf(document) {
  return KNOWN.get(document)?.etag ?? '';
}

/**
 * Whether a document comes from the offline cache.
 *
 * @param {object} document
 */
export function isCached(document) {
  return KNOWN.get(document)?.cachedAt !== undefined;
}

/**
 * Whether a write waits in the outbox, so that the document is only what was sent.
 *
 * @param {object} document
 */
export function isPending(document) {
  return KNOWN.get(document)?.pending !== undefined;
}
