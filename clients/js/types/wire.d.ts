/**
 * A request to the service; `path` is below `/api/v1/memory`.
 *
 * @typedef {object} Request
 * @property {string} method
 * @property {string} path
 * @property {any} [body]
 * @property {Record<string, string>} [query]
 * @property {Record<string, string>} [headers]
 */
/**
 * How often and how patiently a request is repeated; all times in seconds. The wait before repetition n is random, up to
 * `first * 2**n` and at most `longest`. What `Retry-After` asks for is waited for in full, unless it is longer than
 * `patience`; then the error is thrown at once.
 *
 * @typedef {object} Retry
 * @property {number} times
 * @property {number} first
 * @property {number} longest
 * @property {number} patience
 */
/** @type {Retry} */
export const RETRY: Retry;
export const TEMPORARY: Set<number>;
/** @typedef {{ document: any, status: number, etag: string }} Answer */
/** Sends requests, and repeats them while that may help. */
export class Wire {
    /**
     * @param {string} baseUrl
     * @param {Record<string, string>} headers
     * @param {number} timeout
     * @param {Retry} retry
     * @param {typeof fetch} send
     */
    constructor(baseUrl: string, headers: Record<string, string>, timeout: number, retry: Retry, send: typeof fetch);
    baseUrl: string;
    headers: Record<string, string>;
    timeout: number;
    retry: Retry;
    send: typeof fetch;
    /**
     * The answer to a request, which is repeated while that may help. Throws `ServiceError` and `NotConnected`.
     *
     * @param {Request} request
     * @returns {Promise<Answer>}
     */
    exchange(request: Request): Promise<Answer>;
    /**
     * The lines of an answer that goes on; it ends without a word when the connection does. Throws `ServiceError` and
     * `NotConnected`.
     *
     * @param {Request} request
     * @param {AbortSignal} signal
     * @returns {AsyncGenerator<string, void>}
     */
    lines(request: Request, signal: AbortSignal): AsyncGenerator<string, void>;
    /**
     * Sends a request. Throws `NotConnected`.
     *
     * @param {Request} request
     * @param {AbortSignal} signal
     */
    fetch(request: Request, signal: AbortSignal): Promise<Response>;
    /**
     * Seconds to wait after this attempt, the first of which is 0.
     *
     * @param {number} attempt
     */
    wait(attempt: number, asked?: number): number;
    /** @param {number} seconds */
    sleep(seconds: number): Promise<any>;
}
/**
 * A request to the service; `path` is below `/api/v1/memory`.
 */
export type Request = {
    method: string;
    path: string;
    body?: any;
    query?: Record<string, string> | undefined;
    headers?: Record<string, string> | undefined;
};
/**
 * How often and how patiently a request is repeated; all times in seconds. The wait before repetition n is random, up to
 * `first * 2**n` and at most `longest`. What `Retry-After` asks for is waited for in full, unless it is longer than
 * `patience`; then the error is thrown at once.
 */
export type Retry = {
    times: number;
    first: number;
    longest: number;
    patience: number;
};
export type Answer = {
    document: any;
    status: number;
    etag: string;
};
