// Shows a source with line numbers. Python and CUDA C++ get colours. Each token is a text node.
import { h } from './dom';

const WORDS = new Set(
  (
    'and as assert async await break class continue def del elif else except finally for from ' +
    'global if import in is lambda nonlocal not or pass raise return try while with yield None ' +
    'True False auto bool char const double extern float int long namespace short signed sizeof ' +
    'static struct template typename unsigned using void __global__ __device__ __shared__'
  ).split(' '),
);
const TOKEN =
  /("""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)|(#(?!include)[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(@?[A-Za-z_][A-Za-z0-9_]*)|(\b\d[\w.]*)/g;

const COLOURED_CHARACTERS = 200_000; // a longer source is shown without colours

/// Returns the tokens of the text as [class, text]. All texts together are the text.
export function tokens(text: string): [string, string][] {
  if (text.length > COLOURED_CHARACTERS) return [['', text]];
  const found: [string, string][] = [];
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [all, quoted, comment, word, digits] = match;
    if (match.index > at) found.push(['', text.slice(at, match.index)]);
    const kind = quoted
      ? 'string'
      : comment
        ? 'comment'
        : digits
          ? 'number'
          : word && (WORDS.has(word) || word.startsWith('@'))
            ? 'word'
            : '';
    found.push([kind, all]);
    at = match.index + all.length;
  }
  if (at < text.length) found.push(['', text.slice(at)]);
  return found;
}

const LINES_AT_FIRST = 2_000;

export function sourceView(text: string, label: string): HTMLElement {
  const all = text.split('\n');
  const shown = (count: number): HTMLElement => {
    const part = all.slice(0, count);
    return h(
      'div',
      { class: 'code' },
      h('pre', { class: 'numbers', 'aria-hidden': 'true' }, part.map((_, at) => at + 1).join('\n')),
      h(
        'pre',
        { class: 'wide', tabindex: '0', role: 'region', 'aria-label': label },
        h(
          'code',
          {},
          tokens(part.join('\n')).map(([kind, piece]) =>
            kind ? h('span', { class: `t-${kind}` }, piece) : piece,
          ),
        ),
      ),
    );
  };
  if (all.length <= LINES_AT_FIRST) return shown(all.length);
  const box = h('div', {}, shown(LINES_AT_FIRST));
  const more = h(
    'button',
    { type: 'button', click: () => box.replaceChildren(shown(all.length)) },
    `Show all ${all.length} lines`,
  );
  box.appendChild(more);
  return box;
}
