/** Sends requests by way of an offline store. */
export class OfflineDelivery extends Delivery {
    /**
     * @param {import('./wire.js').Wire} wire
     * @param {Store} store
     * @param {string} keyId the API key without its secret
     */
    constructor(wire: import("./wire.js").Wire, store: Store, keyId: string);
    store: Store;
    keyId: string;
    /** Sends what waits. Throws what keeps it from being sent at all. */
    replay(): Promise<{
        delivered: number;
        pending: number;
        undelivered: Undelivered[];
    }>;
    /**
     * The writes that wait, in order.
     *
     * @returns {Promise<Pending[]>}
     */
    pending(): Promise<Pending[]>;
    /**
     * The writes that could not be delivered, in order.
     *
     * @returns {Promise<Undelivered[]>}
     */
    undelivered(): Promise<Undelivered[]>;
    /**
     * Forgets a write that could not be delivered; says whether there was one.
     *
     * @param {string} id
     */
    discard(id: string): Promise<boolean>;
    #private;
}
/**
 * Where an offline client keeps its documents. `kind` is `cache`, `outbox` or `undelivered`; names sort as they were
 * made. A document that was put is there after a restart.
 */
export type Store = {
    /**
     * names, sorted
     */
    list: (kind: string) => Promise<string[]>;
    /**
     * `undefined` if there is none
     */
    get: (kind: string, name: string) => Promise<any>;
    put: (kind: string, name: string, document: any) => Promise<void>;
    remove: (kind: string, name: string) => Promise<void>;
};
/**
 * A write in the outbox. `id` is its Idempotency-Key. `attempted_at` is when the service may first have received it, and
 * `attempted_by` the id of the API key that was used then; the moments are in seconds since 1970.
 */
export type Write = {
    id: string;
    order: number;
    method: string;
    path: string;
    body: any;
    query: Record<string, string>;
    headers: Record<string, string>;
    written_at: number;
    attempted_at: number | null;
    attempted_by: string | null;
};
export type Request = import("./wire.js").Request;
export type Pending = {
    id: string;
    method: string;
    path: string;
    body: any;
    written_at: number;
};
export type Undelivered = Pending & {
    error: {
        kind: string;
        message: string;
        code?: string;
        details?: any;
    };
};
import { Delivery } from './delivery.js';
