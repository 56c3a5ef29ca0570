// A stdio server in the TypeScript SDK v2 (@modelcontextprotocol/server), for the legacy revisions and for 2026-07-28.
import { McpServer, inputRequired, inputResponse } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { ask, start, text_result, tools } from './tools.mjs';

function progress_of({ _meta, notify }) {
    const progressToken = _meta?.progressToken;
    if (progressToken === undefined) return async () => {};
    return async (progress, total) =>
        await notify({ method: 'notifications/progress', params: { progressToken, progress, total } });
}

function create_server() {
    const server = new McpServer({ name: 'andon-peer-typescript-v2', version: '1.0.0' });

    for (const [name, { description, input, run }] of Object.entries(tools)) {
        server.registerTool(name, { description, inputSchema: z.object(input) }, async (args, { mcpReq }) =>
            text_result(await run(args, { signal: mcpReq.signal, progress: progress_of(mcpReq) }))
        );
    }

    // Under 2026-07-28 the client answers by calling again; under a legacy revision the SDK sends the request itself
    // and then calls this handler again.
    server.registerTool(
        'ask',
        { description: ask.description, inputSchema: z.object(ask.input) },
        async ({ key }, { mcpReq }) => {
            const answer = inputResponse(mcpReq.inputResponses, 'colour');
            if (answer.kind === 'sampling') return text_result(answer.result.content.text);
            start(key, mcpReq.signal);
            return inputRequired({ inputRequests: { colour: inputRequired.createMessage(ask.sampling) } });
        }
    );
    return server;
}

serveStdio(create_server);
