import type {
	ICredentialDataDecryptedObject,
	ICredentialTestRequest,
	ICredentialType,
	Icon,
	IHttpRequestOptions,
	INodeProperties,
} from 'n8n-workflow';

export class DistributedMemoryApi implements ICredentialType {
	name = 'distributedMemoryApi';

	displayName = 'Distributed Memory API';

	icon: Icon = { light: 'file:../icons/memory.svg', dark: 'file:../icons/memory.dark.svg' };

	documentationUrl = 'https://github.com/OWNER/silica-memory/tree/main/clients/n8n#credentials';

	properties: INodeProperties[] = [
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			default: 'http://127.0.0.1:8080',
			required: true,
			description: 'The address that silica serve prints',
		},
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description: 'A key that silica serve keys makes',
		},
		{
			displayName: 'Source',
			name: 'source',
			type: 'string',
			default: '',
			description: 'The agent for whom the key speaks, if it speaks for several',
		},
	];

	/** A function, and no expression: n8n cannot evaluate those any more when a trigger connects again. */
	async authenticate(
		{ apiKey, source }: ICredentialDataDecryptedObject,
		options: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		const speaksFor = source ? { 'X-Memory-Source': source } : {};
		return { ...options, headers: { ...options.headers, Authorization: `Bearer ${String(apiKey)}`, ...speaksFor } };
	}

	test: ICredentialTestRequest = {
		request: {
			baseURL: '={{$credentials.baseUrl}}',
			url: '/api/v1/memory/query',
			qs: { limit: 1 },
		},
	};
}
