/**
 * A client of the Distributed Memory API. Documents go in and come out as the service has them. A document that is
 * written back carries the version that was read: if it has changed since, `VersionConflict` is thrown and nothing is
 * overwritten.
 */
export class MemoryClient {
    /** @param {Options} options */
    constructor({ apiKey, baseUrl, source, sessionId, offline, timeout, retry, fetch }: Options);
    /** The session that is meant where none is named: the last one that was loaded or created.
     * @type {string | undefined} */
    sessionId: string | undefined;
    /**
     * Loads the context of a session, which is then the client's.
     *
     * @param {string} [sessionId]
     * @returns {Promise<ContextPackage>}
     */
    loadContext(sessionId?: string): Promise<ContextPackage>;
    /**
     * Stores the first context of a session, which is then the client's.
     *
     * @param {string} [sessionId]
     * @param {ContextPackage['context']} [context]
     * @param {Access & { metadata?: Json }} [options]
     * @returns {Promise<ContextPackage>}
     */
    createContext(sessionId?: string, context?: ContextPackage["context"], { metadata, visibility, authorizedAgents }?: Access & {
        metadata?: Json;
    }): Promise<ContextPackage>;
    /**
     * Writes back a context that was loaded.
     *
     * @param {ContextPackage} context
     * @param {Version} [version]
     * @returns {Promise<ContextPackage>}
     */
    replaceContext(context: ContextPackage, { ifMatch }?: Version): Promise<ContextPackage>;
    /**
     * Changes a part of a context: an object is a merge patch, an array a JSON Patch. Concurrent ones follow each other.
     *
     * @param {Json | Json[]} change
     * @param {string} [sessionId]
     * @param {Version} [version]
     * @returns {Promise<ContextPackage>}
     */
    patchContext(change: Json | Json[], sessionId?: string, { ifMatch }?: Version): Promise<ContextPackage>;
    /**
     * Changes what a session is about now; members that are not named stay, and `null` removes one.
     *
     * @param {Json} focus
     * @param {string} [sessionId]
     * @returns {Promise<ContextPackage>}
     */
    updateFocus(focus: Json, sessionId?: string): Promise<ContextPackage>;
    /**
     * Deletes a context.
     *
     * @param {string} [sessionId]
     * @param {Version} [version]
     * @returns {Promise<void>}
     */
    deleteContext(sessionId?: string, { ifMatch }?: Version): Promise<void>;
    /**
     * Stores an entry, of the client's session if there is one; `ttl` in seconds.
     *
     * @param {Json} content
     * @param {Access & { tags?: string[], level?: Level, references?: string[], source?: Source, ttl?: number }} [options]
     * @returns {Promise<Entry>}
     */
    createEntry(content: Json, { tags, level, references, source, ttl, visibility, authorizedAgents }?: Access & {
        tags?: string[];
        level?: Level;
        references?: string[];
        source?: Source;
        ttl?: number;
    }): Promise<Entry>;
    /**
     * Stores many entries: all or none.
     *
     * @param {NewEntry[]} entries
     * @returns {Promise<EntryList>}
     */
    createEntries(entries: NewEntry[]): Promise<EntryList>;
    /**
     * Reads an entry.
     *
     * @param {string} entryId
     * @returns {Promise<Entry>}
     */
    readEntry(entryId: string): Promise<Entry>;
    /**
     * Changes an entry: an object is a merge patch, an array a JSON Patch; with another level it is promoted.
     *
     * @param {string} entryId
     * @param {Json | Json[]} change
     * @param {Version} [version]
     * @returns {Promise<Entry>}
     */
    patchEntry(entryId: string, change: Json | Json[], { ifMatch }?: Version): Promise<Entry>;
    /**
     * Deletes an entry.
     *
     * @param {string} entryId
     * @param {Version} [version]
     * @returns {Promise<void>}
     */
    deleteEntry(entryId: string, { ifMatch }?: Version): Promise<void>;
    /**
     * Lists entries, oldest first, with any of the tags or with all; `next_cursor` leads to the next ones.
     *
     * @param {{ tags?: string[], match?: 'any' | 'all', level?: Level, since?: string, session?: string, limit?: number,
     *   cursor?: string }} [wanted]
     * @returns {Promise<EntryList>}
     */
    query({ tags, ...rest }?: {
        tags?: string[];
        match?: "any" | "all";
        level?: Level;
        since?: string;
        session?: string;
        limit?: number;
        cursor?: string;
    }): Promise<EntryList>;
    /**
     * Searches the long-term memory: its entries, and its pages if the key may read them.
     *
     * @param {string} query
     * @param {{ limit?: number, only?: 'pages' | 'entries', tags?: string[], since?: string, until?: string,
     *   under?: string, agent?: string }} [options]
     * @returns {Promise<SearchAnswer>}
     */
    search(query: string, options?: {
        limit?: number;
        only?: "pages" | "entries";
        tags?: string[];
        since?: string;
        until?: string;
        under?: string;
        agent?: string;
    }): Promise<SearchAnswer>;
    /**
     * Asks another agent to take over; by default for the client's session.
     *
     * @param {Party} to
     * @param {{ instructions?: string, context?: Json, sender?: Party, priority?: Handoff['priority'], expiry?: string }}
     *   [options]
     * @returns {Promise<Handoff>}
     */
    requestHandoff(to: Party, { instructions, context, sender, priority, expiry }?: {
        instructions?: string;
        context?: Json;
        sender?: Party;
        priority?: Handoff["priority"];
        expiry?: string;
    }): Promise<Handoff>;
    /**
     * Reads a handoff with its history.
     *
     * @param {string} handoffId
     * @returns {Promise<Handoff>}
     */
    readHandoff(handoffId: string): Promise<Handoff>;
    /**
     * Lists the handoffs that the caller has asked for or may take over.
     *
     * @param {{ state?: Handoff['state'], limit?: number }} [wanted]
     * @returns {Promise<{ handoffs: Handoff[] }>}
     */
    listHandoffs(wanted?: {
        state?: Handoff["state"];
        limit?: number;
    }): Promise<{
        handoffs: Handoff[];
    }>;
    /**
     * Takes a handoff over for the time of a lease; of many claimers one gets it. Never waits in the outbox.
     *
     * @param {string} handoffId
     * @param {{ leaseSeconds?: number }} [options]
     * @returns {Promise<Handoff>}
     */
    claimHandoff(handoffId: string, { leaseSeconds }?: {
        leaseSeconds?: number;
    }): Promise<Handoff>;
    /**
     * Makes the lease of a claimed handoff longer. Never waits in the outbox.
     *
     * @param {Handoff} handoff
     * @param {{ leaseSeconds?: number }} [options]
     * @returns {Promise<Handoff>}
     */
    renewHandoff({ handoff_id: id, claim_id: claim }: Handoff, { leaseSeconds }?: {
        leaseSeconds?: number;
    }): Promise<Handoff>;
    /**
     * Ends a claimed handoff with a result.
     *
     * @param {Handoff} handoff
     * @param {{ result?: Json, reason?: string }} [options]
     * @returns {Promise<Handoff>}
     */
    completeHandoff(handoff: Handoff, { result, reason }?: {
        result?: Json;
        reason?: string;
    }): Promise<Handoff>;
    /**
     * Refuses a handoff, claimed or not.
     *
     * @param {Handoff} handoff
     * @param {{ reason?: string }} [options]
     * @returns {Promise<Handoff>}
     */
    rejectHandoff({ handoff_id: id, claim_id: claim }: Handoff, { reason }?: {
        reason?: string;
    }): Promise<Handoff>;
    /**
     * Takes a handoff back.
     *
     * @param {string} handoffId
     * @param {{ reason?: string }} [options]
     * @returns {Promise<Handoff>}
     */
    cancelHandoff(handoffId: string, { reason }?: {
        reason?: string;
    }): Promise<Handoff>;
    /**
     * Reads the state of an agent.
     *
     * @param {string} agentId
     * @returns {Promise<AgentState>}
     */
    agentState(agentId: string): Promise<AgentState>;
    /**
     * Changes the state of an agent by a merge patch, or replaces it.
     *
     * @param {string} agentId
     * @param {Json} state
     * @param {Version & { mode?: 'merge' | 'replace' }} [options]
     * @returns {Promise<AgentState>}
     */
    updateAgent(agentId: string, state: Json, { mode, ifMatch }?: Version & {
        mode?: "merge" | "replace";
    }): Promise<AgentState>;
    /**
     * Lists the states that an agent has had, newest first.
     *
     * @param {string} agentId
     * @param {{ limit?: number }} [wanted]
     * @returns {Promise<{ agent_id: string, history: AgentState[] }>}
     */
    agentHistory(agentId: string, { limit }?: {
        limit?: number;
    }): Promise<{
        agent_id: string;
        history: AgentState[];
    }>;
    /**
     * Lists the pages of the long-term memory.
     *
     * @returns {Promise<{ pages: Json[] }>}
     */
    listPages(): Promise<{
        pages: Json[];
    }>;
    /**
     * Reads a page.
     *
     * @param {string} [path]
     * @returns {Promise<Page>}
     */
    readPage(path?: string): Promise<Page>;
    /**
     * Writes a text on a page, or where it belongs.
     *
     * @param {string} text
     * @param {{ path?: string, mode?: 'update' | 'append' | 'replace' }} [options]
     * @returns {Promise<Written>}
     */
    writeText(text: string, { path, mode }?: {
        path?: string;
        mode?: "update" | "append" | "replace";
    }): Promise<Written>;
    /**
     * Creates a page, or writes back one that was read.
     *
     * @param {Page} page
     * @param {Version} [version]
     * @returns {Promise<Page>}
     */
    putPage(page: Page, { ifMatch }?: Version): Promise<Page>;
    /**
     * The events that fit, from when they are first asked for or after a cursor: each once and in order, across
     * interruptions. Without filters, all that the key may see.
     *
     * @param {import('./events.js').Wish & { cursor?: string }} [wanted]
     */
    subscribe({ events, levels, sessions, agents, cursor }?: import("./events.js").Wish & {
        cursor?: string;
    }): Events;
    /** The writes that wait in the outbox, in order. */
    pending(): Promise<import("./offline.js").Pending[]>;
    /** The writes that waited and could not be delivered, with the reasons. */
    undelivered(): Promise<import("./offline.js").Undelivered[]>;
    /**
     * Forgets a write that could not be delivered; says whether there was one.
     *
     * @param {string} id
     */
    discard(id: string): Promise<boolean>;
    /** Delivers the writes that wait, which the next call does too. Throws what keeps all of them from it. */
    replay(): Promise<{
        delivered: number;
        pending: number;
        undelivered: import("./offline.js").Undelivered[];
    }>;
    #private;
}
/**
 * who may read
 */
export type Access = {
    visibility?: Visibility;
    authorizedAgents?: string[];
};
/**
 * the version to overwrite, if not the one that was read; `*` is any
 */
export type Version = {
    ifMatch?: string;
};
/**
 * `baseUrl` is the address of the service, else DISTRIBUTED_MEMORY_URL or that of `silica serve`. `source` is for whom the
 * key speaks. `offline` is a store for what is read and for what waits to be written; one store belongs to one service.
 * `timeout` is in seconds, for each request.
 */
export type Options = {
    apiKey: string;
    baseUrl?: string | undefined;
    source?: string | undefined;
    sessionId?: string | undefined;
    offline?: import("./offline.js").Store | undefined;
    timeout?: number | undefined;
    retry?: Partial<import("./wire.js").Retry> | undefined;
    fetch?: typeof fetch | undefined;
};
import type { ContextPackage } from './documents.js';
import type { Json } from './documents.js';
import type { Level } from './documents.js';
import type { Source } from './documents.js';
import type { Entry } from './documents.js';
import type { NewEntry } from './documents.js';
import type { EntryList } from './documents.js';
import type { SearchAnswer } from './documents.js';
import type { Party } from './documents.js';
import type { Handoff } from './documents.js';
import type { AgentState } from './documents.js';
import type { Page } from './documents.js';
import type { Written } from './documents.js';
import { Events } from './events.js';
import type { Visibility } from './documents.js';
