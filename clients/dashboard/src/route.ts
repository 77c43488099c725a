import { useSyncExternalStore } from 'react';

/** Where in the dashboard somebody is: kept in the fragment, which no server sees. */
export type Route =
  | { readonly page: 'sign-in'; readonly code: string }
  | { readonly page: 'board' | 'timeline' | 'attention'; readonly project: string }
  | { readonly page: 'task'; readonly project: string; readonly taskId: string };

const pages = ['board', 'timeline', 'attention'] as const;

/** Reads a fragment such as `#/p/default/task/ID`. Whatever else stands there is the board of the token's project. */
export function parseRoute(hash: string): Route {
  const parts = hash.replace(/^#\/?/, '').split('/').map(decoded);
  if (parts[0] === 'sign-in' && parts[1]) return { page: 'sign-in', code: parts[1] };
  if (parts[0] !== 'p') return { page: 'board', project: '' };
  const [, project = '', page = '', id = ''] = parts;
  if (page === 'task' && id) return { page, project, taskId: id };
  return { page: pages.find((name) => name === page) ?? 'board', project };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const pageLink = (project: string, page: 'board' | 'timeline' | 'attention'): string =>
  `#/p/${encodeURIComponent(project)}/${page}`;

export const taskLink = (project: string, taskId: string): string =>
  `#/p/${encodeURIComponent(project)}/task/${encodeURIComponent(taskId)}`;

/** Goes somewhere, as a link would. */
export function go(link: string): void {
  location.hash = link;
}

function subscribe(changed: () => void): () => void {
  addEventListener('hashchange', changed);
  return () => removeEventListener('hashchange', changed);
}

/** The fragment, whenever it changes. */
export const useHash = (): string => useSyncExternalStore(subscribe, () => location.hash);
