export { MemoryClient } from "./client.js";
export { Events } from "./events.js";
export { webStore } from "./web.js";
/**
 * A client of the Distributed Memory API: a memory that many agents share. It needs nothing but `fetch`: Node 20, or a
 * browser.
 */
export type AgentState = import("./documents.js").AgentState;
/**
 * A client of the Distributed Memory API: a memory that many agents share. It needs nothing but `fetch`: Node 20, or a
 * browser.
 */
export type ContextPackage = import("./documents.js").ContextPackage;
/**
 * A client of the Distributed Memory API: a memory that many agents share. It needs nothing but `fetch`: Node 20, or a
 * browser.
 */
export type Entry = import("./documents.js").Entry;
/**
 * A client of the Distributed Memory API: a memory that many agents share. It needs nothing but `fetch`: Node 20, or a
 * browser.
 */
export type EntryList = import("./documents.js").EntryList;
/**
 * A client of the Distributed Memory API: a memory that many agents share. It needs nothing but `fetch`: Node 20, or a
 * browser.
 */
export type Handoff = import("./documents.js").Handoff;
/**
 * A client of the Distributed Memory API: a memory that many agents share. It needs nothing but `fetch`: Node 20, or a
 * browser.
 */
export type NewEntry = import("./documents.js").NewEntry;
/**
 * A client of the Distributed Memory API: a memory that many agents share. It needs nothing but `fetch`: Node 20, or a
 * browser.
 */
export type Options = import("./client.js").Options;
/**
 * A client of the Distributed Memory API: a memory that many agents share. It needs nothing but `fetch`: Node 20, or a
 * browser.
 */
export type Page = import("./documents.js").Page;
/**
 * A client of the Distributed Memory API: a memory that many agents share. It needs nothing but `fetch`: Node 20, or a
 * browser.
 */
export type SearchAnswer = import("./documents.js").SearchAnswer;
/**
 * A client of the Distributed Memory API: a memory that many agents share. It needs nothing but `fetch`: Node 20, or a
 * browser.
 */
export type Event = import("./events.js").Event;
/**
 * A client of the Distributed Memory API: a memory that many agents share. It needs nothing but `fetch`: Node 20, or a
 * browser.
 */
export type Pending = import("./offline.js").Pending;
/**
 * A client of the Distributed Memory API: a memory that many agents share. It needs nothing but `fetch`: Node 20, or a
 * browser.
 */
export type Store = import("./offline.js").Store;
/**
 * A client of the Distributed Memory API: a memory that many agents share. It needs nothing but `fetch`: Node 20, or a
 * browser.
 */
export type Undelivered = import("./offline.js").Undelivered;
export { etagOf, isCached, isPending } from "./documents.js";
export { AuthenticationFailed, Conflict, InvalidRequest, MemoryClientError, NotConnected, NotFound, OutcomeUnknown, PermissionDenied, PreconditionRequired, QuotaExceeded, RateLimited, ServiceError, ServiceFault, ServiceUnavailable, VersionConflict } from "./errors.js";
