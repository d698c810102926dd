// Shows the view that the address names, and the navigation.
import type { View } from './context';
import { listen, loadIndex } from './data';
import { isLive, SnapshotGone, STALE } from './live';
import { startLive, WITHOUT_RUNS } from './live_page';
import { h, section } from './dom';
import { date } from './format';
import { hashOf, routeOf } from './route';
import type { Index } from './types';
import { cite, dataset, method, workflows } from './views/about';
import { compare } from './views/compare';
import { comparison } from './views/comparison';
import { cost } from './views/cost';
import { failures } from './views/failures';
import { fastP } from './views/fastp';
import { leaderboard } from './views/leaderboard';
import { live } from './views/live';
import { operator } from './views/operator';
import { operators } from './views/operators';
import { progress } from './views/progress';
import { configurationPage, run, runs } from './views/runs';
import { submission } from './views/submission';
import { submissions } from './views/submissions';

// The views in the order of the navigation. A view without a title is reached by links.
const VIEWS: Record<string, { title?: string; view: View }> = {
  live: { title: 'Live', view: live },
  leaderboard: { title: 'Leaderboard', view: leaderboard },
  comparison: { title: 'Comparison', view: comparison },
  cost: { title: 'Cost', view: cost },
  failures: { title: 'Failures', view: failures },
  operators: { title: 'Operators', view: operators },
  'fast-p': { title: 'fast_p', view: fastP },
  progress: { title: 'Over time', view: progress },
  runs: { title: 'Runs', view: runs },
  submissions: { title: 'Submissions', view: submissions },
  compare: { title: 'Compare two', view: compare },
  dataset: { title: 'Dataset', view: dataset },
  workflows: { title: 'Workflows', view: workflows },
  method: { title: 'Method', view: method },
  cite: { title: 'Citation', view: cite },
  operator: { view: operator },
  run: { view: run },
  submission: { view: submission },
  configuration: { view: configurationPage },
};

const PARENT: Record<string, string> = {
  operator: 'operators',
  run: 'runs',
  submission: 'submissions',
  configuration: 'leaderboard',
};

let shown = 0; // counts views, so that a slow view does not replace a newer one
let last = '';

async function show(index: Index, main: HTMLElement, nav: HTMLElement): Promise<void> {
  const mine = ++shown;
  const route = routeOf(location.hash);
  if (route.path.length === 0) route.path.push(isLive() ? 'live' : 'leaderboard');
  const name = route.path[0]!;
  const entry = Object.hasOwn(VIEWS, name) ? VIEWS[name] : undefined;
  let content: Node;
  main.setAttribute('aria-busy', 'true');
  try {
    if (!entry) content = section('Unknown view', h('p', {}, `There is no view ${name}.`));
    else if (index.groups.length === 0 && !WITHOUT_RUNS.has(name))
      content = section(entry.title ?? name, h('p', { class: 'empty' }, 'There is no run yet.'));
    else content = await entry.view({ index, route });
  } catch (problem) {
    if (problem instanceof SnapshotGone) dispatchEvent(new Event(STALE));
    const message = problem instanceof Error ? problem.message : String(problem);
    content = section('Error', h('p', { class: 'note', role: 'alert' }, message));
  }
  if (mine !== shown) return;
  main.replaceChildren(content);
  main.removeAttribute('aria-busy');
  const current = PARENT[name] ?? name;
  for (const anchor of nav.querySelectorAll('a')) {
    if (anchor.getAttribute('data-view') === current) anchor.setAttribute('aria-current', 'page');
    else anchor.removeAttribute('aria-current');
  }
  const heading = main.querySelector('h2');
  document.title = `${heading?.textContent ?? name} – ${index.title}`;
  const path = route.path.join('/');
  if (last && last !== path) {
    scrollTo(0, 0);
    heading?.setAttribute('tabindex', '-1');
    heading?.focus({ preventScroll: true });
  }
  last = path;
}

/// Leads to the other view, with the same suite, track, device and split.
function follow(event: Event): void {
  const anchor = (event.target as HTMLElement).closest('a');
  const name = anchor?.getAttribute('data-view');
  if (!anchor || !name) return;
  const query = new URLSearchParams();
  const now = routeOf(location.hash).query;
  for (const key of ['suite', 'track', 'device', 'set', 'split']) {
    const value = now.get(key);
    if (value !== null) query.set(key, value);
  }
  anchor.setAttribute('href', hashOf([name], query));
}

function navigation(): HTMLElement {
  return h(
    'nav',
    { class: 'views', 'aria-label': 'Views', click: follow, auxclick: follow },
    Object.entries(VIEWS)
      .filter(([name, { title }]) => title && (name !== 'live' || isLive()))
      .map(([name, { title }]) => h('a', { href: hashOf([name]), 'data-view': name }, title)),
  );
}

/// Shows the site. Returns the function that shows the current view again, with a newer index.
async function build(first: Index, bar: HTMLElement | null): Promise<(next: Index) => void> {
  let index = first;
  const nav = navigation();
  const main = h('main', { id: 'main' });
  const written = h('span', {}, date(index.written_unix_ms));
  document.getElementById('site')!.replaceChildren(
    h(
      'a',
      { class: 'skip', href: '#main', click: (event) => skip(event, main) },
      'Skip to content',
    ),
    h('header', {}, h('h1', {}, index.title), bar ?? '', nav),
    main,
    h('footer', {}, `Assay ${index.assay}, data of `, written, '.'),
  );
  addEventListener('hashchange', () => void show(index, main, nav));
  await show(index, main, nav);
  document.documentElement.setAttribute('data-ready', 'true');
  return (next) => {
    index = next;
    written.textContent = date(index.written_unix_ms);
    void again(index, main, nav);
  };
}

/// Shows the current view again, and keeps the visitor's place in it.
async function again(index: Index, main: HTMLElement, nav: HTMLElement): Promise<void> {
  const at = { left: scrollX, top: scrollY };
  const focused = main.contains(document.activeElement)
    ? document.activeElement!.getAttribute('href')
    : null;
  await show(index, main, nav);
  scrollTo(at);
  if (focused === null) return;
  const anchors = [...main.querySelectorAll('a')];
  anchors.find((each) => each.getAttribute('href') === focused)?.focus({ preventScroll: true });
}

function fail(problem: unknown): void {
  const message = problem instanceof Error ? problem.message : String(problem);
  const text = h('p', { role: 'alert' }, `The data cannot be read: ${message}`);
  document.getElementById('site')!.replaceChildren(text);
}

async function start(): Promise<void> {
  listen();
  try {
    if (isLive()) await startLive(build);
    else await build(await loadIndex(), null);
  } catch (problem) {
    fail(problem);
  }
}

function skip(event: Event, main: HTMLElement): void {
  event.preventDefault();
  main.setAttribute('tabindex', '-1');
  main.focus();
}

void start();
