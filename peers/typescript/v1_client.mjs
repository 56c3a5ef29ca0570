// Clients in the TypeScript SDK v1 (@modelcontextprotocol/sdk).
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { CreateMessageRequestSchema } from '@modelcontextprotocol/sdk/types.js';

export { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

// sample(params, signal) answers the sampling requests of the server.
export function create_client({ sample } = {}) {
    const client = new Client(
        { name: 'andon-peer-typescript-v1', version: '1.0.0' },
        { capabilities: sample ? { sampling: {} } : {} }
    );
    if (sample) client.setRequestHandler(CreateMessageRequestSchema, ({ params }, { signal }) => sample(params, signal));
    return client;
}

export function call_tool(client, name, args, options) {
    return client.callTool({ name, arguments: args }, undefined, options);
}
