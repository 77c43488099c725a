import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { packageFile } from '../package-file.js';
import { type HttpRequest, type HttpResponse, pathOf, sendWrongMethod } from './http.js';
import type { ExtraPages } from './pages.js';

/** Where `npm run build` puts the dashboard. */
const BUILT = packageFile('dist/dashboard');

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Nothing but this server's own files, and nobody's frame. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Their names change with their content. */
const isHashed = (path: string): boolean => path.startsWith('/assets/');

interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
}

/** Serves the built dashboard: its page at `/`, and the files that the page asks for. */
export function dashboardPages(folder = BUILT): ExtraPages {
  let assets: ReadonlyMap<string, Asset> | undefined;
  return (req, res) => {
    const path = pathOf(req);
    if (path !== '/' && path !== '/favicon.svg' && !isHashed(path)) return false;
    assets ??= readAssets(folder);
    const asset = assets.get(path === '/' ? '/index.html' : path);
    if (!asset) {
      // A page that is not built yet may be later.
      if (assets.size === 0) assets = undefined;
      return false;
    }
    if (req.method === 'GET' || req.method === 'HEAD') sendAsset(req, res, path, asset);
    else sendWrongMethod(req, res, ['GET', 'HEAD']);
    return true;
  };
}

function sendAsset(req: HttpRequest, res: HttpResponse, path: string, { type, plain, gzip }: Asset): void {
  const zipped = /\bgzip\b/.test(String(req.headers['accept-encoding'] ?? ''));
  const body = zipped ? gzip : plain;
  res.statusCode = 200;
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) res.setHeader(name, value);
  res.setHeader('content-type', type);
  res.setHeader('content-length', body.length);
  res.setHeader('vary', 'accept-encoding');
  res.setHeader('cache-control', isHashed(path) ? 'public, max-age=31536000, immutable' : 'no-cache');
  if (zipped) res.setHeader('content-encoding', 'gzip');
  if (req.method === 'HEAD') res.end();
  else res.end(body);
}

/** All files of the folder, by the path at which they are served. Empty when there is no such folder. */
function readAssets(folder: string): ReadonlyMap<string, Asset> {
  let names: string[];
  try {
    names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    return new Map();
  }
  return new Map(
    names.flatMap((name): [string, Asset][] => {
      const type = CONTENT_TYPES[extname(name)];
      if (!type) return [];
      const plain = readFileSync(join(folder, name));
      return [[`/${name.replaceAll('\\', '/')}`, { type, plain, gzip: gzipSync(plain) }]];
    }),
  );
}
