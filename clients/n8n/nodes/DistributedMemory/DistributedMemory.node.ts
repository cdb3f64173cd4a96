import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	INodeType,
	INodeTypeDescription,
	JsonObject,
} from 'n8n-workflow';
import { NodeApiError, NodeConnectionTypes, NodeOperationError } from 'n8n-workflow';

import { OPERATIONS, Parameters } from './operations';
import { PROPERTIES } from './properties';
import { ask, CREDENTIALS } from './request';

export class DistributedMemory implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Distributed Memory',
		name: 'distributedMemory',
		icon: { light: 'file:../../icons/memory.svg', dark: 'file:../../icons/memory.dark.svg' },
		group: ['transform'],
		version: 1,
		subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
		description: 'Read and write a memory that many agents share',
		defaults: { name: 'Distributed Memory' },
		usableAsTool: true,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: CREDENTIALS, required: true }],
		properties: PROPERTIES,
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const items = this.getInputData();
		const results: INodeExecutionData[] = [];
		for (let item = 0; item < items.length; item += 1) {
			try {
				const documents = await resultsOf(this, item);
				results.push(...documents.map((json) => ({ json, pairedItem: { item } })));
			} catch (error) {
				if (!this.continueOnFail()) {
					const isOurs = error instanceof NodeOperationError;
					if (isOurs) throw new NodeOperationError(this.getNode(), error, { itemIndex: item });
					throw new NodeApiError(this.getNode(), error as JsonObject, { itemIndex: item });
				}
				results.push({ json: { error: (error as Error).message }, pairedItem: { item } });
			}
		}
		return [results];
	}
}

/** What one item becomes: the document of the answer, or those that it lists. */
async function resultsOf(node: IExecuteFunctions, item: number): Promise<IDataObject[]> {
	const resource = node.getNodeParameter('resource', item) as string;
	const operation = node.getNodeParameter('operation', item) as string;
	const build = OPERATIONS[resource]?.[operation];
	if (!build) throw new NodeOperationError(node.getNode(), `There is no ${operation} of ${resource}`, { itemIndex: item });
	const options = node.getNodeParameter('options', item, {}) as IDataObject;
	const retries = Number(options.retries ?? 4);
	const request = build(new Parameters(node, item));
	const isWrite = request.method !== 'GET' && request.path !== '/search';
	if (!request.items) {
		const { body, etag } = await ask(node, request, isWrite ? keyOf(node, item) : '', retries, item);
		if (operation === 'delete') return [{ deleted: true }];
		return [options.includeEtag ? { ...body, etag } : body];
	}
	const returnAll = node.getNodeParameter('returnAll', item, false) as boolean;
	const limit = returnAll ? Infinity : Number(node.getNodeParameter('limit', item, 50));
	const found: IDataObject[] = [];
	for (let cursor = ''; ; ) {
		const some = request.path === '/query' ? { limit: Math.min(500, limit - found.length), cursor } : {};
		const { body } = await ask(node, { ...request, qs: { ...request.qs, ...some } }, '', retries, item);
		found.push(...(body[request.items] as IDataObject[]));
		cursor = String(body.next_cursor ?? '');
		if (!cursor || found.length >= limit) return found.slice(0, limit);
	}
}

/** The same for each try of one item, also if n8n starts the node again: a write is then done once. */
function keyOf(node: IExecuteFunctions, item: number): string {
	const { $runIndex: run } = node.getWorkflowDataProxy(item);
	return ['n8n', node.getWorkflow().id, node.getExecutionId(), node.getNode().id, run, item].join(':');
}
