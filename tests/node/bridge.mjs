// Controls an official TypeScript client by lines of JSON. So a test in Python can run with every
// client.
//
//   node bridge.mjs '{"sdk": "v2", "mode": "auto", "command": ["assay", "serve"]}'
//
// An HTTP server is given by "url" and "token" or "oauth" (oauth.mjs) instead of "command". The
// first line of output is {"connected": {...}}. Each line of input is {"id", "method", "params"} with
// a method of the SDK's client class, or tokenScopes, which returns the scope of each token that the
// client got by OAuth. The answer is {"id", "result"} or {"id", "error"}; lines {"id", "progress"}
// can come before it. The input {"abort": id} aborts a call. ASSAY_NODE_DIR is the folder of the npm
// packages.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { Login } from './oauth.mjs';

const require = createRequire(process.env.ASSAY_NODE_DIR + '/');
const CALL_TIMEOUT_MS = 60_000; // default of the SDKs
const setup = JSON.parse(process.argv[2]);
const write = (message) => process.stdout.write(JSON.stringify(message) + '\n');

let login = null; // the OAuth provider of the client
const transportOf = (sdk) => {
    const { StdioClientTransport, StreamableHTTPClientTransport } = sdk;
    if (!setup.url) return new StdioClientTransport({ command: setup.command[0], args: setup.command.slice(1), env: process.env, stderr: 'inherit' });
    if (setup.oauth) {
        login ??= new Login(setup.oauth, sdk);
        return new StreamableHTTPClientTransport(new URL(setup.url), { authProvider: login.provider });
    }
    const headers = setup.token ? { Authorization: `Bearer ${setup.token}` } : {};
    return new StreamableHTTPClientTransport(new URL(setup.url), { requestInit: { headers } });
};

const info = { name: 'assay-client-tests', version: '1' };
const sdks = {
    v1: () => {
        const { Client } = require('@modelcontextprotocol/sdk/client/index.js');
        const newTransport = () => transportOf({
            ...require('@modelcontextprotocol/sdk/client/stdio.js'),
            ...require('@modelcontextprotocol/sdk/client/streamableHttp.js'),
            ...require('@modelcontextprotocol/sdk/client/auth-extensions.js'),
        });
        // In this SDK, callTool has a parameter for a result schema before its options.
        return { client: new Client(info), newTransport, call: (client, params, options) => client.callTool(params, undefined, options) };
    },
    v2: () => {
        const sdk = require('@modelcontextprotocol/client');
        const { StdioClientTransport } = require('@modelcontextprotocol/client/stdio');
        const client = new sdk.Client(info, { versionNegotiation: { mode: setup.mode === 'modern' ? { pin: '2026-07-28' } : setup.mode } });
        const newTransport = () => transportOf({ ...sdk, StdioClientTransport });
        return { client, newTransport, call: (connected, params, options) => connected.callTool(params, options) };
    },
};

const { client, newTransport, call } = sdks[setup.sdk]();
let transport;
const attempt = (work) => (login ? login.with(() => transport, work) : work());
if (setup.oauth) newTransport(); // makes `login`
await attempt(() => client.connect((transport = newTransport())));
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
        const work = () => (method === 'callTool' ? call(client, params, options) : client[method](params, { timeout: CALL_TIMEOUT_MS }));
        const result = method === 'tokenScopes' ? { scopes: login.scopes } : await attempt(work);
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
