// Talks to a running server: reads its data with the visitor's token, and follows its state. Only
// the page that a server sends has the element `assay-live`.

export type LiveJob = {
  job: string;
  run: string;
  operator: string;
  kind: string;
  device: string;
  state: string;
  position: number;
  stage?: string;
  cases_done?: number;
  cases_total?: number;
};

export type LiveRun = {
  run: string;
  agent: string;
  model: string;
  track: string;
  operators: number;
  submitted: number;
  passed: number;
  calls: number;
  created_unix_ms: number;
  expires_unix_ms: number;
  last_unix_ms: number;
  busy: boolean;
};

export type LiveState = {
  format: string;
  principal: string;
  revision: string;
  devices: { name: string; description: string; queued: number; running: number }[];
  jobs: LiveJob[];
  runs: LiveRun[];
};

/// The server wants a token, or refuses the one that it got.
export class TokenNeeded extends Error {}
/// The server no longer has the snapshot that a view wants to read.
export class SnapshotGone extends Error {}

/// The event of the window that says that a view could not read its snapshot.
export const STALE = 'assay-stale';

const KEY = 'assay-token';
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

const base = document.querySelector('meta[name="assay-live"]')?.getAttribute('content') ?? null;
export const isLive = (): boolean => base !== null;

export const token = (): string => sessionStorage.getItem(KEY) ?? '';

/// Keeps the token until the tab is closed. An empty token is forgotten.
export function setToken(value: string): void {
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
}

async function get(path: string, signal?: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = token() ? { Authorization: `Bearer ${token()}` } : {};
  const answer = await fetch(`${base}${path}`, {
    headers,
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
    signal: signal ?? null,
  });
  if (answer.ok) return answer;
  const text = await answer.text();
  let message = `${answer.status} ${answer.statusText}`;
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } };
    if (error && typeof error.message === 'string') message = error.message;
  } catch {
    // A proxy answers with a page instead of JSON. Then the status is the message.
  }
  if (answer.status === 401 || answer.status === 403) throw new TokenNeeded(message);
  if (answer.status === 404) throw new SnapshotGone(message);
  throw new Error(message);
}

export const readJson = async (path: string): Promise<unknown> => (await get(path)).json();

/// Splits a stream of server-sent events into the texts of its events.
export class EventReader {
  private rest = '';
  private lines: string[] = [];

  /// Returns the events that are complete with this text.
  take(text: string): string[] {
    const events: string[] = [];
    const all = (this.rest + text).split('\n');
    this.rest = all.pop() ?? '';
    for (const line of all) {
      if (line.startsWith('data:')) {
        this.lines.push(line.slice(5).trimStart());
      } else if (line.trim() === '' && this.lines.length > 0) {
        events.push(this.lines.join('\n'));
        this.lines = [];
      }
    }
    return events;
  }
}

/// Calls `changed` with each new state, and `connected` when the stream begins or breaks. After a
/// break, connects again. Ends if the server refuses the token, and then calls `refused`.
export async function follow(
  changed: (state: LiveState) => void,
  connected: (isOpen: boolean) => void,
  refused: (why: TokenNeeded) => void,
): Promise<void> {
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
    try {
      const answer = await get('events');
      const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
      const events = new EventReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        for (const event of events.take(part.value)) {
          const state = JSON.parse(event) as LiveState;
          if (state.format !== 'assay.live/1') throw new Error(`unknown format ${state.format}`);
          connected(true);
          changed(state);
          wait = FIRST_WAIT_MS;
        }
      }
    } catch (problem) {
      if (problem instanceof TokenNeeded) {
        refused(problem);
        return;
      }
    }
    connected(false);
    await new Promise((done) => setTimeout(done, wait));
  }
}
