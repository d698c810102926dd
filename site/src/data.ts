// Loads the parts of the data. In a folder, each part is a script that calls `assayData` with a
// JSON text. In a page that is a single file, all parts are in one element of type JSON. In both
// cases the texts go through JSON.parse, which runs nothing. A server answers with the JSON texts.
import { isLive, readJson } from './live';
import type { Attempt, Details, Index, Spec } from './types';

type TrustedPolicy = { createScriptURL(url: string): string };
type TrustedFactory = {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): TrustedPolicy;
};

const PART = /^[a-z]+(-[0-9]+)?$/;
const inline = new Map<string, string>();
const loads = new Map<string, Promise<unknown>>();
const waiting = new Map<string, (json: string) => void>();
let parts: Map<number, Promise<Attempt[]>> = new Map();
let index: Index | null = null;

const factory = (window as { trustedTypes?: TrustedFactory }).trustedTypes;
const rules = {
  createScriptURL(url: string): string {
    if (!/^data\/[a-z]+(-[0-9]+)?\.js$/.test(url)) throw new Error(`not a part: ${url}`);
    return url;
  },
};
const policy: TrustedPolicy = factory ? factory.createPolicy('assay-data', rules) : rules;

/// Takes what scripts of parts hand over.
export function listen(): void {
  const store = document.getElementById('assay-data');
  if (store) {
    const all = JSON.parse(store.textContent ?? '{}') as Record<string, string>;
    for (const name of Object.keys(all)) inline.set(name, all[name]!);
  }
  (window as unknown as Record<string, unknown>)['assayData'] = (name: string, json: string) => {
    waiting.get(name)?.(json);
    waiting.delete(name);
  };
}

function load<T>(name: string): Promise<T> {
  if (!PART.test(name)) return Promise.reject(new Error(`not a part: ${name}`));
  const known = loads.get(name);
  if (known) return known as Promise<T>;
  if (isLive()) {
    const part = readJson(`data/${index!.live!.snapshot}/${name}`);
    loads.set(name, part);
    return part as Promise<T>;
  }
  const text = inline.get(name);
  const found = new Promise<T>((resolve, reject) => {
    if (inline.size > 0) {
      if (text === undefined) reject(new Error(`the page has no part ${name}`));
      else resolve(JSON.parse(text) as T);
      return;
    }
    waiting.set(name, (json) => resolve(JSON.parse(json) as T));
    const script = document.createElement('script');
    script.addEventListener('error', () => reject(new Error(`data/${name}.js is missing`)));
    script.src = policy.createScriptURL(`data/${name}.js`);
    document.head.appendChild(script);
  });
  loads.set(name, found);
  return found;
}

export async function loadIndex(): Promise<Index> {
  if (isLive()) {
    index = (await readJson('data/index')) as Index;
    loads.clear();
    parts = new Map();
  } else {
    index = await load<Index>('index');
  }
  if (index.format !== 'assay.site/1') throw new Error(`unknown format ${index.format}`);
  return index;
}

export const loadSpecs = (suite: number): Promise<Spec[]> => load<Spec[]>(`specs-${suite}`);

export async function loadDetails(attempt: Attempt): Promise<Details> {
  const entries = await load<Details[]>(`details-${attempt.details_part}`);
  return entries[attempt.details_entry]!;
}

/// Returns the attempts of one part.
function loadPart(part: number): Promise<Attempt[]> {
  const known = parts.get(part);
  if (known) return known;
  const columns = index!.attempt_columns;
  const first = index!.attempt_parts.slice(0, part).reduce((sum, count) => sum + count, 0);
  const found = load<unknown[][]>(`attempts-${part}`).then((rows) =>
    rows.map((row, at) => {
      const attempt: Record<string, unknown> = { number: first + at };
      for (let i = 0; i < columns.length; ++i) attempt[columns[i]!] = row[i] ?? null;
      return attempt as Attempt;
    }),
  );
  parts.set(part, found);
  return found;
}

/// Returns the attempts with the numbers from `first` to `first + count - 1`.
export async function loadAttempts(first: number, count: number): Promise<Attempt[]> {
  let begin = 0;
  const found: Attempt[] = [];
  for (let part = 0; part < index!.attempt_parts.length; ++part) {
    const end = begin + index!.attempt_parts[part]!;
    if (end > first && begin < first + count) {
      const attempts = await loadPart(part);
      found.push(...attempts.slice(Math.max(0, first - begin), first + count - begin));
    }
    begin = end;
  }
  return found;
}

export async function loadAllAttempts(): Promise<Attempt[]> {
  const all = await Promise.all(index!.attempt_parts.map((_, part) => loadPart(part)));
  return all.flat();
}

export const attemptCount = (): number =>
  index!.attempt_parts.reduce((sum, count) => sum + count, 0);
