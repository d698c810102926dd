// Counts tokens with a real tokenizer (o200k). Reads lines of JSON strings and writes lines of numbers.
// The packages are in ASSAY_NODE_DIR.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const { countTokens } = createRequire(process.env.ASSAY_NODE_DIR + '/')('gpt-tokenizer/encoding/o200k_base');
for await (const line of createInterface({ input: process.stdin })) console.log(countTokens(JSON.parse(line), { disallowedSpecial: new Set() }));
