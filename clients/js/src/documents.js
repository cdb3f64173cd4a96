/** @typedef {Record<string, any>} Json */
/** @typedef {'immediate' | 'working' | 'longterm'} Level */
/** @typedef {'private' | 'shared' | 'public'} Visibility */
/** @typedef {{ type: 'chat' | 'agent' | 'function' | 'api', id?: string | null, session?: string | null }} Source */
/** @typedef {{ content: Json, meta_tags?: string[], references?: string[] }} Data */

/**
 * An entry to create; `ttl` in seconds.
 *
 * @typedef {object} NewEntry
 * @property {Data} data
 * @property {Source} [source]
 * @property {Level} [level]
 * @property {number | null} [ttl]
 * @property {Visibility} [visibility]
 * @property {string[]} [authorized_agents]
 */

/** @typedef {Required<NewEntry> & { id: string, timestamp: string }} Entry */
/** @typedef {{ entries: Entry[], next_cursor: string | null }} EntryList */

/**
 * The context of a session.
 *
 * @typedef {object} ContextPackage
 * @property {string} session_id
 * @property {{ immediate?: Json, working?: Json, references?: Json }} context
 * @property {Json} [metadata]
 * @property {Visibility} [visibility]
 * @property {string[]} [authorized_agents]
 */

/** @typedef {{ type: 'chat' | 'agent' | 'function' | 'api', id: string, platform?: string }} Party */

/**
 * A handoff as it is read.
 *
 * @typedef {object} Handoff
 * @property {string} handoff_id
 * @property {Party} from
 * @property {Party} to
 * @property {Json} context
 * @property {string} instructions
 * @property {'immediate' | 'normal' | 'background'} priority
 * @property {string} expiry
 * @property {'requested' | 'claimed' | 'completed' | 'rejected' | 'cancelled' | 'expired'} state
 * @property {string | null} claimed_by
 * @property {string | null} claim_id
 * @property {string | null} lease_expires
 * @property {Json} result
 * @property {Json[]} history
 */

/** @typedef {{ agent_id: string, state: Json, updated_at: string, updated_by: string }} AgentState */
/** @typedef {{ results: Json[], answered: boolean, decided_by: string, degraded: any }} SearchAnswer */
/** @typedef {{ path: string, text: string }} Page */
/** @typedef {{ path: string, outcome: string, decided_by: string, degraded: any, new_files: string[] }} Written */

/**
 * What is known about a document beside what it says. Copies know nothing.
 *
 * @typedef {object} Known
 * @property {string} etag
 * @property {number} [cachedAt]
 * @property {string} [pending]
 */

/** @type {WeakMap<object, Known>} */
const KNOWN = new WeakMap();

/**
 * A document and what is known about it.
 *
 * @param {any} body
 * @param {Known} known
 */
export function documentWith(body, known) {
  const document = body ?? {};
  KNOWN.set(document, known);
  return document;
}

/**
 * The version of a document that the client returned; empty if it is not one, or has none.
 *
 * @param {object} document
 */
export function etagOf(document) {
  return KNOWN.get(document)?.etag ?? '';
}

/**
 * Whether a document comes from the offline cache.
 *
 * @param {object} document
 */
export function isCached(document) {
  return KNOWN.get(document)?.cachedAt !== undefined;
}

/**
 * Whether a write waits in the outbox, so that the document is only what was sent.
 *
 * @param {object} document
 */
export function isPending(document) {
  return KNOWN.get(document)?.pending !== undefined;
}
