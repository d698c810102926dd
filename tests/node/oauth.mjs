// Gives the official TypeScript clients an OAuth provider for the tests, without a browser.
//
//   const login = new Login({ flow: 'person', issuer }, sdk);   // sdk: the exports of the SDK
//   const transport = new StreamableHTTPClientTransport(url, { authProvider: login.provider });
//
// The flow "machine" is the SDK's own provider for client credentials. The flow "person" follows the
// redirects of the authorization code flow with PKCE as a browser does. The flow "newcomer" also
// registers the client before.
const REDIRECT = 'http://127.0.0.1:1/callback'; // nothing listens there: the code is in the URL
const MAX_REDIRECTS = 20;

/** Follows redirects with cookies until the client's own redirect URL. Returns its parameters. */
const answerOf = async (authorization) => {
    const cookies = new Map();
    let url = authorization;
    for (let count = 0; count < MAX_REDIRECTS; ++count) {
        const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const response = await fetch(url, { redirect: 'manual', headers: cookie ? { cookie } : {} });
        for (const line of response.headers.getSetCookie()) {
            const [name, value] = line.split(';')[0].split('=', 2);
            if (value) cookies.set(name, value);
            else cookies.delete(name);
        }
        const location = response.headers.get('location');
        if (!location) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
        url = new URL(location, url);
        if (url.href.startsWith(REDIRECT)) return url.searchParams;
    }
    throw new Error('too many redirects');
};

export class Login {
    answer = null; // the parameters of the redirect back to the client
    scopes = []; // the scope of each token that the client got

    constructor({ flow, issuer, clientId, clientSecret, scope }, sdk) {
        if (flow === 'machine') {
            this.provider = new sdk.ClientCredentialsProvider({ clientId, clientSecret, scope, expectedIssuer: issuer });
            const save = this.provider.saveTokens.bind(this.provider);
            this.provider.saveTokens = (tokens, ...more) => {
                this.scopes.push(tokens.scope ?? '');
                return save(tokens, ...more);
            };
            return;
        }
        let client = flow === 'person' ? { client_id: 'person' } : undefined;
        let tokens, verifier;
        this.provider = {
            redirectUrl: REDIRECT,
            clientMetadata: {
                client_name: 'assay-client-tests',
                redirect_uris: [REDIRECT],
                grant_types: ['authorization_code'],
                response_types: ['code'],
                token_endpoint_auth_method: 'none',
                application_type: 'native',
            },
            clientInformation: () => client,
            saveClientInformation: (information) => (client = information),
            tokens: () => tokens,
            saveTokens: (given) => {
                this.scopes.push(given.scope ?? '');
                tokens = given;
            },
            redirectToAuthorization: async (url) => {
                this.answer = await answerOf(url);
            },
            saveCodeVerifier: (text) => (verifier = text),
            codeVerifier: () => verifier,
        };
    }

    /** Calls `attempt`. If the SDK wants a login of the user, finishes the login and calls again. */
    async with(transportOf, attempt) {
        try {
            return await attempt();
        } catch (error) {
            if (!this.answer) throw error;
            const [code, iss] = [this.answer.get('code'), this.answer.get('iss')];
            this.answer = null;
            await transportOf().finishAuth(code, iss);
            return attempt();
        }
    }
}
