/**
 * An offline store in the browser, which tabs of one origin share.
 *
 * @param {string} name where it is in the storage
 * @param {Pick<Storage, 'length' | 'key' | 'getItem' | 'setItem' | 'removeItem'>} [storage]
 * @returns {import('./offline.js').Store}
 */
export function webStore(name, storage = globalThis.localStorage) {
  /** @param {string} kind */
  const prefix = (kind) => `${name}/${kind}/`;
  return {
    async list(kind) {
      const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '');
      const inside = keys.filter((key) => key.startsWith(prefix(kind)));
      return inside.map((key) => key.slice(prefix(kind).length)).sort();
    },
    async get(kind, file) {
      const text = storage.getItem(prefix(kind) + file);
      return text === null ? undefined : JSON.parse(text);
    },
    async put(kind, file, document) {
      storage.setItem(prefix(kind) + file, JSON.stringify(document));
    },
    async remove(kind, file) {
      storage.removeItem(prefix(kind) + file);
    },
  };
}
