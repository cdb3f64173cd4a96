/**
 * A document and what is known about it.
 *
 * @param {any} body
 * @param {Known} known
 */
export function documentWith(body: any, known: Known): any;
/**
 * The version of a document that the client returned; empty if it is not one, or has none.
 *
 * @param {object} document
 */
export function etagOf(document: object): string;
/**
 * Whether a document comes from the offline cache.
 *
 * @param {object} document
 */
export function isCached(document: object): boolean;
/**
 * Whether a write waits in the outbox, so that the document is only what was sent.
 *
 * @param {object} document
 */
export function isPending(document: object): boolean;
/**
 * What is known about a document beside what it says. Copies know nothing.
 */
export type Known = {
    etag: string;
    cachedAt?: number | undefined;
    pending?: string | undefined;
};
