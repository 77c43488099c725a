import { type Import, importsOf, isCode, type SourceFile } from './source-files.js';

/** What the files below some paths may import. A path that ends in a slash means everything below it. */
interface Layer {
  readonly files: readonly string[];
  /** Other files than those of the layer itself. */
  readonly mayImport: readonly string[];
  /** Packages, of those that say something about the layer: see {@link TELLING}. */
  readonly mayUse: readonly string[];
}

const WIRE = ['@holdfast/proto', '@bufbuild/protobuf', '@connectrpc/connect', '@connectrpc/connect-node'];

/** The arrows of the architecture. The first layer that a file belongs to counts. */
const LAYERS: readonly Layer[] = [
  { files: ['src/domain/'], mayImport: [], mayUse: [] },
  { files: ['src/cluster/'], mayImport: [], mayUse: ['postgres'] },
  {
    files: ['src/store/'],
    mayImport: ['src/domain/', 'src/cluster/database-url.ts', 'src/package-file.ts'],
    mayUse: ['postgres', 'drizzle-orm'],
  },
  { files: ['src/feed/'], mayImport: ['src/store/', 'src/domain/'], mayUse: [] },
  { files: ['src/metrics.ts'], mayImport: ['src/domain/'], mayUse: [] },
  {
    files: ['src/rpc/'],
    mayImport: ['src/store/', 'src/feed/', 'src/domain/', 'src/metrics.ts'],
    mayUse: WIRE,
  },
  {
    files: ['src/server.ts', 'src/server/'],
    mayImport: [
      'src/rpc/health.ts',
      'src/rpc/reflection.ts',
      'src/rpc/peer-certificate.ts',
      'src/package-file.ts',
      'src/rpc/tail.ts',
    ],
    mayUse: ['@bufbuild/protobuf', '@connectrpc/connect', '@connectrpc/connect-node'],
  },
  { files: ['src/tracing.ts'], mayImport: [], mayUse: [] },
  { files: ['src/package-file.ts', 'src/default-data-dir.ts'], mayImport: [], mayUse: [] },
  { files: ['src/config.ts'], mayImport: ['src/domain/', 'src/default-data-dir.ts'], mayUse: [] },
  // What puts the parts together.
  { files: ['src/owner.ts', 'src/sign-in.ts', 'src/person-token.ts'], mayImport: ['src/'], mayUse: [] },
  { files: ['src/sign-in-codes.ts'], mayImport: [], mayUse: [] },
  { files: ['src/service.ts'], mayImport: ['src/'], mayUse: ['@connectrpc/connect'] },
  {
    files: ['src/mcp-endpoint.ts'],
    mayImport: [],
    mayUse: ['@connectrpc/connect', '@holdfast/client', '@holdfast/mcp'],
  },
  // The commands that are a server, or work on its database.
  {
    files: ['src/cli/serve.ts', 'src/cli/serve/', 'src/cli/admin/', 'src/cli/dashboard.ts'],
    mayImport: ['src/'],
    mayUse: ['@holdfast/client'],
  },
  {
    files: ['src/cli/'],
    mayImport: ['src/default-data-dir.ts', 'src/package-file.ts'],
    mayUse: [...WIRE, '@holdfast/client', '@holdfast/mcp'],
  },
  { files: ['src/main.ts'], mayImport: ['src/cli/', 'src/package-file.ts'], mayUse: [] },
  { files: ['gen/ts/'], mayImport: [], mayUse: ['@bufbuild/protobuf'] },
  {
    files: ['clients/typescript/'],
    mayImport: [],
    mayUse: [...WIRE, '@connectrpc/connect-web', '#platform'],
  },
  {
    files: ['clients/mcp/'],
    mayImport: [],
    mayUse: ['@holdfast/client', '@holdfast/proto', '@bufbuild/protobuf'],
  },
  {
    files: ['clients/dashboard/'],
    mayImport: [],
    mayUse: [
      '@holdfast/client',
      '@holdfast/proto',
      '@bufbuild/protobuf',
      '@connectrpc/connect',
      '@connectrpc/connect-web',
    ],
  },
];

/** Packages that only some layers may know. Any other package is everybody's, but for the domain. */
const TELLING = ['postgres', 'drizzle-orm', 'holdfast'];
const TELLING_SCOPES = ['@holdfast/', '@bufbuild/', '@connectrpc/'];

const tells = (name: string) =>
  TELLING.includes(name) || TELLING_SCOPES.some((scope) => name.startsWith(scope));

const isIn = (path: string, places: readonly string[]) =>
  places.some((place) => (place.endsWith('/') ? path.startsWith(place) : path === place));

/** The imports that the architecture forbids, each as one sentence. */
export function forbiddenImports(files: readonly SourceFile[]): string[] {
  return files.filter(isCode).flatMap((file) => {
    const layer = LAYERS.find(({ files }) => isIn(file.path, files));
    if (!layer) return [`${file.path} belongs to no layer: say in rules.ts what it may import`];
    return importsOf(file)
      .filter((found) => !isAllowed(found, layer))
      .map(({ from, to }) => `${from} must not import ${to}`);
  });
}

function isAllowed({ to, kind }: Import, layer: Layer): boolean {
  if (kind === 'file') return isIn(to, layer.files) || isIn(to, layer.mayImport);
  if (layer.files.includes('src/domain/')) return false;
  return !tells(to) || layer.mayUse.includes(to);
}

const SQL_TAG = /\bsql(?:<[^`]*?>)?`|\.unsafe\(/;
const SQL_TEXT =
  /['"`]\s*(?:select\s[^'"`]*\sfrom\s|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|with\s+\w+\s+as\s*\(|(?:create|alter|drop)\s+(?:table|index|function|database|role)\s)/i;

/** Files outside the store that hold SQL. The cluster makes the database in which the store lives. */
export function sqlOutsideStore(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => !isIn(path, ['src/store/', 'src/cluster/cluster.ts']))
    .filter((file) => file.path.endsWith('.sql') || (isCode(file) && holdsSql(file.text)))
    .map(({ path }) => path);
}

const holdsSql = (text: string) => SQL_TAG.test(text) || SQL_TEXT.test(text);

const LONGEST = 400;

/** Files that are too long to hold one idea. */
export function tooLong(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => isCode(file) && file.text.split('\n').length > LONGEST)
    .map(({ path }) => path);
}

const KEBAB = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*$/;
const SAYS_NOTHING = /(?:^|[-./])(?:utils?|helpers?|commons?|managers?|misc|shared|stuff)(?:[-./]|$)/;

/** Files whose names are not kebab-case or say nothing. */
export function badNames(files: readonly SourceFile[]): string[] {
  return files
    .filter(isCode)
    .map(({ path }) => path)
    .filter((path) => !path.split('/').every((part) => KEBAB.test(part)) || SAYS_NOTHING.test(path));
}
