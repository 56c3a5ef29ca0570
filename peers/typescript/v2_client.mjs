// Clients in the TypeScript SDK v2 (@modelcontextprotocol/client).
import { Client } from '@modelcontextprotocol/client';

export { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
export { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

// sample(params, signal), elicit(params, signal) and roots(signal) answer what the server asks. The other options are the
// SDK's: without any the client speaks the legacy revisions, versionNegotiation lets it find out what the server speaks
// or pins a revision.
export function create_client({ sample, elicit, roots, ...options } = {}) {
    const answers = { ...(sample && { sampling: {} }), ...(elicit && { elicitation: {} }), ...(roots && { roots: {} }) };
    const client = new Client({ name: 'andon-peer-typescript-v2', version: '1.0.0' }, { capabilities: answers, ...options });
    if (sample) client.setRequestHandler('sampling/createMessage', ({ params }, { mcpReq }) => sample(params, mcpReq.signal));
    if (elicit) client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => elicit(params, mcpReq.signal));
    if (roots) client.setRequestHandler('roots/list', (_, { mcpReq }) => roots(mcpReq.signal));
    return client;
}

export function call_tool(client, name, args, options) {
    return client.callTool({ name, arguments: args }, options);
}
