// Formats numbers for people.
import type { Estimate } from './types';

export const NONE = '–';

export type Unit = 'share' | 'ratio' | 'error' | 'dollars' | 'count' | 'ns';

export function number(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE;
  switch (unit) {
    case 'share':
      return `${(100 * value).toFixed(1)} %`;
    case 'ratio':
      return value.toFixed(3);
    case 'error':
      return value.toPrecision(2);
    case 'dollars':
      return `$${value.toFixed(value < 1 ? 4 : 2)}`;
    case 'count':
      return value.toLocaleString('en-US');
    case 'ns':
      if (value < 1e3) return `${value.toFixed(0)} ns`;
      return value < 1e6 ? `${(value / 1e3).toFixed(2)} µs` : `${(value / 1e6).toFixed(3)} ms`;
  }
}

/// Returns "50.0 % (28.0 to 72.0)".
export function withInterval(estimate: Estimate | undefined, unit: Unit): string {
  if (!estimate) return NONE;
  const text = number(estimate.value, unit);
  if (!estimate.interval) return text;
  const [low, high] = estimate.interval;
  const scale = unit === 'share' ? 100 : 1;
  const digits = unit === 'share' ? 1 : 2;
  return `${text} (${(scale * low).toFixed(digits)} to ${(scale * high).toFixed(digits)})`;
}

export function date(unixMs: number | null): string {
  if (unixMs === null || !Number.isFinite(unixMs)) return NONE;
  const at = new Date(unixMs);
  return Number.isNaN(at.getTime())
    ? NONE
    : `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

export function seconds(ms: number | null): string {
  if (ms === null) return NONE;
  return ms < 1000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/// Shortens a long name at its end. The full name belongs into a title.
export function short(text: string, characters = 48): string {
  const points = Array.from(text);
  return points.length <= characters ? text : `${points.slice(0, characters - 1).join('')}…`;
}
