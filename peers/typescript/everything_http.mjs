// @modelcontextprotocol/server-everything over Streamable HTTP, on a port that is free. By itself it can only be told a
// port, and says that one again.
import http from 'node:http';

const { listen } = http.Server.prototype;
http.Server.prototype.listen = function (_, listening) {
    return listen.call(this, 0, '127.0.0.1', () => {
        process.stderr.write(`listening on http://127.0.0.1:${this.address().port}/mcp\n`);
        listening();
    });
};
await import('@modelcontextprotocol/server-everything/dist/transports/streamableHttp.js');
