// Builds elements. Every text becomes a text node, so markup in a name, a source or a message is
// shown as it is, and characters that hide or reorder others as numbers. No code of the site parses
// HTML.
import { visible } from './visible';

export type Child = Node | string | number | null | undefined | false | Child[];
type Value = string | number | boolean | null | undefined | ((event: Event) => void);

function append(parent: Node, child: Child): void {
  if (child === null || child === undefined || child === false) return;
  if (Array.isArray(child)) child.forEach((each) => append(parent, each));
  else if (child instanceof Node) parent.appendChild(child);
  else parent.appendChild(document.createTextNode(visible(String(child))));
}

/// Returns a new element. A function is a listener of the event that its key names.
export function h(
  tag: string,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, children);
  return element;
}

/// Returns a link to a view. `to` begins with "#".
export function link(to: string, ...children: Child[]): HTMLElement {
  return h('a', { href: to }, ...children);
}

/// Returns a section with a heading that can be linked to by its text.
export function section(heading: string, ...children: Child[]): HTMLElement {
  return h('section', {}, h('h2', {}, heading), ...children);
}

/// Returns a definition list of names and values.
export function facts(rows: [string, Child][]): HTMLElement {
  return h(
    'dl',
    { class: 'facts' },
    rows
      .filter(([, value]) => value !== '' && value !== null && value !== undefined)
      .map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]),
  );
}
