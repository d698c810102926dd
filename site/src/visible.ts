// Shows characters that hide or reorder others. A submission could use them to make a source or a
// name look like another one.

// The characters that escape_text() in base/text.cc escapes: controls, invisible and bidirectional
// characters, separators of lines, and annotations.
const ESCAPED = /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;

/// Returns the text with a number in place of each such character, as escape_text() does. Line feeds
/// and tabs stay.
export function visible(text: string): string {
  return text.replace(ESCAPED, (character) => {
    if (character === '\n' || character === '\t') return character;
    const code = character.codePointAt(0) ?? 0;
    const digits = code.toString(16);
    return code < 0xa0 ? `\\x${digits.padStart(2, '0')}` : `\\u{${digits.padStart(4, '0')}}`;
  });
}

/// The same on one line, as escape_line() does.
export function oneLine(text: string): string {
  return visible(text.replace(/\r\n|[\n\t]/g, ' '));
}
