// The cases that every client plays, against the stage that STAGE_CONTROL names.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import * as api from '@distributed-memory/client';
import { folderStore } from '@distributed-memory/client/node';

const { STAGE_CONTROL = '', STAGE_ADDRESS = '', STAGE_KEY = '' } = process.env;
const { cases } = JSON.parse(await readFile(new URL('../../cases.json', import.meta.url), 'utf8'));
const QUICK = { times: 3, first: 0.02, longest: 0.1 };
const PATIENT = { times: 200, first: 0.1, longest: 0.2 };

for (const play of cases) {
  test(play.name, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'client-'));
    const player = new Player(play, folder);
    try {
      await player.play();
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}

class Player {
  known = { run: randomUUID().slice(0, 12) };
  clients = new Map();
  feeds = new Map();

  constructor(play, folder) {
    Object.assign(this, { case: play, folder });
  }

  async play() {
    await stage({ begin: this.case.name });
    try {
      for (const step of this.case.steps) await this.step(step);
    } finally {
      await Promise.all([...this.feeds.values()].map((feed) => feed.close()));
    }
  }

  async step(step) {
    if (step.do) await this.call(step);
    else if (step.listen) {
      const feed = this.client(step).subscribe(this.filled(step.listen));
      this.feeds.set(step.as, feed);
      await feed.open();
    } else if (step.next) {
      const { value } = await this.feeds.get(step.next).next();
      this.check(step, value);
    } else if (step.restart) this.clients.delete(step.restart);
    else if (step.stage) await stage(step.stage);
    else if (step.sent) await this.checkSent(step);
    else throw new Error(`no such step: ${JSON.stringify(step)}`);
  }

  async call(step) {
    const args = this.filled(step.args ?? []);
    const options = Object.entries(this.filled(step.options ?? {})).map(([name, value]) => [camel(name), value]);
    const client = this.client(step);
    const name = camel(step.do);
    const given = options.length ? [...args, Object.fromEntries(options)] : args;
    if (step.fails) {
      const { kind, ...members } = step.fails;
      const failure = await client[name](...given).then(() => assert.fail('it did not fail'), (error) => error);
      assert.equal(failure.constructor, api[kind], `${failure.stack}`);
      for (const [member, value] of Object.entries(members)) assert.equal(failure[member], value);
      return;
    }
    const result = await client[name](...given);
    const about = typeof result === 'object' ? result : {};
    assert.equal(api.isPending(about), step.is === 'pending', JSON.stringify(step));
    assert.equal(api.isCached(about), step.is === 'cached', JSON.stringify(step));
    this.check(step, result);
  }

  client({ by = 'hawk' }) {
    if (!this.clients.has(by)) {
      const options = {
        apiKey: this.case.key ?? STAGE_KEY,
        baseUrl: STAGE_ADDRESS,
        source: by,
        offline: this.case.needs?.includes('offline') ? folderStore(join(this.folder, by)) : undefined,
        retry: this.case.patient ? PATIENT : QUICK,
      };
      this.clients.set(by, new api.MemoryClient(options));
    }
    return this.clients.get(by);
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
      assert.deepEqual(at(result, path), this.filled(expected), JSON.stringify([step, result]));
    }
  }

  async checkSent(step) {
    const sent = await stage({ requests: this.filled(step.sent) });
    assert.equal(sent.length, step.times, JSON.stringify(sent));
    if (step.keys) {
      assert.equal(new Set(sent.map(({ key }) => key)).size, step.keys);
      assert.ok(sent.every(({ key }) => key));
    }
    if (step.apart) assert.ok(sent.at(-1).at - sent[0].at >= step.apart);
  }
}

async function stage(step) {
  const answer = await fetch(STAGE_CONTROL, { method: 'POST', body: JSON.stringify(step) });
  return answer.json();
}

function at(value, path) {
  return path.split('.').reduce((inside, name) => inside[name], value);
}

function camel(name) {
  return name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
}
