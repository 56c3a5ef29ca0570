// What the servers of both SDKs share over Streamable HTTP: the arguments `--http PORT [TOOL...]`, and listening.
import { createServer } from 'node:http';

const at = process.argv.indexOf('--http');

// The port, 0 for any that is free; undefined when the server is wanted on stdio.
export const port = at < 0 ? undefined : Number(process.argv[at + 1]);

// The tools to offer, all of them when none is named. A stateless server is made anew for every request, and each tool
// that it offers costs it time and memory.
const named = at < 0 ? [] : process.argv.slice(at + 2);
export const wanted = name => named.length === 0 || named.includes(name);

// Serves /mcp on plain node:http, which costs less than the frameworks that the examples of the SDKs use.
export function listen(handle) {
    const server = createServer((request, response) => {
        if (request.url === '/mcp') return handle(request, response);
        response.writeHead(404).end();
    });
    server.listen(port, '127.0.0.1', () => {
        process.stderr.write(`listening on http://127.0.0.1:${server.address().port}/mcp\n`);
    });
}
