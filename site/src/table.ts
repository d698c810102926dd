// A table that sorts, pages and can be downloaded. Its order and its page are in the address, so
// that a link shows the same view.
import { csvOf, download, jsonOf, type Cell } from './csv';
import { DEFINITIONS } from './definitions';
import { h, type Child } from './dom';
import { withQuery, type Route } from './route';

export type Column<Row> = {
  key: string;
  title: string;
  numeric?: boolean; // aligned right, not wrapped
  long?: boolean; // a long text, which needs a wide column
  define?: string; // a key of DEFINITIONS
  first?: 'descending' | 'ascending'; // the order after the first click
  value: (row: Row) => Cell; // for sorting and downloads
  show?: (row: Row) => Child;
};

export type TableOptions<Row> = {
  id: string; // unique on the page; also the prefix of its settings in the address
  caption: string;
  columns: Column<Row>[];
  rows: Row[];
  route: Route;
  sort?: string; // "-key" sorts descending; default: the order of the rows
  rowsPerPage?: number;
  rowClass?: (row: Row) => string;
  keepLast?: (row: Row) => boolean; // rows that always come after all others
  /// Values that only downloads have.
  dropEmpty?: boolean; // leaves out columns of which no row has a value
  extra?: { key: string; value: (row: Row) => Cell }[];
  /// Set if `rows` are only one page. Then downloads get all rows from `all`.
  total?: { page: number; pages: number; all: () => Promise<Row[]> };
};

function compare(one: Cell, other: Cell): number {
  if (one === other) return 0;
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return String(one) < String(other) ? -1 : 1;
}

/// Sorts without losing a row. Rows without a value come last in both orders.
export function sorted<Row>(options: TableOptions<Row>, order: string): Row[] {
  const descending = order.startsWith('-');
  const column = options.columns.find((each) => each.key === order.replace(/^-/, ''));
  const indexed = options.rows.map((row, at) => ({ row, at, cell: column?.value(row) ?? null }));
  indexed.sort((one, other) => {
    const last = Number(options.keepLast?.(one.row)) - Number(options.keepLast?.(other.row));
    if (last) return last;
    if (one.cell === null || other.cell === null) {
      if (one.cell !== other.cell) return one.cell === null ? 1 : -1;
    } else {
      const found = compare(one.cell, other.cell);
      if (found) return descending ? -found : found;
    }
    return one.at - other.at;
  });
  return indexed.map(({ row }) => row);
}

function head<Row>(options: TableOptions<Row>, column: Column<Row>, order: string): HTMLElement {
  const isSorted = order.replace(/^-/, '') === column.key;
  const descending = order.startsWith('-');
  const first = column.first ?? (column.numeric ? 'descending' : 'ascending');
  const next = isSorted
    ? `${descending ? '' : '-'}${column.key}`
    : `${first === 'descending' ? '-' : ''}${column.key}`;
  const definition = column.define ? DEFINITIONS[column.define] : undefined;
  return h(
    'th',
    {
      scope: 'col',
      class: column.numeric ? 'n' : null,
      'aria-sort': isSorted ? (descending ? 'descending' : 'ascending') : null,
    },
    h(
      'a',
      {
        href: withQuery(options.route, {
          [`${options.id}.sort`]: next,
          [`${options.id}.page`]: '',
        }),
        class: 'sort',
        title: definition?.text ?? `Sort by ${column.title}`,
      },
      column.title,
      h(
        'span',
        { class: 'arrow', 'aria-hidden': 'true' },
        isSorted ? (descending ? ' ▼' : ' ▲') : '',
      ),
    ),
  );
}

function pager<Row>(options: TableOptions<Row>, page: number, pages: number): HTMLElement | null {
  if (pages <= 1) return null;
  const to = (where: number, text: string, label: string): HTMLElement =>
    where < 1 || where > pages || where === page
      ? h('span', { class: 'off' }, text)
      : h(
          'a',
          {
            href: withQuery(options.route, { [`${options.id}.page`]: String(where) }),
            'aria-label': label,
          },
          text,
        );
  return h(
    'nav',
    { class: 'pager', 'aria-label': `Pages of ${options.caption}` },
    to(1, '« first', 'first page'),
    to(page - 1, '‹ previous', 'previous page'),
    h('span', {}, `page ${page} of ${pages}`),
    to(page + 1, 'next ›', 'next page'),
    to(pages, 'last »', 'last page'),
  );
}

export function downloads(
  id: string,
  keys: string[],
  rows: () => Cell[][] | Promise<Cell[][]>,
): HTMLElement {
  const button = (kind: string, type: string, text: (rows: Cell[][]) => string): HTMLElement => {
    const save = async (): Promise<void> => download(`${id}.${kind}`, type, text(await rows()));
    return h(
      'button',
      { type: 'button', 'data-download': kind, click: () => void save() },
      kind.toUpperCase(),
    );
  };
  return h(
    'p',
    { class: 'downloads' },
    'Download: ',
    button('csv', 'text/csv', (cells) => csvOf(keys, cells)),
    ' ',
    button('json', 'application/json', (cells) => jsonOf(keys, cells)),
  );
}

export function table<Row>(options: TableOptions<Row>): HTMLElement {
  const { id, route } = options;
  const columns = options.dropEmpty
    ? options.columns.filter((column) => options.rows.some((row) => column.value(row) !== null))
    : options.columns;
  const order = route.query.get(`${id}.sort`) ?? options.sort ?? '';
  const rows = order ? sorted(options, order) : options.rows;
  const size = options.rowsPerPage ?? 200;
  const pages = options.total?.pages ?? Math.max(1, Math.ceil(rows.length / size));
  const wanted = Number(route.query.get(`${id}.page`) ?? '1');
  const page = Number.isInteger(wanted) && wanted >= 1 && wanted <= pages ? wanted : 1;
  const shown = options.total ? rows : rows.slice((page - 1) * size, page * size);
  const defined = columns.filter((column) => column.define && DEFINITIONS[column.define]);
  const body = shown.map((row) =>
    h(
      'tr',
      { class: options.rowClass?.(row) || null },
      columns.map((column, at) => {
        const shownCell = column.show ? column.show(row) : (column.value(row) ?? '–');
        return at === 0
          ? h('th', { scope: 'row', class: column.numeric ? 'n' : null }, shownCell)
          : h('td', { class: column.numeric ? 'n' : column.long ? 'long' : null }, shownCell);
      }),
    ),
  );
  return h(
    'div',
    { class: 'table' },
    h(
      'div',
      { class: 'wide', role: 'region', tabindex: '0', 'aria-label': options.caption },
      h(
        'table',
        { id },
        h('caption', {}, options.caption),
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            columns.map((column) => head(options, column, order)),
          ),
        ),
        h('tbody', {}, body),
      ),
    ),
    rows.length === 0 ? h('p', { class: 'empty' }, 'There is no row.') : null,
    pager(options, page, pages),
    downloads(
      id,
      [...columns, ...(options.extra ?? [])].map((column) => column.key),
      async () =>
        (options.total ? await options.total.all() : rows).map((row) =>
          [...columns, ...(options.extra ?? [])].map((column) => column.value(row)),
        ),
    ),
    defined.length === 0
      ? null
      : h(
          'details',
          { class: 'definitions' },
          h('summary', {}, 'What the columns mean'),
          h(
            'dl',
            {},
            defined.map((column) => {
              const definition = DEFINITIONS[column.define!]!;
              return [
                h('dt', {}, column.title),
                h(
                  'dd',
                  {},
                  definition.text,
                  definition.source ? ` Source: ${definition.source}.` : '',
                ),
              ];
            }),
          ),
        ),
  );
}
