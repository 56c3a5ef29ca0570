// A stdio server in the TypeScript SDK v1 (@modelcontextprotocol/sdk).
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { ask, start, text_result, tools } from './tools.mjs';

const server = new McpServer({ name: 'andon-peer-typescript-v1', version: '1.0.0' });

function progress_of(extra) {
    const progressToken = extra._meta?.progressToken;
    if (progressToken === undefined) return async () => {};
    return async (progress, total) =>
        await extra.sendNotification({
            method: 'notifications/progress',
            params: { progressToken, progress, total }
        });
}

for (const [name, { description, input, run }] of Object.entries(tools)) {
    server.registerTool(name, { description, inputSchema: input }, async (args, extra) =>
        text_result(await run(args, { signal: extra.signal, progress: progress_of(extra) }))
    );
}

server.registerTool('ask', { description: ask.description, inputSchema: ask.input }, async ({ key }, { signal }) => {
    start(key, signal);
    const { content } = await server.server.createMessage(ask.sampling, { signal });
    return text_result(content.text);
});

await server.connect(new StdioServerTransport());
