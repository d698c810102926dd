// Starts the page of a running server: asks for a token if the server wants one, follows the
// server's state, and loads the data again when the store has changed.
import { loadIndex } from './data';
import { h } from './dom';
import { follow, setToken, STALE, token, TokenNeeded, type LiveState } from './live';
import { routeOf } from './route';
import type { Index } from './types';
import { setState } from './views/live';

/// The views that need no run.
export const WITHOUT_RUNS = new Set(['live', 'run', 'dataset', 'workflows', 'method', 'cite']);
// The views that show new data by themselves. The others show a button instead, because a visitor
// may be reading or typing there.
const AUTOMATIC = new Set(['live', 'run', 'runs', 'leaderboard', '']);
const REST_MS = 2_000; // between two reads of the data

type Build = (index: Index, bar: HTMLElement) => Promise<(next: Index) => void>;

/// Asks for a token, and returns when the visitor has entered one.
function askToken(why: string): Promise<void> {
  return new Promise((done) => {
    const input = h('input', { type: 'password', id: 'token', autocomplete: 'off', required: true });
    const form = h(
      'form',
      {
        class: 'filters',
        submit: (event) => {
          event.preventDefault();
          setToken((input as HTMLInputElement).value.trim());
          done();
        },
      },
      h('label', { for: 'token' }, 'Token: '),
      input,
      h('button', { type: 'submit' }, 'Show'),
    );
    const asked = h(
      'main',
      {},
      h('h1', {}, 'Assay, live'),
      h('p', {}, 'This server shows the runs of a token. The token stays in this tab.'),
      why ? h('p', { class: 'note', role: 'alert' }, why) : null,
      form,
    );
    document.getElementById('site')!.replaceChildren(asked);
    document.title = 'Assay, live';
    document.documentElement.setAttribute('data-ready', 'true');
    input.focus();
  });
}

async function indexWithToken(): Promise<Index> {
  while (true) {
    try {
      return await loadIndex();
    } catch (problem) {
      if (!(problem instanceof TokenNeeded)) throw problem;
      await askToken(token() ? problem.message : '');
    }
  }
}

/// The line below the title: whether the page is connected, and a button to update or to leave.
class Bar {
  private readonly status = h('span', { role: 'status' }, 'Connecting to the server.');
  private readonly update: HTMLElement;
  readonly element: HTMLElement;

  constructor(update: () => void) {
    this.update = h('button', { type: 'button', hidden: true, click: update }, 'Show new results');
    const leave = h(
      'button',
      {
        type: 'button',
        click: () => {
          setToken('');
          location.reload();
        },
      },
      'Forget the token',
    );
    this.element = h('div', { class: 'bar' }, this.status, this.update, token() ? leave : null);
  }

  say(text: string): void {
    if (this.status.textContent !== text) this.status.textContent = text;
  }

  offer(isNew: boolean): void {
    this.update.toggleAttribute('hidden', !isNew);
  }
}

export async function startLive(build: Build): Promise<void> {
  let index = await indexWithToken();
  let newest: LiveState | null = null;
  let isReading = false;

  const read = async (): Promise<void> => {
    if (isReading || !newest) return;
    isReading = true;
    try {
      index = await loadIndex();
      bar.offer(false);
      showAgain(index);
    } catch (problem) {
      if (problem instanceof TokenNeeded) location.reload();
      else bar.say(problem instanceof Error ? problem.message : String(problem));
    }
    setTimeout(() => {
      isReading = false;
      notice();
    }, REST_MS);
  };
  const notice = (): void => {
    if (!newest || newest.revision === index.live!.revision) return;
    if (AUTOMATIC.has(routeOf(location.hash).path[0] ?? '')) void read();
    else bar.offer(true);
  };

  const bar = new Bar(() => void read());
  const showAgain = await build(index, bar.element);
  addEventListener('hashchange', notice);
  // A view can need a part of a snapshot that the server no longer keeps.
  addEventListener(STALE, () => void read());
  await follow(
    (state) => {
      newest = state;
      setState(state);
      const open = state.runs.filter((run) => run.busy).length;
      const older = index.live!.runs_left_out;
      bar.say(
        `Connected. Runs that are working: ${open}. Jobs: ${state.jobs.length}.` +
          (older > 0 ? ` The results leave out ${older} older runs.` : ''),
      );
      const view = routeOf(location.hash).path[0] ?? '';
      if (view === 'live' || view === '' || view === 'run') showAgain(index);
      notice();
    },
    (isOpen) => {
      if (!isOpen) bar.say('Not connected. The page tries again.');
    },
    () => location.reload(),
  );
}
