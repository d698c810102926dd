// Where models fail: groups of errors, stages, difficulty, and the operators that nobody solves.
import { chartOf, colour, nameAxis, nameMargin, Plot } from '../charts';
import type { View } from '../context';
import { h, link, section } from '../dom';
import { number, short, withInterval } from '../format';
import { hashOf } from '../route';
import { lineText, modelLines, scopeOf, tabs, type Line } from '../scope';
import { table } from '../table';

type Count = { line: string; kind: string; count: number };

const named = (line: Line): string => short(lineText(line.group, line.number), 34);

function stacked(heading: string, counts: Count[], kinds: string[]): HTMLElement {
  const drawn = counts.filter((each) => each.count > 0);
  const lines = [...new Set(counts.map((each) => each.line))];
  const plot = (): Plot.PlotOptions => ({
    marginLeft: nameMargin(),
    height: 60 + 26 * lines.length,
    color: {
      domain: kinds,
      range: kinds.map((_, at) => colour(at)),
      legend: true,
    },
    x: { grid: true, label: 'attempts' },
    y: { domain: lines, label: null },
    marks: [nameAxis(), Plot.barX(drawn, { x: 'count', y: 'line', fill: 'kind' }), Plot.ruleX([0])],
  });
  return chartOf({
    heading,
    rows: drawn,
    empty: 'No attempt failed here.',
    say: (each) => `${each.line}: ${each.kind} ${each.count}`,
    plot,
  });
}

export const failures: View = ({ index, route }) => {
  const scope = scopeOf(index, route);
  const groups: Count[] = [];
  const stages: Count[] = [];
  const types: { line: string; group: string; type: string; count: number }[] = [];
  const difficulties: { line: string; difficulty: string; summary: Line['summary'] }[] = [];
  for (const line of scope.lines) {
    const { metrics } = line.group.report;
    for (const [group, errors] of Object.entries(metrics.error_groups)) {
      groups.push({ line: named(line), kind: group, count: errors.total });
      for (const [type, count] of Object.entries(errors.types))
        if (count > 0) types.push({ line: named(line), group, type, count });
    }
    for (const [stage, found] of Object.entries(metrics.stages))
      stages.push({ line: named(line), kind: stage, count: found.attempts });
    for (const [difficulty, summary] of Object.entries(metrics.by_difficulty))
      difficulties.push({
        line: named(line),
        difficulty: difficulty === '0' ? 'unknown' : difficulty,
        summary,
      });
  }
  const solvers = new Map<number, number>();
  for (const { group } of modelLines(scope.lines))
    for (const [operator, right] of group.solved)
      solvers.set(operator, (solvers.get(operator) ?? 0) + (right > 0 ? 1 : 0));
  const unsolved = [...solvers.entries()]
    .filter(([, count]) => count === 0)
    .map(([operator]) => index.suites[scope.suite]!.operators[operator]!);
  return h(
    'div',
    {},
    section(
      'Where models fail',
      tabs(index, route, scope, false),
      stacked('Errors, by the groups of TritonBench', groups, [
        ...new Set(groups.map((each) => each.kind)),
      ]),
      stacked('The stage at which attempts died', stages, ['compile', 'run_tests', 'submit']),
    ),
    section(
      'Operators that nobody solves',
      table({
        id: 'unsolved',
        caption: `${unsolved.length} of ${solvers.size} operators have no right attempt of a model`,
        route,
        rows: unsolved,
        columns: [
          {
            key: 'operator',
            title: 'Operator',
            value: (op) => op.name,
            show: (op) => link(hashOf(['operator', String(scope.suite), op.name]), op.name),
          },
          { key: 'split', title: 'Split', value: (op) => op.split ?? null },
          { key: 'family', title: 'Family', value: (op) => op.family ?? null },
          {
            key: 'difficulty',
            title: 'Difficulty',
            numeric: true,
            value: (op) => op.difficulty ?? null,
          },
        ],
      }),
    ),
    section(
      'Difficulty',
      table({
        id: 'difficulty',
        caption: 'Pass@1 by difficulty',
        route,
        rows: difficulties,
        columns: [
          { key: 'line', title: 'Line', value: (row) => row.line },
          { key: 'difficulty', title: 'Difficulty', value: (row) => row.difficulty },
          {
            key: 'operators',
            title: 'Operators',
            numeric: true,
            value: (r) => r.summary.operators,
          },
          {
            key: 'pass_at_1',
            title: 'Pass@1',
            numeric: true,
            define: 'pass_at_1',
            value: (row) => row.summary.pass_at_1?.value ?? null,
            show: (row) => withInterval(row.summary.pass_at_1, 'share'),
          },
          {
            key: 'call_accuracy',
            title: 'Call accuracy',
            numeric: true,
            define: 'call_accuracy',
            value: (row) => row.summary.call_accuracy?.value ?? null,
            show: (row) => number(row.summary.call_accuracy?.value, 'share'),
          },
        ],
      }),
    ),
    section(
      'Errors',
      table({
        id: 'errors',
        caption: 'Attempts by type of error',
        route,
        sort: '-count',
        rows: types,
        columns: [
          { key: 'line', title: 'Line', value: (row) => row.line },
          { key: 'group', title: 'Group', define: 'error_group', value: (row) => row.group },
          { key: 'type', title: 'Type', value: (row) => row.type },
          { key: 'count', title: 'Attempts', numeric: true, value: (row) => row.count },
        ],
      }),
      table({
        id: 'stages',
        caption: 'Attempts by the stage at which they died',
        route,
        rows: stages,
        columns: [
          { key: 'line', title: 'Line', value: (row) => row.line },
          { key: 'stage', title: 'Stage', define: 'died_at', value: (row) => row.kind },
          { key: 'count', title: 'Attempts', numeric: true, value: (row) => row.count },
        ],
      }),
    ),
  );
};
