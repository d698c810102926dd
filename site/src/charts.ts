// Charts: SVG by Observable Plot, with a name and a description for screen readers.
import * as Plot from '@observablehq/plot';
import { h } from './dom';

export const COLOURS = ['--a', '--b', '--c', '--d', '--e', '--f', '--g', '--i'];
export const colour = (at: number): string => `var(${COLOURS[at % COLOURS.length]})`;

/// The width that a chart has here, in pixels.
export const chartWidth = (most = 900): number =>
  Math.max(280, Math.min(most, document.documentElement.clientWidth - 48));

/// The space for names left of a chart, and the axis that shortens them to it.
export const nameMargin = (): number => (chartWidth() < 500 ? 110 : 220);
export const nameAxis = (): Plot.Markish =>
  Plot.axisY({
    label: null,
    tickSize: 0,
    lineWidth: (nameMargin() - 16) / 14, // in em; wide letters need more than Plot expects
    textOverflow: 'ellipsis',
  });

export function chart(
  heading: string,
  description: string,
  options: Plot.PlotOptions,
): HTMLElement {
  const figure = h('figure', {}, h('figcaption', {}, heading));
  const box = h('div', { class: 'chart' });
  const drawn = Plot.plot({ width: chartWidth(), style: { background: 'none' }, ...options });
  const svg =
    drawn instanceof SVGSVGElement ? drawn : drawn.querySelector<SVGSVGElement>(':scope > svg');
  // A legend has a small drawing beside each name.
  for (const swatch of drawn.querySelectorAll('svg svg, div svg'))
    swatch.setAttribute('aria-hidden', 'true');
  // The whole chart is one image with a description. Its parts have no names of their own.
  for (const part of svg?.querySelectorAll('[aria-label], [aria-description]') ?? []) {
    part.removeAttribute('aria-label');
    part.removeAttribute('aria-description');
  }
  svg?.setAttribute('role', 'img');
  svg?.setAttribute('aria-label', `${heading}: ${description}`);
  box.appendChild(drawn);
  figure.appendChild(box);
  return figure;
}

/// Says why a chart is not drawn.
export function noChart(heading: string, reason: string): HTMLElement {
  return h('figure', {}, h('figcaption', {}, heading), h('p', { class: 'empty' }, reason));
}

export type Drawing<Row> = {
  heading: string;
  rows: Row[];
  empty: string; // why the chart is not drawn if there is no row
  say: (row: Row) => string; // a row in words, for readers who do not see the chart
  plot: () => Plot.PlotOptions;
};

/// Draws the rows with a heading and a description or, without a row, says why it does not.
export function chartOf<Row>({ heading, rows, empty, say, plot }: Drawing<Row>): HTMLElement {
  if (rows.length === 0) return noChart(heading, empty);
  return chart(heading, rows.map(say).join('; '), plot());
}

export { Plot };
