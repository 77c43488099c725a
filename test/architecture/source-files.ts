import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root. */
const root = fileURLToPath(new URL('../../', import.meta.url));

/** One file, by its path from the root with slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

const NOT_OURS = new Set(['node_modules', 'dist', '__pycache__', '.venv']);

/** The files below some folders of the repository, those that it has, without what is installed or built. */
export function filesBelow(...folders: readonly string[]): SourceFile[] {
  const there = folders.filter((folder) => existsSync(join(root, folder)));
  return there.flatMap((folder) =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry): SourceFile[] => {
      const path = posix.join(folder, entry.name);
      if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : filesBelow(path);
      return entry.isFile() ? [{ path, text: readFileSync(join(root, path), 'utf8') }] : [];
    }),
  );
}

export const isCode = ({ path }: SourceFile): boolean => /\.[cm]?[jt]sx?$/.test(path);

/** One import, re-export or dynamic import: of a file (by its path from the root) or of a package. */
export interface Import {
  readonly from: string;
  readonly to: string;
  readonly kind: 'file' | 'package';
}

// Statements begin a line, as the formatter has it; what follows up to the quotes holds no other quote.
const STATEMENT = /^(?:import|export)\b(?:[^'"`;]*?\bfrom)?\s*['"]([^'"\n]+)['"]/gm;
const DYNAMIC = /\b(?:import|require)\(\s*['"`]([^'"`\n]+)['"`]/g;
const COMMENTS = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm;

/** Everything that a file imports, types included. */
export function importsOf({ path, text }: SourceFile): Import[] {
  const code = text.replace(COMMENTS, '');
  const named = [...code.matchAll(STATEMENT), ...code.matchAll(DYNAMIC)].map((match) => match[1] ?? '');
  return named.map((name) =>
    name.startsWith('.')
      ? { from: path, to: sourceOf(posix.join(posix.dirname(path), name)), kind: 'file' }
      : { from: path, to: packageOf(name), kind: 'package' },
  );
}

/** TypeScript sources are imported by the name of what is built from them, those with JSX too. */
function sourceOf(path: string): string {
  const source = path.replace(/\.js$/, '.ts');
  return existsSync(join(root, `${source}x`)) ? `${source}x` : source;
}

function packageOf(name: string): string {
  const [scope, rest] = name.split('/');
  return name.startsWith('@') ? `${scope}/${rest}` : (scope ?? name);
}

/** The files of one circle of imports, or undefined when there is none. */
export function findCycle(imports: readonly Import[]): string[] | undefined {
  const next = new Map<string, string[]>();
  for (const { from, to, kind } of imports) {
    if (kind === 'file') next.set(from, [...(next.get(from) ?? []), to]);
  }
  const done = new Set<string>();
  const visit = (file: string, trail: string[]): string[] | undefined => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const to of next.get(file) ?? []) {
      const cycle = visit(to, [...trail, file]);
      if (cycle) return cycle;
    }
    done.add(file);
    return undefined;
  };
  for (const file of next.keys()) {
    const cycle = visit(file, []);
    if (cycle) return cycle;
  }
  return undefined;
}
