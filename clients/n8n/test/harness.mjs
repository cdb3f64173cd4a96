// Runs the compiled nodes as n8n does: parameters by its own rules with all defaults, credentials applied to requests.
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';

const require = createRequire(import.meta.url);
const { NodeHelpers } = require('n8n-workflow');
const { DistributedMemoryApi } = require('../dist/credentials/DistributedMemoryApi.credentials.js');
const { DistributedMemory } = require('../dist/nodes/DistributedMemory/DistributedMemory.node.js');
const { DistributedMemoryTrigger } = require('../dist/nodes/DistributedMemoryTrigger/DistributedMemoryTrigger.node.js');

let executions = 0;

/** The documents that the node answers with for one item. */
export async function execute(parameters, credentials, { executionId, input = {} } = {}) {
  const id = executionId ?? `execution-${process.pid}-${(executions += 1)}`;
  const node = new DistributedMemory();
  const context = {
    ...common(node, 'distributedMemory', parameters, credentials),
    getInputData: () => [{ json: input }],
    continueOnFail: () => false,
    getExecutionId: () => id,
    getWorkflow: () => ({ id: 'workflow' }),
    getWorkflowDataProxy: () => ({ $runIndex: 0 }),
  };
  const [items] = await node.execute.call(context);
  return items.map(({ json }) => json);
}

/** A workflow that is active: `next` waits for the next event that starts it, `close` takes it off. */
export async function activate(parameters, credentials, staticData = {}) {
  const node = new DistributedMemoryTrigger();
  const events = [];
  let arrived = () => {};
  const context = {
    ...common(node, 'distributedMemoryTrigger', parameters, credentials),
    emit: ([items]) => {
      events.push(...items.map(({ json }) => json));
      arrived();
    },
    emitError: (error) => {
      events.push(error);
      arrived();
    },
    getMode: () => 'trigger',
    getWorkflowStaticData: () => staticData,
  };
  const { closeFunction } = await node.trigger.call(context);
  return {
    close: closeFunction,
    async next() {
      while (!events.length) await new Promise((resolve) => (arrived = resolve));
      return events.shift();
    },
  };
}

function common(nodeType, name, parameters, credentials) {
  const node = { id: 'node', name: 'Memory', type: name, typeVersion: 1, position: [0, 0], parameters };
  const { description } = nodeType;
  const all = NodeHelpers.getNodeParameters(description.properties, parameters, true, false, node, description);
  return {
    getNode: () => node,
    getCredentials: async () => credentials,
    getNodeParameter: (key, ...rest) => all[key] ?? rest.at(-1),
    helpers: {
      httpRequestWithAuthentication: (_, options) => request(options, credentials),
      returnJsonArray: (documents) => documents.map((json) => ({ json })),
    },
  };
}

async function request(asked, credentials) {
  const options = await new DistributedMemoryApi().authenticate(credentials, asked);
  const url = new URL(options.url);
  for (const [name, value] of Object.entries(options.qs)) url.searchParams.set(name, String(value));
  const response = await fetch(url, {
    method: options.method,
    headers: { ...(options.body ? { 'Content-Type': 'application/json' } : {}), ...options.headers },
    body: options.body ? JSON.stringify(options.body) : undefined,
  });
  const told = { statusCode: response.status, headers: Object.fromEntries(response.headers) };
  if (options.encoding === 'stream') return { ...told, body: Readable.fromWeb(response.body) };
  const text = await response.text();
  return { ...told, body: text ? JSON.parse(text) : '' };
}
