// The roofline of a submission: achieved rate against arithmetic intensity, below the peaks.
import { chart, Plot } from './charts';
import { h, section } from './dom';
import type { Details, Roofline, Verdict } from './types';

type Point = { name: string; intensity: number; rate: number };

/// Returns the peaks of the newest profile of the attempt. Only profiles know them.
function peaksOf(details: Details): Roofline | undefined {
  return details.calls
    .map((call) => call.verdict?.profile?.roofline)
    .filter((found) => found !== undefined)
    .pop();
}

export function roofline(details: Details, verdict: Verdict): HTMLElement | null {
  const points: Point[] = verdict.cases
    .filter((record) => record.latency && record.cost_bytes > 0 && record.cost_flops > 0)
    .map((record) => ({
      name: record.id,
      intensity: record.cost_flops / record.cost_bytes,
      rate: record.cost_flops / record.latency!.median_ns, // flops per ns = Gflop/s
    }));
  if (points.length === 0) return null;
  const peaks = peaksOf(details);
  const advice = details.calls
    .map((call) => call.verdict?.profile)
    .filter(Boolean)
    .pop();
  const low = Math.min(...points.map((point) => point.intensity)) / 4;
  const high = Math.max(...points.map((point) => point.intensity)) * 4;
  const roof = peaks
    ? [low, peaks.flops_per_s / peaks.bytes_per_s, high]
        .filter((x) => x >= low && x <= high)
        .sort((one, other) => one - other)
        .map((x) => ({ x, y: Math.min(peaks.flops_per_s, peaks.bytes_per_s * x) / 1e9 }))
    : [];
  const said = points.map(
    (p) => `${p.name} ${p.rate.toFixed(1)} Gflop/s at ${p.intensity.toFixed(2)} flop/byte`,
  );
  return section(
    'Roofline',
    chart('Achieved rate against arithmetic intensity', said.join('; '), {
      height: 320,
      marginLeft: 70,
      x: { type: 'log', domain: [low, high], label: 'flop / byte', tickFormat: '~s' },
      y: { type: 'log', label: 'Gflop/s', grid: true, tickFormat: '~s' },
      marks: [
        roof.length > 0 ? Plot.lineY(roof, { x: 'x', y: 'y', stroke: 'var(--b)' }) : null,
        Plot.dot(points, { x: 'intensity', y: 'rate', fill: 'var(--a)', r: 5 }),
        Plot.text(points, { x: 'intensity', y: 'rate', text: 'name', dy: -10, fill: 'var(--ink)' }),
      ],
    }),
    peaks
      ? h('p', {}, `Peaks of ${peaks.unit}: ${peaks.source}.`)
      : h('p', {}, 'The roof is not drawn, because the attempt has no profile.'),
    advice
      ? h('p', {}, `Profile: bound by ${advice.bound}. ${advice.reason} ${advice.suggestion}`)
      : null,
  );
}
