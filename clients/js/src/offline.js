/**
 * The way to the service for a client with an offline store.
 *
 * A write is put into the outbox first and taken out when its answer is known. Writes are sent in order. Each keeps its
 * Idempotency-Key, so the service carries it out at most once, however often it is sent. The service knows a key for a
 * day: what may have been received longer ago is not sent again, but told.
 *
 * @module
 */
import { Delivery, withHeaders } from './delivery.js';
import { documentWith } from './documents.js';
import {
  AuthenticationFailed,
  MemoryClientError,
  NotConnected,
  OutcomeUnknown,
  RateLimited,
  ServiceError,
  ServiceUnavailable,
} from './errors.js';

/**
 * Where an offline client keeps its documents. `kind` is `cache`, `outbox` or `undelivered`; names sort as they were
 * made. A document that was put is there after a restart.
 *
 * @typedef {object} Store
 * @property {(kind: string) => Promise<string[]>} list names, sorted
 * @property {(kind: string, name: string) => Promise<any>} get `undefined` if there is none
 * @property {(kind: string, name: string, document: any) => Promise<void>} put
 * @property {(kind: string, name: string) => Promise<void>} remove
 */

/**
 * A write in the outbox. `id` is its Idempotency-Key. `attempted_at` is when the service may first have received it, and
 * `attempted_by` the id of the API key that was used then; the moments are in seconds since 1970.
 *
 * @typedef {object} Write
 * @property {string} id
 * @property {number} order
 * @property {string} method
 * @property {string} path
 * @property {any} body
 * @property {Record<string, string>} query
 * @property {Record<string, string>} headers
 * @property {number} written_at
 * @property {number | null} attempted_at
 * @property {string | null} attempted_by
 */

/** @typedef {import('./wire.js').Request} Request */
/** @typedef {{ id: string, method: string, path: string, body: any, written_at: number }} Pending */
/** @typedef {Pending & { error: { kind: string, message: string, code?: string, details?: any } }} Undelivered */

/** How long a write that may have been received can be sent again, in seconds: an hour less than the service knows its
 * key. */
const REPEATABLE_SECONDS = 82_800;
/** How long the service counts as away after it could not be reached, in seconds: until then nothing is tried, so that
 * not every call waits for all retries. */
const AWAY_SECONDS = 3;
const AWAY = [NotConnected, ServiceUnavailable];
/** Errors that say nothing about the write itself: it stays in the outbox. */
const NOT_NOW = [...AWAY, AuthenticationFailed, RateLimited];

/** Sends requests by way of an offline store. */
export class OfflineDelivery extends Delivery {
  #awayUntil = 0;
  #last = 0;
  /** @type {Promise<unknown>} */
  #turn = Promise.resolve();

  /**
   * @param {import('./wire.js').Wire} wire
   * @param {Store} store
   * @param {string} keyId the API key without its secret
   */
  constructor(wire, store, keyId) {
    super(wire);
    this.store = store;
    this.keyId = keyId;
  }

  /**
   * What the service answers, else the last answer that it gave, with what waits to be written.
   *
   * @param {Request} request
   */
  async read(request) {
    const name = await nameOf(request, this.wire.headers['X-Memory-Source'] ?? '');
    const known = await this.store.get('cache', name);
    const waiting = await this.#writes();
    const preview = previewed(known, request, waiting);
    if (preview && now() < this.#awayUntil) return preview;
    let answer;
    try {
      if (waiting.length) await this.#alone(() => this.#sendAll());
      answer = await this.wire.exchange(withHeaders(request, { 'If-None-Match': known?.etag }));
    } catch (error) {
      if (isOneOf(error, AWAY)) {
        this.#awayUntil = now() + AWAY_SECONDS;
        if (preview) return preview;
      }
      if (error instanceof ServiceError && [404, 410].includes(error.status)) await this.store.remove('cache', name);
      throw error;
    }
    if (answer.status === 304) return documentWith(known.document, { etag: known.etag });
    const { document, etag } = answer;
    await this.store.put('cache', name, { document, etag, read_at: now() });
    return documentWith(document, { etag });
  }

  /**
   * What the service answers. If it cannot be reached, what was sent, which then waits in the outbox.
   *
   * @param {Request} request
   */
  write(request) {
    return this.#alone(async () => {
      const write = await this.#add(request);
      const pending = () => documentWith(structuredClone(write.body), { etag: '', pending: write.id });
      if (now() < this.#awayUntil) return pending();
      try {
        await this.#sendAll(write);
        const { document, etag } = await this.#send(write);
        await this.store.remove('outbox', fileOf(write));
        return documentWith(document, { etag });
      } catch (error) {
        if (isOneOf(error, AWAY)) {
          this.#awayUntil = now() + AWAY_SECONDS;
          return pending();
        }
        if (error instanceof MemoryClientError) await this.store.remove('outbox', fileOf(write));
        throw error;
      }
    });
  }

  /** Sends what waits. Throws what keeps it from being sent at all. */
  async replay() {
    const known = new Set((await this.undelivered()).map(({ id }) => id));
    this.#awayUntil = 0;
    const delivered = await this.#alone(() => this.#sendAll());
    const undelivered = (await this.undelivered()).filter(({ id }) => !known.has(id));
    return { delivered, pending: (await this.#writes()).length, undelivered };
  }

  /**
   * The writes that wait, in order.
   *
   * @returns {Promise<Pending[]>}
   */
  async pending() {
    return (await this.#writes()).map(shown);
  }

  /**
   * The writes that could not be delivered, in order.
   *
   * @returns {Promise<Undelivered[]>}
   */
  async undelivered() {
    return (await this.#all('undelivered')).map((each) => ({ ...shown(each), error: each.error }));
  }

  /**
   * Forgets a write that could not be delivered; says whether there was one.
   *
   * @param {string} id
   */
  async discard(id) {
    const found = (await this.store.list('undelivered')).filter((name) => name.endsWith(`-${id}.json`));
    await Promise.all(found.map((name) => this.store.remove('undelivered', name)));
    return found.length > 0;
  }

  /**
   * Sends the writes that wait, or those before this one, in order. Returns how many were delivered.
   *
   * @param {Write} [before]
   */
  async #sendAll(before) {
    let delivered = 0;
    for (const write of await this.#writes()) {
      if (before && fileOf(write) >= fileOf(before)) break;
      if (!(await this.store.get('outbox', fileOf(write)))) continue; // another process has delivered it
      try {
        await this.#send(write);
        delivered += 1;
      } catch (error) {
        if (isOneOf(error, NOT_NOW) || !(error instanceof MemoryClientError)) throw error;
        await this.store.put('undelivered', fileOf(write), { ...write, error: reasonOf(error) });
      }
      await this.store.remove('outbox', fileOf(write));
    }
    return delivered;
  }

  /** @param {Write} write */
  async #send(write) {
    const request = withHeaders(write, { 'Idempotency-Key': write.id });
    if (write.attempted_at !== null) {
      this.#requireRepeatable(write.attempted_at, write.attempted_by);
      return this.wire.exchange(request);
    }
    await this.#put({ ...write, attempted_at: now(), attempted_by: this.keyId });
    try {
      return await this.wire.exchange(request);
    } catch (error) {
      if (error instanceof MemoryClientError && !error.uncertain) await this.#put(write);
      throw error;
    }
  }

  /**
   * @param {number} attemptedAt
   * @param {string | null} attemptedBy
   */
  #requireRepeatable(attemptedAt, attemptedBy) {
    if (attemptedBy !== this.keyId) {
      throw new OutcomeUnknown('it may have been received with another API key, and the service knows it by its key');
    }
    if (now() - attemptedAt > REPEATABLE_SECONDS) {
      throw new OutcomeUnknown('it may have been received a day ago or earlier, and the service knows it for a day');
    }
  }

  /**
   * Keeps a write, after all others.
   *
   * @param {Request} request
   * @returns {Promise<Write>}
   */
  async #add({ method, path, body, query = {}, headers = {} }) {
    const newest = (await this.store.list('outbox')).at(-1) ?? '0';
    this.#last = Math.max(this.#last + 1, Number.parseInt(newest, 10) + 1, Math.floor(now() * 1_000_000));
    const made = { id: crypto.randomUUID(), order: this.#last, method, path, body: body ?? null, query, headers };
    const write = { ...made, written_at: now(), attempted_at: null, attempted_by: null };
    await this.#put(write);
    return write;
  }

  /** @param {Write} write */
  #put(write) {
    return this.store.put('outbox', fileOf(write), write);
  }

  /** @returns {Promise<Write[]>} */
  #writes() {
    return this.#all('outbox');
  }

  /**
   * @param {string} kind
   * @returns {Promise<any[]>}
   */
  async #all(kind) {
    const names = await this.store.list(kind);
    const documents = await Promise.all(names.map((name) => this.store.get(kind, name)));
    return documents.filter((document) => document !== undefined); // another process may just have removed one
  }

  /**
   * One after the other.
   *
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  #alone(work) {
    const turn = this.#turn.then(work, work);
    this.#turn = turn.catch(() => {}); // whoever asked for it hears of it
    return turn;
  }
}

/**
 * A document as it was last read, with the waiting writes to it; `undefined` if nothing is known of it.
 *
 * @param {any} known
 * @param {Request} request
 * @param {Write[]} writes
 */
function previewed(known, request, writes) {
  let { document, etag = '', read_at: cachedAt = 0 } = known ?? {};
  for (const { method, path, body, written_at: writtenAt } of writes) {
    const isCreation = method === 'POST' && `${path}/${body?.session_id}` === request.path;
    if (request.method !== 'GET' || !(isCreation || path === request.path)) continue;
    etag = '';
    cachedAt ||= writtenAt;
    if (method === 'DELETE') document = undefined;
    else if (method === 'PATCH' && !Array.isArray(body)) document = merged(document, body);
    else if (method === 'POST' || method === 'PUT') document = { ...document, ...body };
  }
  return document && documentWith(document, { etag, cachedAt });
}

/**
 * A merge patch (RFC 7396) applied: null removes a member, an object changes members, all else replaces.
 *
 * @param {any} document
 * @param {any} patch
 * @returns {any}
 */
function merged(document, patch) {
  if (!isObject(patch)) return patch;
  const result = isObject(document) ? { ...document } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merged(result[name], value);
  }
  return result;
}

/** @param {unknown} value */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @param {MemoryClientError} error */
function reasonOf(error) {
  const reason = { kind: error.name, message: error.message };
  return error instanceof ServiceError ? { ...reason, code: error.code, details: error.details } : reason;
}

/**
 * @param {unknown} error
 * @param {Array<new (...args: any[]) => Error>} kinds
 */
function isOneOf(error, kinds) {
  return kinds.some((kind) => error instanceof kind);
}

/** @param {Pending} write */
function shown({ id, method, path, body, written_at }) {
  return { id, method, path, body, written_at };
}

/** @param {Write} write */
function fileOf(write) {
  return `${String(write.order).padStart(20, '0')}-${write.id}.json`;
}

/**
 * @param {Request} request
 * @param {string} source
 */
async function nameOf({ method, path, body, query = {} }, source) {
  const asked = JSON.stringify([method, path, body ?? null, Object.entries(query).sort(), source]);
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(asked));
  const digits = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0'));
  return `${digits.join('').slice(0, 32)}.json`;
}

/** Seconds since 1970. */
function now() {
  return Date.now() / 1000;
}
