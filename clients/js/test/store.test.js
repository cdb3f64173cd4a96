// The outbox under what a case cannot say: kills, a folder of the Python client, and a browser's storage.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { isPending, MemoryClient, webStore } from '@distributed-memory/client';
import { folderStore } from '@distributed-memory/client/node';

const { STAGE_CONTROL = '', STAGE_ADDRESS: baseUrl = '', STAGE_KEY: apiKey = '', PYTHON_FOLDER = '' } = process.env;
const RETRY = { times: 3, first: 0.02, longest: 0.1 };
const WRITER = `
import { MemoryClient } from '@distributed-memory/client';
import { folderStore } from '@distributed-memory/client/node';
const [apiKey, baseUrl, folder, tag] = process.argv.slice(1);
const client = new MemoryClient({ apiKey, baseUrl, source: 'hawk', offline: folderStore(folder), retry: { times: 0 } });
for (let n = 0; n < 1000; n += 1) {
  console.log(n);
  await client.createEntry({ n }, { tags: [tag] });
}
`;

const stage = (step) => fetch(STAGE_CONTROL, { method: 'POST', body: JSON.stringify(step) });
const clientWith = (offline, more) => new MemoryClient({ apiKey, baseUrl, source: 'hawk', offline, retry: RETRY, ...more });
const numbers = async (client, tag) =>
  (await client.query({ tags: [tag], limit: 500 })).entries.map((entry) => entry.data.content.n);

async function inFolder(work) {
  const folder = await mkdtemp(join(tmpdir(), 'client-'));
  await stage({ begin: 'store' });
  try {
    await work(folder, `tag-${folder.slice(-6)}`);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('a killed client loses no write and does none twice', () =>
  inFolder(async (folder, tag) => {
    const args = ['--input-type=module', '--eval', WRITER, apiKey, baseUrl, folder, tag];
    const writer = spawn(process.execPath, args, { cwd: new URL('..', import.meta.url) });
    let begun = 0;
    for await (const line of createInterface({ input: writer.stdout })) {
      begun = Number(line);
      if (begun === 5) break;
    }
    await sleep(3); // somewhere between writing it down and hearing the answer
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    const client = clientWith(folderStore(folder));
    await client.replay();
    const found = await numbers(client, tag);
    assert.deepEqual(found, Array.from(found, (_, n) => n)); // in order, none twice, no hole
    assert.ok(found.length >= begun); // each write that had returned
    assert.deepEqual([await client.pending(), await client.undelivered()], [[], []]);
  }));

test('what may have been received a day ago is not sent again', () =>
  inFolder(async (folder, tag) => {
    await stage({ fault: 'lose', on: '/entries', times: 4 });
    assert.ok(isPending(await clientWith(folderStore(folder)).createEntry({ n: 1 }, { tags: [tag] })));
    const [name] = await readdir(join(folder, 'outbox'));
    const file = join(folder, 'outbox', name);
    const write = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ ...write, attempted_at: Date.now() / 1000 - 86_401 }));
    const client = clientWith(folderStore(folder));
    const { undelivered } = await client.replay();
    assert.equal(undelivered[0].error.kind, 'OutcomeUnknown');
    assert.deepEqual(await numbers(client, tag), [1]);
  }));

test('a folder is private and holds no key', () =>
  inFolder(async (folder) => {
    const client = clientWith(folderStore(join(folder, 'offline')));
    await client.query({ tags: ['none'] });
    await stage({ door: 'shut' });
    await client.createEntry({ n: 1 });
    const paths = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.json'));
    assert.equal(paths.length, 2);
    for (const path of paths) {
      assert.equal((await stat(join(folder, path))).mode & 0o077, 0);
      assert.ok(!(await readFile(join(folder, path), 'utf8')).includes(apiKey.split('_').slice(2).join('_')));
    }
  }));

test('what a client in Python has left waiting is delivered', async () => {
  await stage({ begin: 'python' });
  const client = clientWith(folderStore(PYTHON_FOLDER));
  const [{ body }] = await client.pending();
  assert.equal((await client.replay()).delivered, 1);
  assert.deepEqual(await numbers(client, body.data.meta_tags[0]), [1]);
});

test('the storage of a browser keeps what waits', async () => {
  await stage({ begin: 'web' });
  const storage = new WebStorage();
  const tag = `web-${Math.random()}`;
  await stage({ door: 'shut' });
  for (const n of [1, 2]) {
    assert.ok(isPending(await clientWith(webStore('memory', storage)).createEntry({ n }, { tags: [tag] })));
  }
  await stage({ door: 'open' });
  const client = clientWith(webStore('memory', storage));
  assert.deepEqual(await client.replay(), { delivered: 2, pending: 0, undelivered: [] });
  assert.deepEqual(await numbers(client, tag), [1, 2]);
});

test('a loop over events can be left', async () => {
  await stage({ begin: 'loop' });
  const client = clientWith(undefined);
  const { session_id: session } = await client.createContext(`S-${Math.random()}`);
  const events = client.subscribe({ sessions: [session] });
  await events.open();
  await client.updateFocus({ n: 1 });
  for await (const event of events) {
    assert.equal(event.event, 'memory.updated');
    break;
  }
  assert.deepEqual(await events.next(), { done: true, value: undefined });
});

/** As a browser's `localStorage`. */
class WebStorage {
  #items = new Map();

  get length() {
    return this.#items.size;
  }

  key = (index) => [...this.#items.keys()][index] ?? null;
  getItem = (key) => this.#items.get(key) ?? null;
  setItem = (key, value) => this.#items.set(key, String(value));
  removeItem = (key) => this.#items.delete(key);
}
