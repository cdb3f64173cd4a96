import { constants } from 'node:fs';
import { mkdir, open, readFile, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * An offline store in a folder, for Node. Each document is a file that appears and disappears as a whole, so a crash
 * leaves nothing half written, and several processes may share the folder. API keys are not in it.
 *
 * @param {string} path
 * @returns {import('./offline.js').Store}
 */
export function folderStore(path) {
  return {
    async list(kind) {
      const names = await unlessMissing(readdir(join(path, kind)), []);
      return names.filter((name) => name.endsWith('.json')).sort();
    },
    async get(kind, name) {
      const text = await unlessMissing(readFile(join(path, kind, name), 'utf8'), undefined);
      return text === undefined ? undefined : JSON.parse(text);
    },
    async put(kind, name, document) {
      const folder = join(path, kind);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const temporary = join(folder, `${name}.${crypto.randomUUID()}`);
      const { O_CREAT, O_EXCL, O_WRONLY } = constants;
      const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0o600);
      try {
        await file.writeFile(JSON.stringify(document));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, join(folder, name));
      await flushed(folder);
    },
    async remove(kind, name) {
      await rm(join(path, kind, name), { force: true });
    },
  };
}

/**
 * Makes the names in a folder durable, where a system can.
 *
 * @param {string} folder
 */
async function flushed(folder) {
  if (process.platform === 'win32') return;
  const opened = await open(folder, 'r');
  await opened.sync().finally(() => opened.close());
}

/**
 * @template T, U
 * @param {Promise<T>} promise
 * @param {U} otherwise
 * @returns {Promise<T | U>}
 */
async function unlessMissing(promise, otherwise) {
  try {
    return await promise;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return otherwise;
    throw error;
  }
}
