// Clients in the TypeScript SDK v2 (@modelcontextprotocol/client).
import { Client } from '@modelcontextprotocol/client';

export { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
export { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

// sample(params, signal) and elicit(params, signal) answer what the server asks. The other options are the SDK's: without
// any the client speaks the legacy revisions, versionNegotiation lets it find out what the server speaks or pins a
// revision.
export function create_client({ sample, elicit, ...options } = {}) {
    const client = new Client(
        { name: 'andon-peer-typescript-v2', version: '1.0.0' },
        { capabilities: { ...(sample && { sampling: {} }), ...(elicit && { elicitation: {} }) }, ...options }
    );
    if (sample) client.setRequestHandler('sampling/createMessage', ({ params }, { mcpReq }) => sample(params, mcpReq.signal));
    if (elicit) client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => elicit(params, mcpReq.signal));
    return client;
}

export function call_tool(client, name, args, options) {
    return client.callTool({ name, arguments: args }, options);
}
