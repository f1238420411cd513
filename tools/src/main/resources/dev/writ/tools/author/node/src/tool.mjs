// Each operation is an exported function of its name: it takes the input and gives the output.

export function count(input, context) {
  const { text } = input;
  return {
    lines: text.split('\n').length - 1,
    words: text.split(/\s+/u).filter(Boolean).length,
    characters: [...text].length,
  };
}
