const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|\n/g;

/** The line on which each object of a JSON text begins, by the way to it: `master.tasks.0`. The text must be valid. */
export function objectLines(text: string): Map<string, number> {
  const lines = new Map<string, number>();
  const path: { name: string | number; isList: boolean }[] = [];
  let line = 1;
  let word = '';
  for (const [token] of text.matchAll(TOKEN)) {
    const inside = path.at(-1);
    if (token === '\n') line++;
    else if (token === '{' || token === '[') {
      if (token === '{') lines.set(path.map(({ name }) => name).join('.'), line);
      path.push({ name: token === '[' ? 0 : '', isList: token === '[' });
    } else if (token === '}' || token === ']') path.pop();
    else if (token === ':' && inside) inside.name = JSON.parse(word) as string;
    else if (token === ',' && inside?.isList) inside.name = Number(inside.name) + 1;
    else word = token;
  }
  return lines;
}

/** Reads a JSON text. The error tells the line as far as the engine does. */
export function parseJson(text: string): { value: unknown } | { line: number; message: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    const { message } = error as Error;
    const position = /position (\d+)/.exec(message)?.[1];
    const before = position === undefined ? text : text.slice(0, Number(position));
    return { line: before.split('\n').length, message: `this is not JSON: ${message}` };
  }
}
