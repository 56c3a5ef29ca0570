// Clients in the TypeScript SDK v1 (@modelcontextprotocol/sdk).
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

export { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
export { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

// sample(params, signal) and elicit(params, signal) answer what the server asks.
export function create_client({ sample, elicit } = {}) {
    const client = new Client(
        { name: 'andon-peer-typescript-v1', version: '1.0.0' },
        { capabilities: { ...(sample && { sampling: {} }), ...(elicit && { elicitation: {} }) } }
    );
    if (sample) client.setRequestHandler(CreateMessageRequestSchema, ({ params }, { signal }) => sample(params, signal));
    if (elicit) client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) => elicit(params, signal));
    return client;
}

export function call_tool(client, name, args, options) {
    return client.callTool({ name, arguments: args }, undefined, options);
}
