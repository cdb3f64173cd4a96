import { Delivery, withHeaders } from './delivery.js';
import { etagOf } from './documents.js';
import { MemoryClientError } from './errors.js';
import { Events } from './events.js';
import { OfflineDelivery } from './offline.js';
import { RETRY, Wire } from './wire.js';

/** @import { AgentState, ContextPackage, Entry, EntryList, Handoff, Json, Level, NewEntry } from './documents.js' */
/** @import { Page, Party, SearchAnswer, Source, Visibility, Written } from './documents.js' */
/** @typedef {{ visibility?: Visibility, authorizedAgents?: string[] }} Access who may read */
/** @typedef {{ ifMatch?: string }} Version the version to overwrite, if not the one that was read; `*` is any */

/**
 * `baseUrl` is the address of the service, else DISTRIBUTED_MEMORY_URL or that of `silica serve`. `source` is for whom the
 * key speaks. `offline` is a store for what is read and for what waits to be written; one store belongs to one service.
 * `timeout` is in seconds, for each request.
 *
 * @typedef {object} Options
 * @property {string} apiKey
 * @property {string} [baseUrl]
 * @property {string} [source]
 * @property {string} [sessionId]
 * @property {import('./offline.js').Store} [offline]
 * @property {number} [timeout]
 * @property {Partial<import('./wire.js').Retry>} [retry]
 * @property {typeof fetch} [fetch]
 */

const DEFAULT_URL = 'http://127.0.0.1:8080';
const BASE = '/api/v1/memory';
const MERGE_PATCH = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';

/**
 * A client of the Distributed Memory API. Documents go in and come out as the service has them. A document that is
 * written back carries the version that was read: if it has changed since, `VersionConflict` is thrown and nothing is
 * overwritten.
 */
export class MemoryClient {
  #delivery;

  /** @param {Options} options */
  constructor({ apiKey, baseUrl, source, sessionId, offline, timeout = 30, retry, fetch = globalThis.fetch }) {
    /** The session that is meant where none is named: the last one that was loaded or created.
     * @type {string | undefined} */
    this.sessionId = sessionId;
    const named = baseUrl ?? /** @type {any} */ (globalThis).process?.env?.DISTRIBUTED_MEMORY_URL ?? DEFAULT_URL;
    const headers = { Authorization: `Bearer ${apiKey}`, ...(source ? { 'X-Memory-Source': source } : {}) };
    const address = `${named.replace(/\/+$/, '')}${BASE}`;
    const wire = new Wire(address, headers, timeout, { ...RETRY, ...retry }, fetch.bind(globalThis));
    const keyId = `${apiKey.startsWith('dm_') ? apiKey.split('_')[1] : ''}/${source ?? ''}`;
    this.#delivery = offline ? new OfflineDelivery(wire, offline, keyId) : new Delivery(wire);
  }

  /**
   * Loads the context of a session, which is then the client's.
   *
   * @param {string} [sessionId]
   * @returns {Promise<ContextPackage>}
   */
  async loadContext(sessionId) {
    const session = this.#session(sessionId);
    const context = await this.#read(`/context/${session}`);
    this.sessionId = session;
    return context;
  }

  /**
   * Stores the first context of a session, which is then the client's.
   *
   * @param {string} [sessionId]
   * @param {ContextPackage['context']} [context]
   * @param {Access & { metadata?: Json }} [options]
   * @returns {Promise<ContextPackage>}
   */
  async createContext(sessionId, context, { metadata, visibility, authorizedAgents } = {}) {
    const session = this.#session(sessionId);
    const body = { session_id: session, context, metadata, visibility, authorized_agents: authorizedAgents };
    const made = await this.#write('POST', '/context', body);
    this.sessionId = session;
    return made;
  }

  /**
   * Writes back a context that was loaded.
   *
   * @param {ContextPackage} context
   * @param {Version} [version]
   * @returns {Promise<ContextPackage>}
   */
  replaceContext(context, { ifMatch } = {}) {
    return this.#write('PUT', `/context/${context.session_id}`, context, ifMatch ?? etagOf(context));
  }

  /**
   * Changes a part of a context: an object is a merge patch, an array a JSON Patch. Concurrent ones follow each other.
   *
   * @param {Json | Json[]} change
   * @param {string} [sessionId]
   * @param {Version} [version]
   * @returns {Promise<ContextPackage>}
   */
  async patchContext(change, sessionId, { ifMatch } = {}) {
    return this.#patch(`/context/${this.#session(sessionId)}`, change, ifMatch);
  }

  /**
   * Changes what a session is about now; members that are not named stay, and `null` removes one.
   *
   * @param {Json} focus
   * @param {string} [sessionId]
   * @returns {Promise<ContextPackage>}
   */
  updateFocus(focus, sessionId) {
    return this.patchContext({ context: { immediate: { current_focus: focus } } }, sessionId);
  }

  /**
   * Deletes a context.
   *
   * @param {string} [sessionId]
   * @param {Version} [version]
   * @returns {Promise<void>}
   */
  async deleteContext(sessionId, { ifMatch } = {}) {
    await this.#write('DELETE', `/context/${this.#session(sessionId)}`, undefined, ifMatch);
  }

  /**
   * Stores an entry, of the client's session if there is one; `ttl` in seconds.
   *
   * @param {Json} content
   * @param {Access & { tags?: string[], level?: Level, references?: string[], source?: Source, ttl?: number }} [options]
   * @returns {Promise<Entry>}
   */
  createEntry(content, { tags = [], level = 'working', references = [], source, ttl, visibility, authorizedAgents } = {}) {
    const session = this.sessionId && { type: 'agent', session: this.sessionId };
    const data = { content, meta_tags: tags, references };
    const access = { visibility, authorized_agents: authorizedAgents };
    return this.#write('POST', '/entries', { data, level, source: source ?? session, ttl, ...access });
  }

  /**
   * Stores many entries: all or none.
   *
   * @param {NewEntry[]} entries
   * @returns {Promise<EntryList>}
   */
  createEntries(entries) {
    return this.#write('POST', '/entries/batch', { entries });
  }

  /**
   * Reads an entry.
   *
   * @param {string} entryId
   * @returns {Promise<Entry>}
   */
  readEntry(entryId) {
    return this.#read(`/entries/${entryId}`);
  }

  /**
   * Changes an entry: an object is a merge patch, an array a JSON Patch; with another level it is promoted.
   *
   * @param {string} entryId
   * @param {Json | Json[]} change
   * @param {Version} [version]
   * @returns {Promise<Entry>}
   */
  patchEntry(entryId, change, { ifMatch } = {}) {
    return this.#patch(`/entries/${entryId}`, change, ifMatch);
  }

  /**
   * Deletes an entry.
   *
   * @param {string} entryId
   * @param {Version} [version]
   * @returns {Promise<void>}
   */
  async deleteEntry(entryId, { ifMatch } = {}) {
    await this.#write('DELETE', `/entries/${entryId}`, undefined, ifMatch);
  }

  /**
   * Lists entries, oldest first, with any of the tags or with all; `next_cursor` leads to the next ones.
   *
   * @param {{ tags?: string[], match?: 'any' | 'all', level?: Level, since?: string, session?: string, limit?: number,
   *   cursor?: string }} [wanted]
   * @returns {Promise<EntryList>}
   */
  query({ tags = [], ...rest } = {}) {
    return this.#read('/query', { tags: tags.join(','), ...rest });
  }

  /**
   * Searches the long-term memory: its entries, and its pages if the key may read them.
   *
   * @param {string} query
   * @param {{ limit?: number, only?: 'pages' | 'entries', tags?: string[], since?: string, until?: string,
   *   under?: string, agent?: string }} [options]
   * @returns {Promise<SearchAnswer>}
   */
  search(query, options = {}) {
    return this.#delivery.read({ method: 'POST', path: '/search', body: { query, ...options } });
  }

  /**
   * Asks another agent to take over; by default for the client's session.
   *
   * @param {Party} to
   * @param {{ instructions?: string, context?: Json, sender?: Party, priority?: Handoff['priority'], expiry?: string }}
   *   [options]
   * @returns {Promise<Handoff>}
   */
  async requestHandoff(to, { instructions = '', context, sender, priority, expiry } = {}) {
    if (!sender && !this.sessionId) {
      throw new MemoryClientError('a handoff comes from somebody: load a context first, or name the sender');
    }
    const from = sender ?? { type: 'chat', id: this.sessionId };
    return this.#write('POST', '/handoff', { from, to, instructions, context, priority, expiry });
  }

  /**
   * Reads a handoff with its history.
   *
   * @param {string} handoffId
   * @returns {Promise<Handoff>}
   */
  readHandoff(handoffId) {
    return this.#read(`/handoff/${handoffId}`);
  }

  /**
   * Lists the handoffs that the caller has asked for or may take over.
   *
   * @param {{ state?: Handoff['state'], limit?: number }} [wanted]
   * @returns {Promise<{ handoffs: Handoff[] }>}
   */
  listHandoffs(wanted = {}) {
    return this.#read('/handoff', wanted);
  }

  /**
   * Takes a handoff over for the time of a lease; of many claimers one gets it. Never waits in the outbox.
   *
   * @param {string} handoffId
   * @param {{ leaseSeconds?: number }} [options]
   * @returns {Promise<Handoff>}
   */
  claimHandoff(handoffId, { leaseSeconds = 300 } = {}) {
    const body = { lease_seconds: leaseSeconds };
    return this.#delivery.ask({ method: 'POST', path: `/handoff/${handoffId}/claim`, body });
  }

  /**
   * Makes the lease of a claimed handoff longer. Never waits in the outbox.
   *
   * @param {Handoff} handoff
   * @param {{ leaseSeconds?: number }} [options]
   * @returns {Promise<Handoff>}
   */
  renewHandoff({ handoff_id: id, claim_id: claim }, { leaseSeconds = 300 } = {}) {
    const body = { lease_seconds: leaseSeconds };
    return this.#delivery.ask({ method: 'POST', path: `/handoff/${id}/renew`, query: { claim_id: claim ?? '' }, body });
  }

  /**
   * Ends a claimed handoff with a result.
   *
   * @param {Handoff} handoff
   * @param {{ result?: Json, reason?: string }} [options]
   * @returns {Promise<Handoff>}
   */
  completeHandoff(handoff, { result = {}, reason = '' } = {}) {
    const { handoff_id: id, claim_id: claim } = handoff;
    return this.#write('POST', `/handoff/${id}/complete`, { claim_id: claim ?? '', reason, result });
  }

  /**
   * Refuses a handoff, claimed or not.
   *
   * @param {Handoff} handoff
   * @param {{ reason?: string }} [options]
   * @returns {Promise<Handoff>}
   */
  rejectHandoff({ handoff_id: id, claim_id: claim }, { reason = '' } = {}) {
    return this.#write('POST', `/handoff/${id}/reject`, { claim_id: claim ?? '', reason });
  }

  /**
   * Takes a handoff back.
   *
   * @param {string} handoffId
   * @param {{ reason?: string }} [options]
   * @returns {Promise<Handoff>}
   */
  cancelHandoff(handoffId, { reason = '' } = {}) {
    return this.#write('POST', `/handoff/${handoffId}/cancel`, { reason });
  }

  /**
   * Reads the state of an agent.
   *
   * @param {string} agentId
   * @returns {Promise<AgentState>}
   */
  agentState(agentId) {
    return this.#read(`/agent/${agentId}/state`);
  }

  /**
   * Changes the state of an agent by a merge patch, or replaces it.
   *
   * @param {string} agentId
   * @param {Json} state
   * @param {Version & { mode?: 'merge' | 'replace' }} [options]
   * @returns {Promise<AgentState>}
   */
  updateAgent(agentId, state, { mode = 'merge', ifMatch } = {}) {
    return this.#write('POST', `/agent/${agentId}/update`, { state, mode }, ifMatch);
  }

  /**
   * Lists the states that an agent has had, newest first.
   *
   * @param {string} agentId
   * @param {{ limit?: number }} [wanted]
   * @returns {Promise<{ agent_id: string, history: AgentState[] }>}
   */
  agentHistory(agentId, { limit = 100 } = {}) {
    return this.#read(`/agent/${agentId}/history`, { limit });
  }

  /**
   * Lists the pages of the long-term memory.
   *
   * @returns {Promise<{ pages: Json[] }>}
   */
  listPages() {
    return this.#read('/pages');
  }

  /**
   * Reads a page.
   *
   * @param {string} [path]
   * @returns {Promise<Page>}
   */
  readPage(path = 'memory') {
    return this.#read(pathOf(path));
  }

  /**
   * Writes a text on a page, or where it belongs.
   *
   * @param {string} text
   * @param {{ path?: string, mode?: 'update' | 'append' | 'replace' }} [options]
   * @returns {Promise<Written>}
   */
  writeText(text, { path, mode = 'update' } = {}) {
    return this.#write('POST', '/pages', { text, path, mode });
  }

  /**
   * Creates a page, or writes back one that was read.
   *
   * @param {Page} page
   * @param {Version} [version]
   * @returns {Promise<Page>}
   */
  putPage(page, { ifMatch } = {}) {
    return this.#write('PUT', pathOf(page.path), { text: page.text }, ifMatch ?? etagOf(page));
  }

  /**
   * The events that fit, from when they are first asked for or after a cursor: each once and in order, across
   * interruptions. Without filters, all that the key may see.
   *
   * @param {import('./events.js').Wish & { cursor?: string }} [wanted]
   */
  subscribe({ events = [], levels = [], sessions = [], agents = [], cursor = '' } = {}) {
    return new Events(this.#delivery, { events, levels, sessions, agents }, cursor);
  }

  /** The writes that wait in the outbox, in order. */
  async pending() {
    return this.#offline().pending();
  }

  /** The writes that waited and could not be delivered, with the reasons. */
  async undelivered() {
    return this.#offline().undelivered();
  }

  /**
   * Forgets a write that could not be delivered; says whether there was one.
   *
   * @param {string} id
   */
  async discard(id) {
    return this.#offline().discard(id);
  }

  /** Delivers the writes that wait, which the next call does too. Throws what keeps all of them from it. */
  async replay() {
    return this.#offline().replay();
  }

  #offline() {
    if (this.#delivery instanceof OfflineDelivery) return this.#delivery;
    throw new MemoryClientError('the client has no offline store: make it with { offline: folderStore(path) }');
  }

  /** @param {string | undefined} named */
  #session(named) {
    const session = named ?? this.sessionId;
    if (session) return session;
    throw new MemoryClientError('no session: load or create a context first, or name its session id');
  }

  /**
   * @param {string} path
   * @param {Record<string, any>} [query]
   */
  #read(path, query = {}) {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
    return this.#delivery.read({ method: 'GET', path, query: Object.fromEntries(given.map(([k, v]) => [k, String(v)])) });
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {any} [body]
   * @param {string} [ifMatch]
   */
  #write(method, path, body, ifMatch) {
    return this.#delivery.write(withHeaders({ method, path, body }, { 'If-Match': ifMatch }));
  }

  /**
   * @param {string} path
   * @param {Json | Json[]} change
   * @param {string | undefined} ifMatch
   */
  #patch(path, change, ifMatch) {
    const headers = { 'Content-Type': Array.isArray(change) ? JSON_PATCH : MERGE_PATCH };
    return this.#delivery.write(withHeaders({ method: 'PATCH', path, body: change, headers }, { 'If-Match': ifMatch }));
  }
}

/** @param {string} path */
function pathOf(path) {
  return `/pages/${path.split('/').map(encodeURIComponent).join('/')}`;
}
