// The cases that every client plays, as far as a node of n8n has them, against the stage that STAGE_CONTROL names.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

import { activate, execute } from './harness.mjs';

const { STAGE_CONTROL = '', STAGE_ADDRESS = '', STAGE_KEY = '' } = process.env;
const { cases } = JSON.parse(await readFile(new URL('../../cases.json', import.meta.url), 'utf8'));
const json = JSON.stringify;

/** How a case's call is said with the parameters of the node. */
const CALLS = {
  create_context: ([sessionId, context = {}], { metadata = {} }) =>
    of('context', 'create', { sessionId, context: json(context), additionalFields: { metadata: json(metadata) } }),
  load_context: ([sessionId]) => of('context', 'get', { sessionId, options: { includeEtag: true } }),
  replace_context: ([context], { if_match: etag }) =>
    of('context', 'replace', { sessionId: context.session_id, package: json(context), etag: etag ?? context.etag ?? '' }),
  update_focus: ([focus, sessionId], _, session) =>
    of('context', 'updateFocus', { sessionId: sessionId ?? session, focus: json(focus) }),
  create_entry: ([content], { tags = [], level = 'working' }) =>
    of('entry', 'create', { content: json(content), level, additionalFields: { tags: tags.join(', ') } }),
  read_entry: ([entryId]) => of('entry', 'get', { entryId }),
  patch_entry: ([entryId, changes]) => of('entry', 'update', { entryId, changes: json(changes) }),
  delete_entry: ([entryId]) => of('entry', 'delete', { entryId }),
  query: (_, { tags }) => of('entry', 'getAll', { returnAll: true, filters: { tags: tags.join(',') } }, 'entries'),
  search: ([query], { limit }) => of('entry', 'search', { query, limit }),
  request_handoff: ([to], { instructions = '', sender }) =>
    of('handoff', 'create', { sessionId: sender.id, toType: to.type, toId: to.id, instructions }),
  read_handoff: ([handoffId]) => of('handoff', 'get', { handoffId }),
  claim_handoff: ([handoffId]) => of('handoff', 'claim', { handoffId }),
  complete_handoff: ([handoff], { result }) =>
    of('handoff', 'complete', { handoffId: handoff.handoff_id, claimId: handoff.claim_id, result: json(result) }),
  agent_state: ([agentId]) => of('agent', 'get', { agentId }),
  update_agent: ([agentId, state]) => of('agent', 'update', { agentId, state: json(state) }),
  agent_history: ([agentId], { limit }) => of('agent', 'getAll', { agentId, limit }, 'history'),
};

for (const play of cases) {
  test(play.name, { skip: play.needs && `a node has no ${play.needs}` }, async () => {
    await stage({ begin: play.name });
    const player = new Player(play);
    try {
      for (const step of play.steps) await player.step(step);
    } finally {
      await Promise.all([...player.feeds.values()].map((feed) => feed.close()));
    }
  });
}

test('n8n tries a node again whose answer was lost: it is done once', async () => {
  await stage({ begin: 'again' });
  await stage({ fault: 'lose', on: '/entries' });
  const tag = `again-${randomUUID()}`;
  const { parameters } = CALLS.create_entry([{ n: 1 }], { tags: [tag] });
  const once = { ...parameters, options: { retries: 0 } };
  await assert.rejects(execute(once, credentials('hawk'), { executionId: tag }));
  await execute(once, credentials('hawk'), { executionId: tag });
  assert.equal((await execute(CALLS.query([], { tags: [tag] }).parameters, credentials('hawk'))).length, 1);
});

test('a workflow that becomes active again begins with what it has missed', async () => {
  await stage({ begin: 'missed' });
  const [{ session_id: session }] = await execute(CALLS.create_context([`S-${randomUUID()}`], {}).parameters, credentials('hawk'));
  const change = (n) => execute(CALLS.update_focus([{ n }, session]).parameters, credentials('hawk'));
  const parameters = { filters: { sessions: session } };
  const kept = {};
  const first = await activate(parameters, credentials('hawk'), kept);
  await change(1);
  assert.equal((await first.next()).data.changes.immediate.current_focus.n, 1);
  await first.close();
  await change(2);
  const second = await activate(parameters, credentials('hawk'), kept);
  assert.equal((await second.next()).data.changes.immediate.current_focus.n, 2);
  await second.close();
});

class Player {
  known = { run: randomUUID().slice(0, 12) };
  feeds = new Map();
  session = '';

  constructor(play) {
    this.case = play;
  }

  async step(step) {
    if (step.do) await this.call(step);
    else if (step.listen) {
      const { sessions, cursor } = this.filled(step.listen);
      const kept = cursor ? { cursor } : {};
      this.feeds.set(step.as, await activate({ filters: { sessions: sessions.join(', ') } }, credentials('hawk'), kept));
    } else if (step.next) this.check(step, await this.feeds.get(step.next).next());
    else if (step.stage) await stage(step.stage);
    else if (step.sent) await this.checkSent(step);
    else throw new Error(`no such step: ${json(step)}`);
  }

  async call(step) {
    const args = this.filled(step.args ?? []);
    const { parameters, list } = CALLS[step.do](args, this.filled(step.options ?? {}), this.session);
    this.session = parameters.sessionId ?? this.session;
    parameters.options = { ...parameters.options, retries: this.case.patient ? 20 : 3 };
    const done = execute(parameters, credentials(step.by ?? 'hawk', this.case.key));
    if (step.fails) {
      const failure = await done.then(() => assert.fail('it did not fail'), (error) => error);
      assert.equal(failure.constructor.name, 'NodeApiError');
      if (step.fails.code) assert.ok(failure.message.startsWith(`${step.fails.code}: `), failure.message);
      if (step.fails.status) assert.equal(failure.httpCode, String(step.fails.status));
      return;
    }
    const found = await done;
    this.check(step, list ? { [list]: found } : found[0]);
  }

  /** A value with its variables: `$name` is a document itself, `${name.member}` a text in it. */
  filled(value) {
    if (typeof value === 'string') {
      if (value.startsWith('$') && value.slice(1) in this.known) return this.known[value.slice(1)];
      return value.replace(/\$\{([^}]+)\}/g, (_, path) => String(at(this.known, path)));
    }
    if (Array.isArray(value)) return value.map((each) => this.filled(each));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.filled(each)]));
  }

  check(step, result) {
    if (step.as) this.known[step.as] = result;
    for (const [path, expected] of Object.entries(step.then ?? {})) {
      assert.deepEqual(at(result, path), this.filled(expected), json([step, result]));
    }
  }

  async checkSent(step) {
    const sent = await stage({ requests: this.filled(step.sent) });
    assert.equal(sent.length, step.times, json(sent));
    if (step.keys) assert.equal(new Set(sent.map(({ key }) => key)).size, step.keys);
    if (step.keys) assert.ok(sent.every(({ key }) => key));
    if (step.apart) assert.ok(sent.at(-1).at - sent[0].at >= step.apart);
  }
}

function of(resource, operation, parameters, list) {
  return { parameters: { resource, operation, ...parameters }, list };
}

function credentials(source, apiKey = STAGE_KEY) {
  return { baseUrl: STAGE_ADDRESS, apiKey, source };
}

async function stage(step) {
  const answer = await fetch(STAGE_CONTROL, { method: 'POST', body: json(step) });
  return answer.json();
}

function at(value, path) {
  return path.split('.').reduce((inside, name) => inside[name], value);
}
