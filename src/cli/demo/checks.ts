import { isDeepStrictEqual } from 'node:util';

/** Something that was told, and whether it was so. */
export interface Check {
  readonly what: string;
  readonly ok: boolean;
  readonly expected: string;
  readonly actual: string;
}

/** A scene can't go on: what it needs did not happen. Its check is recorded. */
export class Deviation extends Error {
  override readonly name = 'Deviation';
}

/** Compares what happened with what was told. */
export class Checks {
  readonly list: Check[] = [];

  /** Records whether the two are the same. */
  equal<Value>(what: string, actual: Value, expected: Value): boolean {
    const ok = isDeepStrictEqual(actual, expected);
    this.list.push({ what, ok, expected: say(expected), actual: say(actual) });
    return ok;
  }

  /** Records that something is there, and returns it. Throws a Deviation when it is not. */
  present<Value>(what: string, value: Value | undefined): Value {
    this.equal(what, value === undefined ? 'nothing' : 'there', 'there');
    if (value === undefined) throw new Deviation(what);
    return value;
  }

  /** Records what went wrong altogether. */
  failed(what: string, actual: string): void {
    this.list.push({ what, ok: false, expected: 'no error', actual });
  }

  get ok(): boolean {
    return this.list.every((check) => check.ok);
  }
}

function say(value: unknown): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(value, (_key, part) => (typeof part === 'bigint' ? String(part) : part)) ?? 'nothing';
}
