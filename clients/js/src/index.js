/**
 * A client of the Distributed Memory API: a memory that many agents share. It needs nothing but `fetch`: Node 20, or a
 * browser.
 *
 * @typedef {import('./documents.js').AgentState} AgentState
 * @typedef {import('./documents.js').ContextPackage} ContextPackage
 * @typedef {import('./documents.js').Entry} Entry
 * @typedef {import('./documents.js').EntryList} EntryList
 * @typedef {import('./documents.js').Handoff} Handoff
 * @typedef {import('./documents.js').NewEntry} NewEntry
 * @typedef {import('./client.js').Options} Options
 * @typedef {import('./documents.js').Page} Page
 * @typedef {import('./documents.js').SearchAnswer} SearchAnswer
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
