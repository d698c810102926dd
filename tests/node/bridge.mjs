// Controls an official TypeScript client by lines of JSON. So a test in Python can run with every
// client.
//
//   node bridge.mjs '{"sdk": "v2", "mode": "auto", "command": ["assay", "serve"]}'
//
// An HTTP server is given by "url" and "token" instead of "command". The first line of output is
// {"connected": {...}}. Each line of input is {"id", "method", "params"} with a method of the SDK's
// client class. The answer is {"id", "result"} or {"id", "error"}; lines {"id", "progress"} can come
// before it. The input {"abort": id} aborts a call. ASSAY_NODE_DIR is the folder of the npm packages.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const require = createRequire(process.env.ASSAY_NODE_DIR + '/');
const CALL_TIMEOUT_MS = 60_000; // default of the SDKs
const setup = JSON.parse(process.argv[2]);
const write = (message) => process.stdout.write(JSON.stringify(message) + '\n');

const transportOf = ({ StdioClientTransport, StreamableHTTPClientTransport }) => {
    if (!setup.url) return new StdioClientTransport({ command: setup.command[0], args: setup.command.slice(1), env: process.env, stderr: 'inherit' });
    const headers = setup.token ? { Authorization: `Bearer ${setup.token}` } : {};
    return new StreamableHTTPClientTransport(new URL(setup.url), { requestInit: { headers } });
};

const info = { name: 'assay-client-tests', version: '1' };
const sdks = {
    v1: () => {
        const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
        const transport = transportOf({
            ...require('@modelcontextprotocol/sdk/client/stdio.js'),
            ...require('@modelcontextprotocol/sdk/client/streamableHttp.js'),
        });
        // In this SDK, callTool has a parameter for a result schema before its options.
        return { client: new Client(info), transport, call: (client, params, options) => client.callTool(params, undefined, options) };
    },
    v2: () => {
        const { Client, StreamableHTTPClientTransport } = require('@modelcontextprotocol/client');
        const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');
        const client = new Client(info, { versionNegotiation: { mode: setup.mode === 'modern' ? { pin: '2026-07-28' } : setup.mode } });
        const transport = transportOf({ StdioClientTransport, StreamableHTTPClientTransport });
        return { client, transport, call: (connected, params, options) => connected.callTool(params, options) };
    },
};

const { client, transport, call } = sdks[setup.sdk]();
await client.connect(transport);
write({
    connected: {
        server: client.getServerVersion(),
        version: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? null,
        capabilities: client.getServerCapabilities(),
        instructions: client.getInstructions() ?? '',
    },
});

const running = new Map();
const answer = async ({ id, method, params }) => {
    const controller = new AbortController();
    running.set(id, controller);
    const options = { timeout: CALL_TIMEOUT_MS, signal: controller.signal, onprogress: (progress) => write({ id, progress }) };
    try {
        const result = method === 'callTool' ? await call(client, params, options) : await client[method](params, { timeout: CALL_TIMEOUT_MS });
        write({ id, result });
    } catch (error) {
        write({ id, error: { code: error.code ?? null, message: String(error.message ?? error) } });
    } finally {
        running.delete(id);
    }
};

for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line);
    if (message.abort) running.get(message.abort)?.abort(new Error('aborted by the test'));
    else void answer(message);
}
await client.close();
process.exit(0);
