/** A text without what differs from run to run: ids, instants, spans, secrets, the width of columns. */
export function plain(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replaceAll(/hf_[\w-]+/g, 'TOKEN')
    .replaceAll(/(?<![\w-])[\w-]{22}(?![\w-])/g, 'LEASE')
    .replaceAll(/\d{4}-\d\d-\d\d[ T][\d:.]+Z/g, 'INSTANT')
    .replaceAll(/\d{4}-\d\d-\d\d(?: \d\d:\d\d UTC)?/g, 'DAY')
    .replaceAll(/\b\d+ (?:min|s)\b(?: \d+ s)?/g, 'SPAN')
    .replaceAll(/\b\d+[ms](?: \d+s)?\b/g, 'SPAN')
    .replaceAll(/ +/g, ' ')
    .trim();
}

/**
 * Where the answers that a document shows are unlike the real ones: one line each. A shown answer may leave
 * fields out, never have others; names of enum values must agree, of other values only the types.
 */
export function misfits(shown: string, real: string): string[] {
  const [documented, actual] = [shown, real].map(jsonDocuments);
  if (documented?.length !== actual?.length) {
    return [`${documented?.length} answers are shown, ${actual?.length} came`];
  }
  return (documented ?? []).flatMap((one, at) => compare(one, actual?.[at], '$'));
}

/** JSON documents one after the other, each beginning in a new line. */
function jsonDocuments(text: string): unknown[] {
  return text
    .trim()
    .split(/\n(?=\{)/)
    .map((one) => JSON.parse(one));
}

const ENUM_VALUE = /^[A-Z]+(?:_[A-Z]+)+$/;

function compare(shown: unknown, real: unknown, path: string): string[] {
  if (Array.isArray(shown)) {
    if (!Array.isArray(real)) return [`${path} is no list`];
    return shown.flatMap((one, at) => compare(one, real[at], `${path}[${at}]`));
  }
  if (typeof shown === 'object' && shown !== null) {
    if (typeof real !== 'object' || real === null) return [`${path} is not there`];
    return Object.entries(shown).flatMap(([key, value]) =>
      compare(value, (real as Record<string, unknown>)[key], `${path}.${key}`),
    );
  }
  if (typeof shown !== typeof real) return [`${path} is ${JSON.stringify(real)}`];
  const named = typeof shown === 'string' && ENUM_VALUE.test(shown);
  return named && shown !== real ? [`${path} is ${JSON.stringify(real)}, not ${shown}`] : [];
}
