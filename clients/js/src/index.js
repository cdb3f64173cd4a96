/**
 * A client of the Distributed Memory API: a memory that many agents share. It needs nothing but `fetch`: Node 20, or a
 * browser.
 *
 * @typedef {import('./client.js').AgentState} AgentState
 * @typedef {import('./client.js').ContextPackage} ContextPackage
 * @typedef {import('./client.js').Entry} Entry
 * @typedef {import('./client.js').EntryList} EntryList
 * @typedef {import('./client.js').Handoff} Handoff
 * @typedef {import('./client.js').NewEntry} NewEntry
 * @typedef {import('./client.js').Options} Options
 * @typedef {import('./client.js').Page} Page
 * @typedef {import('./client.js').SearchAnswer} SearchAnswer
 * @typedef {import('./events.js').Event} Event
 * @typedef {import('./offline.js').Pending} Pending
 * @typedef {import('./offline.js').Store} Store
 * @typedef {import('./offline.js').Undelivered} Undelivered
 */
export { MemoryClient } from './client.js';
export { etagOf, isCached, isPending } from './documents.js';
export {
  AuthenticationFailed,
  Conflict,
  InvalidRequest,
  MemoryClientError,
  NotConnected,
  NotFound,
  OutcomeUnknown,
  PermissionDenied,
  PreconditionRequired,
  QuotaExceeded,
  RateLimited,
  ServiceError,
  ServiceFault,
  ServiceUnavailable,
  VersionConflict,
} from './errors.js';
export { Events } from './events.js';
export { webStore } from './web.js';
