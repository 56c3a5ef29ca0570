// A server in the TypeScript SDK v2 (@modelcontextprotocol/server), for the legacy revisions and for 2026-07-28: on stdio,
// or with `--http PORT [TOOL...]` over Streamable HTTP, stateless for every revision.
import { McpServer, inputRequired, inputResponse } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import * as http from './http.mjs';
import { ask, start, text_result, tools } from './tools.mjs';

// Made once: over HTTP every request has a server of its own.
const offered = Object.entries(tools)
    .filter(([name]) => http.wanted(name))
    .map(([name, { description, input, run }]) => ({ name, run, config: { description, inputSchema: z.object(input) } }));
const ask_config = { description: ask.description, inputSchema: z.object(ask.input) };

function progress_of({ _meta, notify }) {
    const progressToken = _meta?.progressToken;
    if (progressToken === undefined) return async () => {};
    return async (progress, total) =>
        await notify({ method: 'notifications/progress', params: { progressToken, progress, total } });
}

function create_server() {
    const server = new McpServer({ name: 'andon-peer-typescript-v2', version: '1.0.0' });

    for (const { name, run, config } of offered) {
        server.registerTool(name, config, async (args, { mcpReq }) =>
            text_result(await run(args, { signal: mcpReq.signal, progress: progress_of(mcpReq) }))
        );
    }

    // Under 2026-07-28 the client answers by calling again; under a legacy revision the SDK sends the request itself
    // and then calls this handler again.
    if (http.wanted('ask')) {
        server.registerTool('ask', ask_config, async ({ key }, { mcpReq }) => {
            const answer = inputResponse(mcpReq.inputResponses, 'colour');
            if (answer.kind === 'sampling') return text_result(answer.result.content.text);
            start(key, mcpReq.signal);
            return inputRequired({ inputRequests: { colour: inputRequired.createMessage(ask.sampling) } });
        });
    }
    return server;
}

// The SDK's default answers with JSON, and opens a stream when a handler has something to say before its result.
async function serve_http() {
    const { createMcpHandler } = await import('@modelcontextprotocol/server');
    const { localhostHostValidation, localhostOriginValidation, toNodeHandler } = await import('@modelcontextprotocol/node');
    const handle = toNodeHandler(createMcpHandler(create_server));
    const host_is_ours = localhostHostValidation();
    const origin_is_ours = localhostOriginValidation();
    http.listen((request, response) => {
        if (host_is_ours(request, response) && origin_is_ours(request, response)) return handle(request, response);
    });
}

if (http.port === undefined) serveStdio(create_server);
else await serve_http();
