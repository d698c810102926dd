// The best result over time: the number of operators that anybody has solved, and the best Perf of
// one operator.
import { chartOf, Plot } from '../charts';
import type { View } from '../context';
import { loadAllAttempts } from '../data';
import { h, link, section } from '../dom';
import { date, number } from '../format';
import { hashOf, withQuery } from '../route';
import { lineLink, modelLines, scopeOf, tabs } from '../scope';
import { table } from '../table';
import type { Attempt } from '../types';
import { lineName, operatorName } from './submissions';

type Step = { at: Date; value: number };

/// A line that keeps its value until the next step.
function stepChart(
  heading: string,
  empty: string,
  steps: Step[],
  label: string,
  stroke: string,
): HTMLElement {
  return chartOf({
    heading,
    rows: steps,
    empty,
    say: (step) => `${date(step.at.getTime())} ${step.value}`,
    plot: () => ({
      height: 260,
      x: { label: null, type: 'utc' },
      y: { grid: true, zero: true, label },
      marks: [
        Plot.lineY(steps, { x: 'at', y: 'value', stroke, curve: 'step-after' }),
        Plot.dot(steps, { x: 'at', y: 'value', fill: stroke }),
      ],
    }),
  });
}

export const progress: View = async ({ index, route }) => {
  const scope = scopeOf(index, route);
  const lines = new Set(modelLines(scope.lines).map((line) => line.number));
  const right = (await loadAllAttempts())
    .filter((attempt) => lines.has(attempt.group) && attempt.outcome === 'pass')
    .filter((attempt) => attempt.submitted_unix_ms !== null)
    .sort((one, other) => one.submitted_unix_ms! - other.submitted_unix_ms!);
  const solved = new Set<number>();
  const steps: Step[] = [];
  const best = new Map<number, number>();
  const records: Attempt[] = [];
  for (const attempt of right) {
    const isNew = !solved.has(attempt.operator);
    solved.add(attempt.operator);
    if (isNew) steps.push({ at: new Date(attempt.submitted_unix_ms!), value: solved.size });
    const before = best.get(attempt.operator) ?? 0;
    if (attempt.perf !== null && attempt.perf > before) {
      best.set(attempt.operator, attempt.perf);
      records.push(attempt);
    }
  }
  const operators = index.suites[scope.suite]!.operators;
  const names = [...best.keys()].map((at) => operators[at]?.name ?? '').sort();
  const chosen = route.query.get('operator') ?? names[0] ?? '';
  const ofOperator = records.filter((attempt) => operatorName(index, attempt) === chosen);
  const heading = `Best Perf of ${chosen || 'an operator'}`;
  return section(
    'Best over time',
    tabs(index, route, scope, false),
    h('p', {}, 'Only lines with a model count, if there are any.'),
    stepChart(
      'Operators that anybody has solved',
      'Not drawn: nothing is solved.',
      steps,
      'operators',
      'var(--a)',
    ),
    names.length > 0
      ? h(
          'p',
          {},
          h('label', { for: 'record' }, 'Operator: '),
          h(
            'select',
            {
              id: 'record',
              change: (event) => {
                location.hash = withQuery(route, {
                  operator: (event.target as HTMLSelectElement).value,
                });
              },
            },
            names.map((name) => h('option', { value: name, selected: name === chosen }, name)),
          ),
        )
      : null,
    stepChart(
      heading,
      'Not drawn: nothing was timed.',
      ofOperator.map((a) => ({ at: new Date(a.submitted_unix_ms!), value: a.perf! })),
      'Perf',
      'var(--b)',
    ),
    table<Attempt>({
      id: 'records',
      caption: 'Records: each was the best of its operator when it was submitted',
      route,
      sort: '-submitted',
      rows: records,
      columns: [
        { key: 'operator', title: 'Operator', value: (a) => operatorName(index, a) },
        {
          key: 'perf',
          title: 'Perf',
          numeric: true,
          value: (attempt) => attempt.perf,
          show: (attempt) => number(attempt.perf, 'ratio'),
        },
        {
          key: 'line',
          title: 'Line',
          value: (attempt) => lineName(index, attempt),
          show: (attempt) => lineLink(index.groups[attempt.group]!, attempt.group),
        },
        {
          key: 'submitted',
          title: 'Submitted',
          numeric: true,
          value: (attempt) => attempt.submitted_unix_ms,
          show: (attempt) => date(attempt.submitted_unix_ms),
        },
        {
          key: 'attempt',
          title: 'Attempt',
          numeric: true,
          value: (attempt) => attempt.number,
          show: (a) => link(hashOf(['submission', String(a.number)]), `#${a.number}`),
        },
      ],
    }),
  );
};
