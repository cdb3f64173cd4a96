import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

type Shown = Record<string, string[]>;

const OPERATIONS: Record<string, INodePropertyOptions[]> = {
	agent: [
		{ name: 'Get', value: 'get', description: 'Get the state of an agent', action: 'Get the state of an agent' },
		{ name: 'Get Many', value: 'getAll', description: 'Get the states it has had', action: 'Get the history of an agent' },
		{ name: 'Update', value: 'update', description: 'Update the state', action: 'Update the state of an agent' },
	],
	context: [
		{ name: 'Create', value: 'create', description: 'Create the context of a session', action: 'Create a context' },
		{ name: 'Delete', value: 'delete', description: 'Delete a context', action: 'Delete a context' },
		{ name: 'Get', value: 'get', description: 'Get the context of a session', action: 'Get a context' },
		{ name: 'Replace', value: 'replace', description: 'Write back a version that was read', action: 'Replace a context' },
		{ name: 'Update', value: 'update', description: 'Update a part of a context', action: 'Update a context' },
		{ name: 'Update Focus', value: 'updateFocus', description: 'Update the focus', action: 'Update the focus of a session' },
	],
	entry: [
		{ name: 'Create', value: 'create', description: 'Create an entry', action: 'Create an entry' },
		{ name: 'Delete', value: 'delete', description: 'Delete an entry', action: 'Delete an entry' },
		{ name: 'Get', value: 'get', description: 'Get an entry', action: 'Get an entry' },
		{ name: 'Get Many', value: 'getAll', description: 'Get many entries by tags and level', action: 'Get many entries' },
		{ name: 'Search', value: 'search', description: 'Search the long-term memory', action: 'Search the memory' },
		{ name: 'Update', value: 'update', description: 'Update an entry', action: 'Update an entry' },
	],
	handoff: [
		{ name: 'Cancel', value: 'cancel', description: 'Take a handoff back', action: 'Cancel a handoff' },
		{ name: 'Claim', value: 'claim', description: 'Take a handoff over', action: 'Claim a handoff' },
		{ name: 'Complete', value: 'complete', description: 'End a claimed handoff', action: 'Complete a handoff' },
		{ name: 'Create', value: 'create', description: 'Ask an agent to take over', action: 'Create a handoff' },
		{ name: 'Get', value: 'get', description: 'Get a handoff', action: 'Get a handoff' },
		{ name: 'Get Many', value: 'getAll', description: 'Get many handoffs', action: 'Get many handoffs' },
		{ name: 'Reject', value: 'reject', description: 'Refuse a handoff', action: 'Reject a handoff' },
	],
	page: [
		{ name: 'Create', value: 'create', description: 'Write a text on a page, or where it belongs', action: 'Write a text' },
		{ name: 'Get', value: 'get', description: 'Get a page', action: 'Get a page' },
		{ name: 'Get Many', value: 'getAll', description: 'Get many pages', action: 'Get many pages' },
	],
};

const RESOURCES: INodePropertyOptions[] = [
	{ name: 'Agent', value: 'agent' },
	{ name: 'Context', value: 'context' },
	{ name: 'Entry', value: 'entry' },
	{ name: 'Handoff', value: 'handoff' },
	{ name: 'Page', value: 'page' },
];

const LEVELS: INodePropertyOptions[] = [
	{ name: 'Immediate', value: 'immediate', description: 'Kept for 24 hours' },
	{ name: 'Longterm', value: 'longterm', description: 'Kept for good' },
	{ name: 'Working', value: 'working', description: 'Kept for 7 days' },
];

const VISIBILITY: INodeProperties = {
	displayName: 'Visibility',
	name: 'visibility',
	type: 'options',
	options: [
		{ name: 'Private', value: 'private' },
		{ name: 'Public', value: 'public' },
		{ name: 'Shared', value: 'shared' },
	],
	default: 'shared',
};
const READERS = text('Authorized Agents', 'authorized_agents', 'Who may read what is shared, divided by commas');
const TAGS = text('Tags', 'tags', 'Divided by commas');
const SESSION = text('Session ID', 'session', 'The session that it is about');

export const PROPERTIES: INodeProperties[] = [
	{
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		options: RESOURCES,
		default: 'context',
	},
	...Object.entries(OPERATIONS).map(([resource, options]): INodeProperties => ({
		displayName: 'Operation',
		name: 'operation',
		type: 'options',
		noDataExpression: true,
		displayOptions: { show: { resource: [resource] } },
		options,
		default: 'get',
	})),

	required('Session ID', 'sessionId', 'CHAT-2025-07-30-002', { resource: ['context'] }),
	json('Context', 'context', 'The parts immediate, working and references', on('context', 'create')),
	json('Context', 'package', 'The whole package, as it was read', on('context', 'replace')),
	{
		...required('ETag', 'etag', '', on('context', 'replace')),
		default: '={{ $json.etag }}',
		description: 'Of the version that was read, with Include ETag; * overwrites any version',
	},
	json('Changes', 'changes', 'A merge patch: null removes a member', on('context', 'update')),
	json('Focus', 'focus', 'Members that are not named stay, and null removes one', on('context', 'updateFocus')),
	collection('Additional Fields', 'additionalFields', on('context', 'create'), [
		READERS,
		{ displayName: 'Metadata', name: 'metadata', type: 'json', default: '{}' },
		VISIBILITY,
	]),

	required('Entry ID', 'entryId', '', on('entry', 'get', 'update', 'delete')),
	json('Content', 'content', 'What the entry says', on('entry', 'create')),
	{
		displayName: 'Level',
		name: 'level',
		type: 'options',
		options: LEVELS,
		default: 'working',
		displayOptions: { show: on('entry', 'create') },
	},
	json('Changes', 'changes', 'A merge patch; with another level the entry is promoted', on('entry', 'update')),
	required('Query', 'query', 'When are leeks planted?', on('entry', 'search')),
	collection('Additional Fields', 'additionalFields', on('entry', 'create'), [
		READERS,
		text('References', 'references', 'What it refers to, divided by commas'),
		SESSION,
		TAGS,
		{
			displayName: 'Time to Live',
			name: 'ttl',
			type: 'number',
			typeOptions: { minValue: 1 },
			default: 604800,
			description: 'In seconds',
		},
		VISIBILITY,
	]),
	collection('Filters', 'filters', on('entry', 'getAll'), [
		{ displayName: 'Level', name: 'level', type: 'options', options: LEVELS, default: 'working' },
		{
			displayName: 'Match',
			name: 'match',
			type: 'options',
			options: [
				{ name: 'All Tags', value: 'all' },
				{ name: 'Any Tag', value: 'any' },
			],
			default: 'any',
		},
		SESSION,
		{ displayName: 'Since', name: 'since', type: 'dateTime', default: '' },
		TAGS,
	]),
	collection('Filters', 'filters', on('entry', 'search'), [
		text('Agent', 'agent', 'Whose entries'),
		text('Since', 'since', 'A day, like 2026-11-24'),
		TAGS,
		text('Under', 'under', 'Pages below this one'),
		text('Until', 'until', 'A day, like 2026-11-24'),
	]),

	required('Handoff ID', 'handoffId', '', on('handoff', 'get', 'claim', 'complete', 'reject', 'cancel')),
	required('From Session ID', 'sessionId', 'CHAT-2025-07-30-002', on('handoff', 'create')),
	{
		displayName: 'To Type',
		name: 'toType',
		type: 'options',
		options: [
			{ name: 'Agent', value: 'agent' },
			{ name: 'Chat', value: 'chat' },
			{ name: 'Function', value: 'function' },
		],
		default: 'agent',
		displayOptions: { show: on('handoff', 'create') },
	},
	{
		...required('To ID', 'toId', '', on('handoff', 'create')),
		description: 'Who is to take over; * is anybody of this type',
	},
	{
		...text('Instructions', 'instructions', 'What is to be done'),
		typeOptions: { rows: 4 },
		displayOptions: { show: on('handoff', 'create') },
	},
	collection('Additional Fields', 'additionalFields', on('handoff', 'create'), [
		{ displayName: 'Context', name: 'context', type: 'json', default: '{}' },
		{ displayName: 'Expiry', name: 'expiry', type: 'dateTime', default: '' },
		{
			displayName: 'Priority',
			name: 'priority',
			type: 'options',
			options: [
				{ name: 'Background', value: 'background' },
				{ name: 'Immediate', value: 'immediate' },
				{ name: 'Normal', value: 'normal' },
			],
			default: 'normal',
		},
	]),
	{
		displayName: 'Lease Seconds',
		name: 'leaseSeconds',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 300,
		description: 'How long the claim holds',
		displayOptions: { show: on('handoff', 'claim') },
	},
	{
		...text('Claim ID', 'claimId', 'What Claim has returned as claim_id'),
		displayOptions: { show: on('handoff', 'complete', 'reject') },
	},
	json('Result', 'result', 'What has come of it', on('handoff', 'complete')),
	{ ...text('Reason', 'reason', ''), displayOptions: { show: on('handoff', 'reject', 'cancel') } },
	collection('Filters', 'filters', on('handoff', 'getAll'), [
		{
			displayName: 'State',
			name: 'state',
			type: 'options',
			options: ['Cancelled', 'Claimed', 'Completed', 'Expired', 'Rejected', 'Requested'].map((name) => ({
				name,
				value: name.toLowerCase(),
			})),
			default: 'requested',
		},
	]),

	required('Agent ID', 'agentId', '', { resource: ['agent'] }),
	json('State', 'state', 'The state, or what changes in it', on('agent', 'update')),
	{
		displayName: 'Mode',
		name: 'mode',
		type: 'options',
		options: [
			{ name: 'Merge', value: 'merge' },
			{ name: 'Replace', value: 'replace' },
		],
		default: 'merge',
		displayOptions: { show: on('agent', 'update') },
	},

	{
		...required('Path', 'path', 'projects/silica', on('page', 'get')),
		default: 'memory',
	},
	{
		...required('Text', 'text', '', on('page', 'create')),
		typeOptions: { rows: 4 },
	},
	collection('Additional Fields', 'additionalFields', on('page', 'create'), [
		{
			displayName: 'Mode',
			name: 'mode',
			type: 'options',
			options: [
				{ name: 'Append', value: 'append' },
				{ name: 'Replace', value: 'replace' },
				{ name: 'Update', value: 'update' },
			],
			default: 'update',
		},
		text('Path', 'path', 'The page, if not where the text belongs'),
	]),

	{
		displayName: 'Return All',
		name: 'returnAll',
		type: 'boolean',
		default: false,
		description: 'Whether to return all results or only up to a given limit',
		displayOptions: { show: { resource: ['entry', 'handoff', 'page'], operation: ['getAll'] } },
	},
	{
		displayName: 'Limit',
		name: 'limit',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 50,
		description: 'Max number of results to return',
		displayOptions: {
			show: { resource: ['entry', 'handoff', 'page'], operation: ['getAll'], returnAll: [false] },
		},
	},
	...[on('entry', 'search'), on('agent', 'getAll')].map((show): INodeProperties => ({
		displayName: 'Limit',
		name: 'limit',
		type: 'number',
		typeOptions: { minValue: 1 },
		default: 50,
		description: 'Max number of results to return',
		displayOptions: { show },
	})),
	collection('Options', 'options', {}, [
		{
			displayName: 'Include ETag',
			name: 'includeEtag',
			type: 'boolean',
			default: false,
			description: 'Whether to add the version to the document, as etag, to replace exactly this version later',
		},
		{
			displayName: 'Retries',
			name: 'retries',
			type: 'number',
			typeOptions: { minValue: 0 },
			default: 4,
			description: 'How often a request is repeated while that may help; a write is done once all the same',
		},
	]),
];

function on(resource: string, ...operations: string[]): Shown {
	return { resource: [resource], operation: operations };
}

function text(displayName: string, name: string, description: string): INodeProperties {
	return { displayName, name, type: 'string', default: '', description };
}

function required(displayName: string, name: string, placeholder: string, show: Shown): INodeProperties {
	const hint = placeholder ? { placeholder: `e.g. ${placeholder}` } : {};
	return { displayName, name, type: 'string', required: true, default: '', ...hint, displayOptions: { show } };
}

function json(displayName: string, name: string, description: string, show: Shown): INodeProperties {
	return { displayName, name, type: 'json', default: '{}', description, displayOptions: { show } };
}

function collection(displayName: string, name: string, show: Shown, options: INodeProperties[]): INodeProperties {
	const placeholder = displayName === 'Filters' ? 'Add Filter' : displayName === 'Options' ? 'Add Option' : 'Add Field';
	return { displayName, name, type: 'collection', placeholder, default: {}, displayOptions: { show }, options };
}
