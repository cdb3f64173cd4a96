/**
 * A document and what is known about it.
 *
 * @param {any} body
 * @param {Known} known
 */
export function documentWith(body: any, known: Known): any;
/**
 * The version of a document that the client returned; empty if it is not one, or has none.
 *
 * @param {object} document
 */
export function etagOf(document: object): string;
/**
 * Whether a document comes from the offline cache.
 *
 * @param {object} document
 */
export function isCached(document: object): boolean;
/**
 * Whether a write waits in the outbox, so that the document is only what was sent.
 *
 * @param {object} document
 */
export function isPending(document: object): boolean;
export type Json = Record<string, any>;
export type Level = "immediate" | "working" | "longterm";
export type Visibility = "private" | "shared" | "public";
export type Source = {
    type: "chat" | "agent" | "function" | "api";
    id?: string | null;
    session?: string | null;
};
export type Data = {
    content: Json;
    meta_tags?: string[];
    references?: string[];
};
/**
 * An entry to create; `ttl` in seconds.
 */
export type NewEntry = {
    data: Data;
    source?: Source | undefined;
    level?: Level | undefined;
    ttl?: number | null | undefined;
    visibility?: Visibility | undefined;
    authorized_agents?: string[] | undefined;
};
export type Entry = Required<NewEntry> & {
    id: string;
    timestamp: string;
};
export type EntryList = {
    entries: Entry[];
    next_cursor: string | null;
};
/**
 * The context of a session.
 */
export type ContextPackage = {
    session_id: string;
    context: {
        immediate?: Json;
        working?: Json;
        references?: Json;
    };
    metadata?: Json | undefined;
    visibility?: Visibility | undefined;
    authorized_agents?: string[] | undefined;
};
export type Party = {
    type: "chat" | "agent" | "function" | "api";
    id: string;
    platform?: string;
};
/**
 * A handoff as it is read.
 */
export type Handoff = {
    handoff_id: string;
    from: Party;
    to: Party;
    context: Json;
    instructions: string;
    priority: "immediate" | "normal" | "background";
    expiry: string;
    state: "requested" | "claimed" | "completed" | "rejected" | "cancelled" | "expired";
    claimed_by: string | null;
    claim_id: string | null;
    lease_expires: string | null;
    result: Json;
    history: Json[];
};
export type AgentState = {
    agent_id: string;
    state: Json;
    updated_at: string;
    updated_by: string;
};
export type SearchAnswer = {
    results: Json[];
    answered: boolean;
    decided_by: string;
    degraded: any;
};
export type Page = {
    path: string;
    text: string;
};
export type Written = {
    path: string;
    outcome: string;
    decided_by: string;
    degraded: any;
    new_files: string[];
};
/**
 * What is known about a document beside what it says. Copies know nothing.
 */
export type Known = {
    etag: string;
    cachedAt?: number | undefined;
    pending?: string | undefined;
};
