// The part of the results that a view shows: one suite, one track, one device class and one split.
// Only results of the same suite, track and device class are comparable, so only they are ranked
// together.
import { h } from './dom';
import { short } from './format';
import { hashOf, withQuery, type Route } from './route';
import type { Group, Index, Summary } from './types';

export type Line = { group: Group; number: number; summary: Summary };

export type Scope = {
  suite: number;
  track: string;
  device: string;
  set: string; // the operators: results over different operators are not comparable
  split: string; // "all" or the name of a split
  lines: Line[];
};

export const suiteName = (index: Index, suite: number): string => {
  const found = index.suites[suite];
  if (!found || !found.name) return 'unknown suite';
  const digest = found.digest ? ` (${found.digest.slice(0, 8)})` : '';
  return `${found.name}${found.version ? ` ${found.version}` : ''}${digest}`;
};

function most<T>(values: T[]): T | undefined {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts.entries()].sort((one, other) => other[1] - one[1])[0]?.[0];
}

const distinct = <T>(values: T[]): T[] => [...new Set(values)];

/// A short name of the set of operators that a group has.
export function setOf(group: Group): string {
  let hash = 17;
  for (const [operator] of group.solved) hash = (Math.imul(hash, 31) + operator) >>> 0;
  return `${group.solved.length}-${hash.toString(36)}`;
}

/// Chooses the settings of the address or, without them, those that most lines have.
export function scopeOf(index: Index, route: Route): Scope {
  const groups = index.groups;
  const wanted = (name: string, values: string[], fallback: string[]): string => {
    const value = route.query.get(name);
    return value !== null && values.includes(value) ? value : (most(fallback) ?? '');
  };
  const ranked = groups.filter((group) => group.unranked.length === 0);
  const prefer = (list: Group[]): Group[] => {
    const best = list.filter((group) => ranked.includes(group));
    return best.length > 0 ? best : list;
  };
  const suite = wanted(
    'suite',
    groups.map((group) => String(group.suite)),
    prefer(groups).map((group) => String(group.suite)),
  );
  const ofSuite = groups.filter((group) => String(group.suite) === suite);
  const track = wanted(
    'track',
    ofSuite.map((group) => group.report.run.track),
    prefer(ofSuite).map((group) => group.report.run.track),
  );
  const ofTrack = ofSuite.filter((group) => group.report.run.track === track);
  const device = wanted(
    'device',
    ofTrack.map((group) => group.device_class),
    prefer(ofTrack).map((group) => group.device_class),
  );
  const ofDevice = ofTrack.filter((group) => group.device_class === device);
  const set = wanted('set', ofDevice.map(setOf), prefer(ofDevice).map(setOf));
  const split = route.query.get('split') ?? 'all';
  const lines: Line[] = [];
  groups.forEach((group, number) => {
    if (String(group.suite) !== suite || group.report.run.track !== track) return;
    if (group.device_class !== device || setOf(group) !== set) return;
    const { all, by_split } = group.report.metrics;
    const summary =
      split === 'all' ? all : Object.hasOwn(by_split, split) ? by_split[split] : undefined;
    if (summary) lines.push({ group, number, summary });
  });
  return { suite: Number(suite), track, device, set, split, lines };
}

export function tabs(index: Index, route: Route, scope: Scope, withSplits = true): HTMLElement {
  const groups = index.groups;
  const ofSuite = groups.filter((group) => group.suite === scope.suite);
  const ofTrack = ofSuite.filter((group) => group.report.run.track === scope.track);
  const ofDevice = ofTrack.filter((group) => group.device_class === scope.device);
  const ofSet = ofDevice.filter((group) => setOf(group) === scope.set);
  const row = (
    title: string,
    name: string,
    values: string[],
    current: string,
    show: (value: string) => string,
    clears: string[],
  ): HTMLElement | null =>
    h(
      'nav',
      { class: 'tabs', 'aria-label': title },
      h('span', { class: 'name' }, title),
      values.map((value) => {
        const cleared = Object.fromEntries(clears.map((other) => [other, '']));
        return h(
          'a',
          {
            href: withQuery(route, { ...cleared, [name]: value }),
            'aria-current': value === current ? 'true' : null,
          },
          show(value),
        );
      }),
    );
  const suites = distinct(groups.map((group) => String(group.suite)));
  const sets = distinct(ofDevice.map(setOf));
  const splits = distinct(ofSet.flatMap((group) => Object.keys(group.report.metrics.by_split)));
  return h(
    'div',
    { class: 'scope' },
    row('Suite', 'suite', suites, String(scope.suite), (v) => suiteName(index, Number(v)), [
      'track',
      'device',
      'set',
      'split',
    ]),
    row(
      'Track',
      'track',
      distinct(ofSuite.map((group) => group.report.run.track)),
      scope.track,
      (value) => value,
      ['device', 'set', 'split'],
    ),
    row(
      'Device',
      'device',
      distinct(ofTrack.map((group) => group.device_class)),
      scope.device,
      (value) => value,
      ['set', 'split'],
    ),
    sets.length > 1
      ? row('Operators', 'set', sets, scope.set, (value) => value.split('-')[0]!, ['split'])
      : null,
    withSplits
      ? row('Split', 'split', ['all', ...splits], scope.split, (v) => v || 'without a split', [])
      : null,
  );
}

export const configuration = (group: Group): string =>
  `${group.report.run.model}, ${group.report.run.agent}`;

/// The number and the name of a line.
export const lineText = (group: Group, number: number): string =>
  `${number + 1}: ${configuration(group)}`;

/// A link to the page of a line, with a short name.
export const lineLink = (group: Group, number: number): HTMLElement =>
  h(
    'a',
    {
      href: hashOf(['configuration', String(number)]),
      title: configuration(group),
      class: 'line',
    },
    short(lineText(group, number), 40),
  );

/// True if a model answered, and nobody else only claims it. Simulations, replays and claims must not
/// count as somebody who solves.
export const isModel = (group: Group): boolean =>
  !['no_model', 'claimed', 'disputed'].some((reason) => group.unranked.includes(reason));

/// The lines with a model or, if there is none, all lines.
export function modelLines(lines: Line[]): Line[] {
  const models = lines.filter((line) => isModel(line.group));
  return models.length > 0 ? models : lines;
}

export type Metric = 'pass_at_1' | 'perf_at_1';

/// The ranks of the lines by one metric. A line without a model or without a value has no rank.
export function ranksOf(lines: Line[], metric: Metric): Map<Line, number> {
  const candidates = lines.filter(
    (line) => line.group.unranked.length === 0 && line.summary[metric] !== null,
  );
  const bounds = (line: Line): [number, number] => {
    const estimate = line.summary[metric]!;
    return estimate.interval ?? [estimate.value, estimate.value];
  };
  const ranks = new Map<Line, number>();
  for (const line of candidates) {
    const [, high] = bounds(line);
    const better = candidates.filter((other) => bounds(other)[0] > high);
    ranks.set(line, 1 + better.length);
  }
  return ranks;
}
