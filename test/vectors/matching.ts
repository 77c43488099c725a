/** JSON, as the scenarios have it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const NEAR = 0.001;

/** Where a value does not meet an expectation of a scenario: one line each. README.md says what meets what. */
export function unmet(expected: Json, actual: Json | undefined, path = '$'): string[] {
  const wrong = [`${path} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`];
  if (expected === null) return actual === undefined || actual === null ? [] : wrong;
  if (expected === '*') return actual === undefined || actual === null || actual === '' ? wrong : [];
  if (Array.isArray(expected)) {
    if (expected.length === 0 && actual === undefined) return [];
    if (!Array.isArray(actual) || actual.length !== expected.length) return wrong;
    return expected.flatMap((item, at) => unmet(item, actual[at], `${path}.${at}`));
  }
  if (typeof expected === 'object') {
    if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) return wrong;
    return Object.entries(expected).flatMap(([key, value]) => unmet(value, actual[key], `${path}.${key}`));
  }
  if (typeof expected === 'number' && typeof actual === 'number') {
    return Math.abs(expected - actual) <= NEAR ? [] : wrong;
  }
  return expected === actual ? [] : wrong;
}

/** What steps have bound, and what stands for it. */
export class Bindings {
  readonly #values = new Map<string, Json>();

  /** Gives names to the parts of an answer that lie at some paths. */
  bind(names: Record<string, string>, answer: Json): void {
    for (const [name, path] of Object.entries(names)) this.#values.set(name, at(answer, path));
  }

  /** The value with every `$name.path` in it filled in. */
  fill<Value extends Json>(value: Value): Value {
    return this.#filled(value) as Value;
  }

  #filled(value: Json): Json {
    if (typeof value === 'string' && value.startsWith('$')) {
      const [name = '', ...path] = value.slice(1).split('.');
      if (!this.#values.has(name)) throw new Error(`nothing is bound to ${name}`);
      return at(this.#values.get(name) as Json, path.join('.'));
    }
    if (Array.isArray(value)) return value.map((item) => this.#filled(item));
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, this.#filled(item)]));
    }
    return value;
  }
}

function at(value: Json, path: string): Json {
  let found: Json | undefined = value;
  for (const key of path === '' ? [] : path.split('.')) {
    found = (found as Record<string, Json> | undefined)?.[key];
    if (found === undefined) throw new Error(`there is no ${path} in ${JSON.stringify(value)}`);
  }
  return found;
}
