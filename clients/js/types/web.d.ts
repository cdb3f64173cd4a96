/**
 * An offline store in the browser, which tabs of one origin share.
 *
 * @param {string} name where it is in the storage
 * @param {Pick<Storage, 'length' | 'key' | 'getItem' | 'setItem' | 'removeItem'>} [storage]
 * @returns {import('./offline.js').Store}
 */
export function webStore(name: string, storage?: Pick<Storage, "length" | "key" | "getItem" | "setItem" | "removeItem">): import("./offline.js").Store;
