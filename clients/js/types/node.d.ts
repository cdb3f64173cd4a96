/**
 * An offline store in a folder, for Node. Each document is a file that appears and disappears as a whole, so a crash
 * leaves nothing half written, and several processes may share the folder. API keys are not in it.
 *
 * @param {string} path
 * @returns {import('./offline.js').Store}
 */
export function folderStore(path: string): import("./offline.js").Store;
