// The part of the results that a view shows: one suite, one track, one device class and one split.
// Only results of the same suite, track and device class are comparable, so only they are ranked
// together.
import { h } from './dom';
import { withQuery, type Route } from './route';
import type { Group, Index, Summary } from './types';

export type Line = { group: Group; number: number; summary: Summary };

export type Scope = {
  suite: number;
  track: string;
  device: string;
  split: string; // "all" or the name of a split
  lines: Line[];
};

export const suiteName = (index: Index, suite: number): string => {
  const found = index.suites[suite];
  if (!found || !found.name) return 'unknown suite';
  return `${found.name}${found.version ? ` ${found.version}` : ''} (${found.digest.slice(0, 8)})`;
};

function most<T>(values: T[]): T | undefined {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts.entries()].sort((one, other) => other[1] - one[1])[0]?.[0];
}

const distinct = <T>(values: T[]): T[] => [...new Set(values)];

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
  const split = route.query.get('split') ?? 'all';
  const lines: Line[] = [];
  groups.forEach((group, number) => {
    if (String(group.suite) !== suite || group.report.run.track !== track) return;
    if (group.device_class !== device) return;
    const { all, by_split } = group.report.metrics;
    const summary =
      split === 'all' ? all : Object.hasOwn(by_split, split) ? by_split[split] : undefined;
    if (summary) lines.push({ group, number, summary });
  });
  return { suite: Number(suite), track, device, split, lines };
}

export function tabs(index: Index, route: Route, scope: Scope, withSplits = true): HTMLElement {
  const groups = index.groups;
  const ofSuite = groups.filter((group) => group.suite === scope.suite);
  const ofTrack = ofSuite.filter((group) => group.report.run.track === scope.track);
  const ofDevice = ofTrack.filter((group) => group.device_class === scope.device);
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
  const splits = distinct(ofDevice.flatMap((group) => Object.keys(group.report.metrics.by_split)));
  return h(
    'div',
    { class: 'scope' },
    row('Suite', 'suite', suites, String(scope.suite), (v) => suiteName(index, Number(v)), [
      'track',
      'device',
      'split',
    ]),
    row(
      'Track',
      'track',
      distinct(ofSuite.map((group) => group.report.run.track)),
      scope.track,
      (value) => value,
      ['device'],
    ),
    row(
      'Device',
      'device',
      distinct(ofTrack.map((group) => group.device_class)),
      scope.device,
      (value) => value,
      [],
    ),
    withSplits
      ? row('Split', 'split', ['all', ...splits], scope.split, (v) => v || 'without a split', [])
      : null,
  );
}

export const configuration = (group: Group): string =>
  `${group.report.run.model}, ${group.report.run.agent}`;

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
