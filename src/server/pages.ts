import { Code } from '@connectrpc/connect';
import type { Logger } from 'pino';
import {
  cutOff,
  type HttpRequest,
  type HttpResponse,
  pathOf,
  send,
  sendJson,
  sendWrongMethod,
} from './http.js';
import type { ReadinessProbe } from './readiness.js';

/** Pages of others (dashboard, MCP). Says whether it took the request; if not, the server answers 404. */
export type ExtraPages = (req: HttpRequest, res: HttpResponse) => boolean | Promise<boolean>;

/** What {@link createPages} shows. */
export interface PageSources {
  readiness: ReadinessProbe;
  metrics: () => Promise<{ contentType: string; body: string }>;
  extra: ExtraPages | undefined;
  log: Logger;
}

type Page = (req: HttpRequest, res: HttpResponse) => Promise<void>;

/**
 * The plain HTTP side of the port: `/healthz`, `/readyz`, `/metrics`, then the pages of others, then 404.
 * The returned handler never throws.
 */
export function createPages({ readiness, metrics, extra, log }: PageSources): Page {
  const pages = new Map<string, Page>([
    ['/healthz', async (req, res) => sendJson(req, res, 200, { status: 'ok' })],
    [
      '/readyz',
      async (req, res) => {
        const answer = await readiness.check();
        if (answer.ok) sendJson(req, res, 200, { status: 'ready' });
        else sendJson(req, res, 503, { status: 'not ready', reason: answer.reason });
      },
    ],
    [
      '/metrics',
      async (req, res) => {
        const { contentType, body } = await metrics();
        send(req, res, 200, contentType, body);
      },
    ],
  ]);

  async function answer(req: HttpRequest, res: HttpResponse): Promise<void> {
    const page = pages.get(pathOf(req));
    if (!page) {
      if (!(await extra?.(req, res))) sendNotFound(req, res, [...pages.keys()]);
    } else if (req.method === 'GET' || req.method === 'HEAD') {
      await page(req, res);
    } else {
      sendWrongMethod(req, res, ['GET', 'HEAD']);
    }
  }

  return async (req, res) => {
    try {
      await answer(req, res);
    } catch (err) {
      log.error({ err, method: req.method, path: pathOf(req) }, 'a page failed');
      if (res.headersSent) cutOff(res);
      else sendJson(req, res, 500, { code: 'internal', message: 'internal error' });
    }
  };
}

function sendNotFound(req: HttpRequest, res: HttpResponse, pages: readonly string[]): void {
  const message = `nothing is served at ${pathOf(req).slice(0, 200)}`;
  if (req.headers['content-type']?.startsWith('application/grpc')) {
    // To gRPC a call that does not exist is a status in the headers of a 200, not an HTTP error.
    res.setHeader('content-type', req.headers['content-type']);
    res.setHeader('grpc-status', Code.Unimplemented);
    res.setHeader('grpc-message', encodeURI(message));
    res.end();
    return;
  }
  sendJson(req, res, 404, {
    code: 'unimplemented',
    message,
    pages,
    rpcs: 'POST /package.Service/Method over Connect, gRPC or gRPC-Web; list them by gRPC reflection',
  });
}
