/**
 * The driver counts the rows of a result for the whole connection, and goes on counting where a statement failed that
 * had already answered some: the next statement's result then begins with holes, and its first row is not found. This
 * hands out results without them. https://github.com/porsager/postgres/issues/1181
 */
export function withDenseRows<Sql extends CallableFunction>(sql: Sql): Sql {
  return new Proxy(sql, {
    apply: (target, self, args) => mended(Reflect.apply(target, self, args)),
    get(target, name) {
      const value = Reflect.get(target, name) as CallableFunction;
      if (name === 'unsafe') return (...args: unknown[]) => mended(Reflect.apply(value, target, args));
      if (name !== 'begin') return value;
      return (...args: unknown[]) => {
        const work = args.pop() as (transaction: Sql) => unknown;
        return Reflect.apply(value, target, [...args, (inner: Sql) => work(withDenseRows(inner))]);
      };
    },
  });
}

/** A statement, or anything else that the driver's function makes: a fragment, an identifier. */
function mended(made: { resolve?: (result: unknown) => void }): unknown {
  const { resolve } = made;
  if (typeof resolve === 'function') {
    made.resolve = (result) => {
      for (const rows of Array.isArray(result) && Array.isArray(result[0]) ? result : [result])
        closeHoles(rows);
      resolve(result);
    };
  }
  return made;
}

function closeHoles(rows: unknown): void {
  if (!Array.isArray(rows) || rows.length === 0 || 0 in rows) return;
  const first = rows.findIndex((_, i) => i in rows);
  rows.copyWithin(0, first);
  rows.length -= first;
}
