// Compares two texts line by line (Myers, "An O(ND) Difference Algorithm and Its Variations").

export type Edit = { kind: 'same' | 'removed' | 'added'; text: string };

const EDITS = 2_000; // texts with more differences are shown as replaced as a whole

export function diffLines(before: string, after: string): Edit[] {
  const a = before.split('\n');
  const b = after.split('\n');
  const most = Math.min(a.length + b.length, EDITS);
  const trace: Map<number, number>[] = [];
  let reach = new Map<number, number>([[1, 0]]);
  for (let edits = 0; edits <= most; ++edits) {
    trace.push(new Map(reach));
    for (let k = -edits; k <= edits; k += 2) {
      const down =
        k === -edits || (k !== edits && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
      let x = down ? (reach.get(k + 1) ?? 0) : (reach.get(k - 1) ?? 0) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        ++x;
        ++y;
      }
      reach.set(k, x);
      if (x >= a.length && y >= b.length) return walkBack(a, b, trace);
    }
    reach = new Map(reach);
  }
  return [
    ...a.map((text): Edit => ({ kind: 'removed', text })),
    ...b.map((text): Edit => ({ kind: 'added', text })),
  ];
}

function walkBack(a: string[], b: string[], trace: Map<number, number>[]): Edit[] {
  const edits: Edit[] = [];
  let x = a.length;
  let y = b.length;
  for (let step = trace.length - 1; step >= 0; --step) {
    const reach = trace[step]!;
    const k = x - y;
    const down = k === -step || (k !== step && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
    const from = down ? k + 1 : k - 1;
    const fromX = step === 0 ? 0 : (reach.get(from) ?? 0);
    const fromY = step === 0 ? 0 : fromX - from;
    while (x > fromX && y > fromY) edits.push({ kind: 'same', text: a[(--x, --y, x)]! });
    if (step === 0) break;
    if (down) edits.push({ kind: 'added', text: b[--y]! });
    else edits.push({ kind: 'removed', text: a[--x]! });
  }
  return edits.reverse();
}
