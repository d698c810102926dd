// An identity provider for the tests: the package oidc-provider on localhost, with its keys in
// memory. Its pages for login and consent answer themselves, so that a test needs no browser.
//
//   node identity_provider.mjs '{"resource": "http://127.0.0.1:8080/mcp", "algorithm": "ES256"}'
//
// With "opaque": true, its access tokens are opaque instead of signed. The client resource-server may
// ask about them (RFC 7662).
//
// The first line of output is {"issuer": URL}. The input {"rotate": true} replaces the signing key,
// and the answer is {"rotated": true}. The end of the input ends the program. ASSAY_NODE_DIR is the
// folder of the npm packages.
import { createServer } from 'node:http';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { default: Provider } = await import(
    pathToFileURL(process.env.ASSAY_NODE_DIR + '/node_modules/oidc-provider/lib/index.js')
);
const setup = JSON.parse(process.argv[2]);
console.info = console.warn = console.error; // only answers go to stdout
const write = (message) => process.stdout.write(JSON.stringify(message) + '\n');

const PAIRS = {
    RS256: ['rsa', { modulusLength: 2048 }],
    PS256: ['rsa', { modulusLength: 2048 }],
    ES256: ['ec', { namedCurve: 'P-256' }],
    EdDSA: ['ed25519', {}],
};
const newKey = () => ({
    ...generateKeyPairSync(...PAIRS[setup.algorithm]).privateKey.export({ format: 'jwk' }),
    kid: randomUUID(),
    use: 'sig',
    alg: setup.algorithm,
});

let handle;
const server = createServer((request, response) => handle(request, response));
await new Promise((listening) => server.listen(setup.port ?? 0, '127.0.0.1', listening));
const issuer = `http://127.0.0.1:${server.address().port}`;

const start = (keys) => {
    const provider = new Provider(issuer, {
        jwks: { keys },
        clients: [
            {
                client_id: 'machine',
                client_secret: 'secret of the machine',
                grant_types: ['client_credentials'],
                redirect_uris: [],
                response_types: [],
                token_endpoint_auth_method: 'client_secret_basic',
            },
            {
                client_id: 'resource-server',
                client_secret: 'secret: of the server',
                grant_types: [],
                redirect_uris: [],
                response_types: [],
                token_endpoint_auth_method: 'client_secret_basic',
            },
            {
                client_id: 'person',
                application_type: 'native',
                redirect_uris: ['http://127.0.0.1:1/callback'],
                token_endpoint_auth_method: 'none',
            },
        ],
        clientDefaults: { id_token_signed_response_alg: setup.algorithm },
        enabledJWA: {
            idTokenSigningAlgValues: [setup.algorithm],
            userinfoSigningAlgValues: [setup.algorithm],
            authorizationSigningAlgValues: [setup.algorithm],
            introspectionSigningAlgValues: [setup.algorithm],
        },
        scopes: ['practice', 'score', 'offline_access'],
        pkce: { required: () => true },
        cookies: { keys: [randomUUID()] },
        interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
        findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
        features: {
            devInteractions: { enabled: false },
            clientCredentials: { enabled: true },
            registration: { enabled: true },
            introspection: {
                enabled: true,
                allowedPolicy: (_, client) => client.clientId === 'resource-server',
            },
            revocation: { enabled: true },
            resourceIndicators: {
                enabled: true,
                useGrantedResource: () => true,
                getResourceServerInfo: (_, resource) => ({
                    scope: 'practice score',
                    audience: resource,
                    accessTokenTTL: setup.lifetime_s ?? 300,
                    ...(setup.opaque
                        ? { accessTokenFormat: 'opaque' }
                        : { accessTokenFormat: 'jwt', jwt: { sign: { alg: setup.algorithm } } }),
                }),
            },
        },
    });
    const callback = provider.callback();
    // The user "alice" logs in and consents to everything.
    const answerForUser = async (request, response) => {
        const { prompt, params, session, grantId } = await provider.interactionDetails(request, response);
        if (prompt.name === 'login')
            return provider.interactionFinished(request, response, { login: { accountId: 'alice' } });
        const grant = grantId
            ? await provider.Grant.find(grantId)
            : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
        if (prompt.details.missingOIDCScope) grant.addOIDCScope(prompt.details.missingOIDCScope.join(' '));
        for (const [resource, scopes] of Object.entries(prompt.details.missingResourceScopes ?? {}))
            grant.addResourceScope(resource, scopes.join(' '));
        const result = { consent: { grantId: await grant.save() } };
        return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true });
    };
    handle = (request, response) =>
        request.url.startsWith('/interaction/')
            ? answerForUser(request, response).catch((error) => {
                  response.statusCode = 500;
                  response.end(String(error.stack));
              })
            : callback(request, response);
};

start([newKey()]);
write({ issuer });
for await (const line of createInterface({ input: process.stdin })) {
    if (JSON.parse(line).rotate) {
        start([newKey()]);
        write({ rotated: true });
    }
}
process.exit(0);
