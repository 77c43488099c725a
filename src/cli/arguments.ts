import { InvalidArgumentError } from 'commander';

/** Reads a whole number of at least `min`. */
export function integer(min: number, max = 2 ** 31 - 1): (text: string) => number {
  return (text) => {
    const value = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) {
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}

/** Reads a fencing token. */
export function fencingToken(text: string): bigint {
  const token = /^\d{1,19}$/.test(text) ? BigInt(text) : 0n;
  if (token < 1n || token >= 2n ** 63n) throw new InvalidArgumentError('It must be a whole number from 1.');
  return token;
}

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Reads a length of time such as `90s`, `15m`, `1.5h`, `250ms` or `90` (seconds), in milliseconds. */
export function milliseconds(text: string): number {
  const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? [];
  const value = Number(number) * unitMs[unit as keyof typeof unitMs];
  if (!(value <= 315_576_000_000_000)) {
    throw new InvalidArgumentError('It must be a length of time, such as 90s, 15m or 2h.');
  }
  return Math.round(value);
}

/** Reads one of an enum's names, in any case and with `-` for `_`. */
export function enumValue<Value extends number>(
  values: Record<string, string | Value>,
): (text: string) => Value {
  const names = Object.keys(values).filter((name) => Number.isNaN(Number(name)) && name !== 'UNSPECIFIED');
  return (text) => {
    const name = text.toUpperCase().replaceAll('-', '_');
    if (!names.includes(name)) {
      throw new InvalidArgumentError(
        `It must be one of ${names.map((known) => known.toLowerCase()).join(', ')}.`,
      );
    }
    return values[name] as Value;
  };
}

/** Makes an option's parser gather the values of all its uses. */
export function each<Value>(parse: (text: string) => Value): (text: string, before?: Value[]) => Value[] {
  return (text, before = []) => [...before, parse(text)];
}

/** An option's value as it is. */
export function asGiven(text: string): string {
  return text;
}
