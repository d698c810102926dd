// The leaderboard: one line for each agent and model, with rank classes.
import type { View } from '../context';
import { UNRANKED } from '../definitions';
import { h, link, section } from '../dom';
import { NONE, number, short, withInterval } from '../format';
import { hashOf, withQuery } from '../route';
import { ranksOf, scopeOf, tabs, type Line, type Metric } from '../scope';
import { table, type Column } from '../table';
import type { Estimate, Group } from '../types';

const value = (estimate: Estimate | undefined): number | null => estimate?.value ?? null;
const low = (estimate: Estimate | undefined): number | null => estimate?.interval?.[0] ?? null;
const high = (estimate: Estimate | undefined): number | null => estimate?.interval?.[1] ?? null;

function measured(
  key: 'pass_at_1' | 'perf_at_1' | 'call_accuracy' | 'speed_up' | 'gpu_efficiency',
  title: string,
  unit: 'share' | 'ratio',
): Column<Line> {
  return {
    key,
    title,
    numeric: true,
    define: key,
    value: (line) => value(line.summary[key]),
    show: (line) => withInterval(line.summary[key], unit),
  };
}

export function costText(line: Line): string {
  const { totals, run } = line.group.report;
  if (run.scripted && !(totals.known_cost_usd > 0)) return 'none';
  if (totals.cost_usd !== null) return number(totals.cost_usd, 'dollars');
  return totals.known_cost_usd > 0
    ? `not known, at least ${number(totals.known_cost_usd, 'dollars')}`
    : 'not known';
}

function remarksOf(group: Group): string[] {
  const why = group.unranked.map((reason) => UNRANKED[reason] ?? reason).join('; ');
  return [
    ...(group.provenance ? ['imported verdicts'] : []),
    ...(why ? [`not ranked: ${why}`] : []),
  ];
}

export const leaderboard: View = ({ index, route }) => {
  const scope = scopeOf(index, route);
  const order = route.query.get('leaderboard.sort') ?? '-pass_at_1';
  const metric: Metric = order.replace(/^-/, '') === 'perf_at_1' ? 'perf_at_1' : 'pass_at_1';
  const ranks = ranksOf(scope.lines, metric);
  const wanted = (route.query.get('filter') ?? '').toLowerCase();
  const lines = scope.lines.filter(({ group }) =>
    `${group.report.run.model} ${group.report.run.agent}`.toLowerCase().includes(wanted),
  );
  const baselines = [...new Set(lines.map((line) => line.summary.baseline))];
  const columns: Column<Line>[] = [
    {
      key: 'model',
      title: 'Model',
      value: ({ group }) => group.report.run.model,
      show: (line) =>
        h(
          'a',
          {
            href: hashOf(['configuration', String(line.number)]),
            title: line.group.report.run.model,
          },
          short(line.group.report.run.model),
        ),
    },
    {
      key: 'rank',
      title: 'Rank',
      numeric: true,
      define: 'rank',
      first: 'ascending',
      value: (line) => ranks.get(line) ?? null,
      show: (line) => ranks.get(line) ?? NONE,
    },
    measured('pass_at_1', 'Pass@1', 'share'),
    measured('perf_at_1', 'Perf@1', 'ratio'),
    {
      key: 'agent',
      title: 'Agent',
      value: ({ group }) => group.report.run.agent,
      show: ({ group }) =>
        h('span', { title: group.report.run.agent }, short(group.report.run.agent)),
    },
    {
      key: 'remark',
      title: 'Remark',
      value: ({ group }) => remarksOf(group).join('; ') || null,
      show: ({ group }) =>
        remarksOf(group).map((remark) =>
          h('span', { class: 'badge', title: group.provenance || null }, remark),
        ),
    },
    measured('call_accuracy', 'Call accuracy', 'share'),
    measured('speed_up', 'Speed-up', 'ratio'),
    measured('gpu_efficiency', 'GPU efficiency', 'share'),
    {
      key: 'cost_usd',
      title: 'Cost',
      numeric: true,
      define: 'cost',
      first: 'ascending',
      value: ({ group }) => group.report.totals.cost_usd,
      show: (line) => costText(line),
    },
    {
      key: 'samples',
      title: 'Samples',
      numeric: true,
      value: ({ group }) => group.samples.length,
    },
  ];
  const hidden = new Set(
    columns
      .filter((column) =>
        ['perf_at_1', 'speed_up', 'gpu_efficiency', 'remark'].includes(column.key),
      )
      .filter((column) => lines.every((line) => column.value(line) === null))
      .map((column) => column.key),
  );
  const shown = columns.filter((column) => !hidden.has(column.key));
  const bounds = (['pass_at_1', 'perf_at_1'] as const).flatMap((key) => [
    { key: `${key}_low`, value: (line: Line) => low(line.summary[key]) },
    { key: `${key}_high`, value: (line: Line) => high(line.summary[key]) },
  ]);
  const result = table({
    id: 'leaderboard',
    caption: `Leaderboard: ${lines.length} of ${scope.lines.length} lines`,
    columns: shown,
    rows: lines,
    route,
    sort: order,
    extra: bounds,
    keepLast: (line) => line.group.unranked.length > 0,
    rowClass: (line) => (line.group.unranked.length > 0 ? 'unranked' : ''),
  });
  const filter = h('input', {
    type: 'search',
    id: 'filter',
    value: route.query.get('filter') ?? '',
    change: (event) => {
      location.hash = withQuery(route, { filter: (event.target as HTMLInputElement).value });
    },
  });
  return section(
    'Leaderboard',
    h(
      'p',
      {},
      `Ranks are by ${metric === 'pass_at_1' ? 'Pass@1' : 'Perf@1'}. Lines whose 95 % intervals ` +
        'overlap can share a rank. Lines without a model and lines with right submissions on the ' +
        'host tier are shown below the others and are never ranked.',
    ),
    tabs(index, route, scope),
    [...new Set(lines.map(({ group }) => group.provenance ?? ''))]
      .filter((provenance) => provenance !== '')
      .map((provenance) => h('p', { class: 'note' }, provenance)),
    h('p', { class: 'filter' }, h('label', { for: 'filter' }, 'Model or agent: '), filter),
    hidden.has('perf_at_1')
      ? h('p', { class: 'note' }, 'There is no Perf@1 here, because nothing was timed.')
      : baselines.includes('torch_eager')
        ? h('p', { class: 'note' }, 'Perf@1 compares with PyTorch eager, not with an oracle.')
        : null,
    result,
    h('p', {}, link(withQuery({ ...route, path: ['comparison'] }, {}), 'See the intervals'), '.'),
  );
};
