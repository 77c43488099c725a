/**
 * Makes a statement's text once for each shape: the parts that a batch needs. The same shape has the very same text, so
 * that it is put together once, and Postgres plans it once a connection.
 */
export function textByShape<Shape extends { readonly [part in keyof Shape]: boolean }>(
  write: (shape: Shape) => string,
): (shape: Shape) => string {
  const texts = new Map<string, string>();
  return (shape) => {
    const key = Object.values(shape).map(Number).join('');
    const text = texts.get(key) ?? write(shape);
    texts.set(key, text);
    return text;
  };
}
