/**
 * The same request with more headers; empty ones are left out.
 *
 * @param {Request} request
 * @param {Record<string, string | undefined>} more
 * @returns {Request}
 */
export function withHeaders(request: Request, more: Record<string, string | undefined>): Request;
/** @typedef {import('./wire.js').Request} Request */
/** Sends requests; `offline.js` has the way with an outbox between. */
export class Delivery {
    /** @param {import('./wire.js').Wire} wire */
    constructor(wire: import("./wire.js").Wire);
    wire: import("./wire.js").Wire;
    /**
     * What the service answers.
     *
     * @param {Request} request
     * @returns {Promise<any>}
     */
    read(request: Request): Promise<any>;
    /**
     * What the service answers to a write that only makes sense now. However often it is sent, it is done once.
     *
     * @param {Request} request
     * @returns {Promise<any>}
     */
    ask(request: Request): Promise<any>;
    /**
     * What the service answers to a write.
     *
     * @param {Request} request
     * @returns {Promise<any>}
     */
    write(request: Request): Promise<any>;
    #private;
}
export type Request = import("./wire.js").Request;
