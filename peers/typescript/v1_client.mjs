// Clients in the TypeScript SDK v1 (@modelcontextprotocol/sdk).
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

export { InMemoryTaskStore } from '@modelcontextprotocol/sdk/experimental/tasks';
export { CallToolResultSchema, TaskStatusNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
export { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
export { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

// sample(params, signal, extra), elicit(params, signal) and roots(signal) answer what the server asks. The other options
// are the SDK's.
export function create_client({ sample, elicit, roots, capabilities, ...options } = {}) {
    const answers = { ...(sample && { sampling: {} }), ...(elicit && { elicitation: {} }), ...(roots && { roots: {} }) };
    const client = new Client(
        { name: 'andon-peer-typescript-v1', version: '1.0.0' },
        { ...options, capabilities: { ...answers, ...capabilities } }
    );
    if (sample) client.setRequestHandler(CreateMessageRequestSchema, ({ params }, extra) => sample(params, extra.signal, extra));
    if (elicit) client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) => elicit(params, signal));
    if (roots) client.setRequestHandler(ListRootsRequestSchema, (_, { signal }) => roots(signal));
    return client;
}

export function call_tool(client, name, args, options) {
    return client.callTool({ name, arguments: args }, undefined, options);
}
