// Serves the tool of contenders.py with the official TypeScript SDK. The tool returns Assay's
// answer, which the server keeps in memory.
//
//   node typescript.mjs stdio ANSWER_FILE        node typescript.mjs http ANSWER_FILE PORT
//
// ASSAY_NODE_DIR is the folder of the npm packages. HTTP is served without streams, as in the SDK's
// own documentation.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';

const require = createRequire(process.env.ASSAY_NODE_DIR + '/');
const { McpServer, createMcpHandler } = require('@modelcontextprotocol/server');
const { serveStdio } = require('@modelcontextprotocol/server/stdio');
const { toNodeHandler } = require('@modelcontextprotocol/node');
const { z } = require('zod');

const [transport, answerFile, port] = process.argv.slice(2);
const answer = JSON.parse(readFileSync(answerFile));
const inputSchema = z.object({ query: z.string().optional() });

const makeServer = () => {
    const server = new McpServer({ name: 'typescript-sdk', version: '1.0.0' });
    server.registerTool('list_operators', { description: 'List the operators', inputSchema }, () => answer);
    return server;
};

if (transport === 'stdio') {
    serveStdio(makeServer);
} else {
    const handler = toNodeHandler(createMcpHandler(makeServer, { responseMode: 'json' }));
    createServer(handler).listen(Number(port), '127.0.0.1');
}
