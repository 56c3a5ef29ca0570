// Clients in the TypeScript SDK v2 (@modelcontextprotocol/client).
import { Client } from '@modelcontextprotocol/client';

export { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

// sample(params, signal) answers the sampling requests of the server. The other options are the SDK's: without any the
// client speaks the legacy revisions, versionNegotiation lets it find out what the server speaks or pins a revision.
export function create_client({ sample, ...options } = {}) {
    const client = new Client(
        { name: 'andon-peer-typescript-v2', version: '1.0.0' },
        { capabilities: sample ? { sampling: {} } : {}, ...options }
    );
    if (sample) client.setRequestHandler('sampling/createMessage', ({ params }, { mcpReq }) => sample(params, mcpReq.signal));
    return client;
}

export function call_tool(client, name, args, options) {
    return client.callTool({ name, arguments: args }, options);
}
