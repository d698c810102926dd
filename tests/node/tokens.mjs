// Counts tokens with a real tokenizer (o200k): lines of JSON strings in, lines of numbers out. Packages are found in ASSAY_NODE_DIR.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const { countTokens } = createRequire(process.env.ASSAY_NODE_DIR + '/')('gpt-tokenizer/encoding/o200k_base');
for await (const line of createInterface({ input: process.stdin })) console.log(countTokens(JSON.parse(line), { disallowedSpecial: new Set() }));
