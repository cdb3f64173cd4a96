import type { IDataObject, INodeType, INodeTypeDescription, ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';

import { CREDENTIALS } from '../DistributedMemory/request';
import { Follower } from './stream';

export class DistributedMemoryTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'Distributed Memory Trigger',
		name: 'distributedMemoryTrigger',
		icon: { light: 'file:../../icons/memory.svg', dark: 'file:../../icons/memory.dark.svg' },
		group: ['trigger'],
		version: 1,
		subtitle: '={{ $parameter["events"].join(", ") }}',
		description: 'Starts the workflow when the memory changes, each change once and in order',
		eventTriggerDescription: 'Waiting for the memory to change',
		defaults: { name: 'Distributed Memory Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: CREDENTIALS, required: true }],
		properties: [
			{
				displayName: 'Events',
				name: 'events',
				type: 'multiOptions',
				options: [
					{ name: 'Agent State Changed', value: 'agent.state_changed' },
					{ name: 'Handoff Cancelled', value: 'handoff.cancelled' },
					{ name: 'Handoff Claimed', value: 'handoff.claimed' },
					{ name: 'Handoff Completed', value: 'handoff.completed' },
					{ name: 'Handoff Rejected', value: 'handoff.rejected' },
					{ name: 'Handoff Requested', value: 'handoff.requested' },
					{ name: 'Memory Updated', value: 'memory.updated' },
				],
				default: [],
				description: 'Which events; none is all of them',
			},
			{
				displayName: 'Filters',
				name: 'filters',
				type: 'collection',
				placeholder: 'Add Filter',
				default: {},
				options: [
					{
						displayName: 'Agents',
						name: 'agents',
						type: 'string',
						default: '',
						description: 'Divided by commas',
					},
					{
						displayName: 'Levels',
						name: 'levels',
						type: 'multiOptions',
						options: [
							{ name: 'Immediate', value: 'immediate' },
							{ name: 'Longterm', value: 'longterm' },
							{ name: 'Working', value: 'working' },
						],
						default: [],
					},
					{
						displayName: 'Sessions',
						name: 'sessions',
						type: 'string',
						default: '',
						description: 'Divided by commas',
					},
				],
			},
			{
				displayName: 'Catch Up',
				name: 'catchUp',
				type: 'boolean',
				default: true,
				description:
					'Whether to begin with what happened while the workflow was not active. After more than 24 hours there is one event resync_required instead.',
			},
		],
	};

	async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
		const isManual = this.getMode() === 'manual';
		const kept = this.getWorkflowStaticData('node');
		const cursor = !isManual && this.getNodeParameter('catchUp', true) ? String(kept.cursor ?? '') : '';
		const follower = new Follower(this, wishOf(this), cursor, (event) => {
			if (!isManual) kept.cursor = event.cursor; // n8n keeps it when it starts the workflow
			this.emit([this.helpers.returnJsonArray([event])]);
		});
		const start = async () => {
			await follower.open();
			follower.follow().catch((error: Error) => this.emitError(error));
		};
		if (!isManual) await start();
		return { closeFunction: async () => await follower.close(), manualTriggerFunction: start };
	}
}

function wishOf(node: ITriggerFunctions): IDataObject {
	const { agents = '', levels = [], sessions = '' } = node.getNodeParameter('filters', {}) as IDataObject;
	const events = node.getNodeParameter('events', []) as string[];
	return { events, levels, agents: listed(agents), sessions: listed(sessions) };
}

function listed(text: unknown): string[] {
	return String(text).split(',').map((each) => each.trim()).filter(Boolean);
}
