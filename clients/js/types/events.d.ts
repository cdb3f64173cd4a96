/**
 * Events, each once and in order, which go on by themselves after whatever interrupts them: each carries the cursor from
 * which to go on. They never end by themselves; leaving the loop ends the subscription.
 *
 * @implements {AsyncIterableIterator<Event>}
 */
export class Events implements AsyncIterableIterator<Event> {
    /**
     * @param {import('./delivery.js').Delivery} delivery
     * @param {Wish} wish
     * @param {string} cursor
     */
    constructor(delivery: import("./delivery.js").Delivery, wish: Wish, cursor: string);
    delivery: import("./delivery.js").Delivery;
    wish: Wish;
    /** The place after the last event: kept somewhere, the next process goes on from it. */
    cursor: string;
    /** Subscribes: from now on no event is missed. */
    open(): Promise<void>;
    /**
     * The next event. Throws `ServiceError` if the service ends the stream for good.
     *
     * @returns {Promise<IteratorResult<Event, undefined>>}
     */
    next(): Promise<IteratorResult<Event, undefined>>;
    /**
     * Ends the subscription; the service would forget it by itself in a month.
     *
     * @returns {Promise<IteratorResult<Event, undefined>>}
     */
    return(): Promise<IteratorResult<Event, undefined>>;
    /** Ends the subscription. */
    close(): Promise<void>;
    [Symbol.asyncIterator](): this;
    #private;
}
/**
 * A change, or `resync_required`: events were missed, so load the state again.
 */
export type Event = {
    event: string;
    cursor: string;
    id?: string | undefined;
    subject?: string | undefined;
    time?: string | undefined;
    level?: "immediate" | "working" | "longterm" | undefined;
    data?: any;
};
/**
 * Which events are wanted; an empty list is all of them.
 */
export type Wish = {
    events?: string[] | undefined;
    levels?: string[] | undefined;
    sessions?: string[] | undefined;
    agents?: string[] | undefined;
};
