// The address of a view is the hash of the page: "#/operators?suite=0&track=one_shot". The path
// names the view, and the query its settings.

export type Route = { path: string[]; query: URLSearchParams };

export function routeOf(hash: string): Route {
  const text = hash.replace(/^#\/?/, '');
  const [path = '', query = ''] = text.split('?', 2);
  const words = path
    .split('/')
    .filter(Boolean)
    .map((word) => {
      try {
        return decodeURIComponent(word);
      } catch {
        return word;
      }
    });
  return { path: words, query: new URLSearchParams(query) };
}

export function hashOf(path: string[], query: URLSearchParams | Record<string, string> = {}) {
  const words = new URLSearchParams(query).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${words ? `?${words}` : ''}`;
}

/// Returns the address of the same view with other settings. An empty value removes a setting.
export function withQuery(route: Route, changes: Record<string, string>): string {
  const query = new URLSearchParams(route.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  return hashOf(route.path, query);
}
