// The matrix of operators and models, and the list of operators.
import type { View } from '../context';
import { h, link, section, type Child } from '../dom';
import { NONE, number, short } from '../format';
import { hashOf, withQuery, type Route } from '../route';
import { configuration, lineLink, lineText, scopeOf, tabs, type Line, type Scope } from '../scope';
import { downloads, table } from '../table';
import type { OperatorLine } from '../types';

const COLUMNS = 24; // lines on one page of the matrix

type Cell = { right: number; perf: number | null };
type Row = { index: number; op: OperatorLine; cells: (Cell | undefined)[]; solved: number };

function rowsOf(operators: OperatorLine[], scope: Scope): Row[] {
  const rows = operators.map((op, at) => ({
    index: at,
    op,
    cells: new Array<Cell | undefined>(scope.lines.length).fill(undefined),
    solved: 0,
  }));
  scope.lines.forEach((line, column) => {
    for (const [operator, right, perf] of line.group.solved) {
      const row = rows[operator];
      if (!row) continue;
      row.cells[column] = { right, perf };
      row.solved += right > 0 ? 1 : 0;
    }
  });
  return rows.filter(
    (row) =>
      row.cells.some((cell) => cell !== undefined) &&
      (scope.split === 'all' || row.op.split === scope.split),
  );
}

function dot(cell: Cell | undefined, samples: number): HTMLElement {
  if (!cell) return h('td', { class: 'dot' }, h('span', { class: 'visually-hidden' }, 'not run'));
  const share = cell.right / samples;
  const level = cell.right === 0 ? 'none' : share === 1 ? 'full' : 'part';
  const perf = cell.perf === null ? '' : `, Perf ${cell.perf.toFixed(2)}`;
  const words = `${cell.right} of ${samples} right${perf}`;
  return h(
    'td',
    { class: `dot ${level}`, title: words },
    h(
      'span',
      { class: 'mark', 'aria-hidden': 'true' },
      level === 'none' ? '○' : level === 'full' ? '●' : '◐',
    ),
    h('span', { class: 'visually-hidden' }, words),
  );
}

function matrix(rows: Row[], scope: Scope, route: Route): HTMLElement {
  const wanted = Number(route.query.get('columns') ?? '1');
  const pages = Math.max(1, Math.ceil(scope.lines.length / COLUMNS));
  const page = Number.isInteger(wanted) && wanted >= 1 && wanted <= pages ? wanted : 1;
  const first = (page - 1) * COLUMNS;
  const lines = scope.lines.slice(first, first + COLUMNS);
  const heads = lines.map((line) =>
    h(
      'th',
      { scope: 'col', class: 'turned', title: configuration(line.group) },
      link(
        hashOf(['configuration', String(line.number)]),
        h('span', {}, `${line.number + 1}`),
        h('span', { class: 'visually-hidden' }, `: ${configuration(line.group)}`),
      ),
    ),
  );
  const body = rows.map((row) =>
    h(
      'tr',
      {},
      h(
        'th',
        { scope: 'row' },
        link(hashOf(['operator', String(scope.suite), row.op.name]), row.op.name),
      ),
      lines.map((line, at) => dot(row.cells[first + at], line.group.samples.length)),
      h('td', { class: 'n' }, `${row.solved} of ${scope.lines.length}`),
    ),
  );
  const legend: Child[] = lines.map((line) => [
    h('dt', {}, String(line.number + 1)),
    h('dd', { title: configuration(line.group) }, short(configuration(line.group), 80)),
  ]);
  const others =
    pages === 1
      ? null
      : h(
          'nav',
          { class: 'pager', 'aria-label': 'Lines of the matrix' },
          Array.from({ length: pages }, (_, at) =>
            h(
              'a',
              {
                href: withQuery(route, { columns: String(at + 1) }),
                'aria-current': at + 1 === page ? 'true' : null,
              },
              `lines ${at * COLUMNS + 1} to ${Math.min(scope.lines.length, (at + 1) * COLUMNS)}`,
            ),
          ),
        );
  const keys = ['operator', ...scope.lines.map((line) => lineText(line.group, line.number))];
  return h(
    'figure',
    { class: 'matrix' },
    h(
      'figcaption',
      {},
      'Who solves what. ● all samples right, ◐ some samples right, ○ none; empty: not run',
    ),
    others,
    h(
      'div',
      { class: 'wide', role: 'region', tabindex: '0', 'aria-label': 'Operators and lines' },
      h(
        'table',
        { id: 'matrix' },
        h('caption', { class: 'visually-hidden' }, 'Operators and lines'),
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', { scope: 'col' }, 'Operator'),
            heads,
            h('th', { scope: 'col', class: 'n' }, 'Solved by'),
          ),
        ),
        h('tbody', {}, body),
      ),
    ),
    downloads('matrix', keys, () =>
      rows.map((row) => [row.op.name, ...row.cells.map((cell) => cell?.right ?? null)]),
    ),
    h('dl', { class: 'legend' }, legend),
  );
}

export const operators: View = ({ index, route }) => {
  const scope = scopeOf(index, route);
  const rows = rowsOf(index.suites[scope.suite]!.operators, scope);
  const bestOf = (row: Row): number | null => {
    const perfs = row.cells.map((cell) => cell?.perf ?? null).filter((perf) => perf !== null);
    return perfs.length > 0 ? Math.max(...perfs) : null;
  };
  const lineOf = (row: Row, perf: number | null): Line | undefined =>
    perf === null ? undefined : scope.lines[row.cells.findIndex((cell) => cell?.perf === perf)];
  return section(
    'Operators',
    tabs(index, route, scope),
    matrix(rows, scope, route),
    table<Row>({
      id: 'operators',
      caption: `${rows.length} operators`,
      route,
      rows,
      columns: [
        {
          key: 'operator',
          title: 'Operator',
          value: (row) => row.op.name,
          show: (row) => link(hashOf(['operator', String(scope.suite), row.op.name]), row.op.name),
        },
        { key: 'split', title: 'Split', value: (row) => row.op.split ?? null },
        { key: 'family', title: 'Family', value: (row) => row.op.family ?? null },
        {
          key: 'difficulty',
          title: 'Difficulty',
          numeric: true,
          value: (row) => row.op.difficulty ?? null,
        },
        {
          key: 'solved',
          title: 'Solved by',
          numeric: true,
          value: (row) => row.solved,
          show: (row) => `${row.solved} of ${scope.lines.length}`,
        },
        {
          key: 'best_perf',
          title: 'Best Perf',
          numeric: true,
          value: bestOf,
          show: (row) => number(bestOf(row), 'ratio'),
        },
        {
          key: 'best_line',
          title: 'Best line',
          value: (row) => {
            const line = lineOf(row, bestOf(row));
            return line ? lineText(line.group, line.number) : null;
          },
          show: (row) => {
            const line = lineOf(row, bestOf(row));
            return line ? lineLink(line.group, line.number) : NONE;
          },
        },
        { key: 'summary', title: 'Summary', long: true, value: (row) => row.op.summary ?? null },
      ],
    }),
  );
};
