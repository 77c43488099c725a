import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Holdfast,
  type WatchConnection,
  type WatchNews,
  type WatchOptions,
  watch,
} from '@holdfast/client';

/** What happened in one of several projects. */
export interface ProjectNews {
  readonly project: string;
  readonly news: WatchNews;
}

/** New projects are looked for so often. In ms. */
const LOOK_EVERY_MS = 500;
const PAGE = 1_000;

/**
 * Watches every project that the caller can list, those too that are created meanwhile. Others than the owner see their own alone.
 *
 * @throws what one of the watches throws
 */
export async function* watchProjects(
  holdfast: Holdfast,
  options: Omit<WatchOptions, 'project' | 'resumeAfter' | 'signal'> & { signal: AbortSignal },
): AsyncGenerator<ProjectNews> {
  const waiting: ProjectNews[] = [];
  const connected = worst(options.onConnection);
  const seen = new Set<string>();
  let wake = () => {};
  let failure: { error: unknown } | undefined;
  const fail = (error: unknown) => {
    failure ??= { error };
    wake();
  };

  const follow = async (project: string) => {
    const onConnection = (connection: WatchConnection) => connected(project, connection);
    for await (const news of watch(holdfast, { ...options, project, onConnection })) {
      waiting.push({ project, news });
      wake();
    }
  };
  const look = async () => {
    for (const project of await allProjects(holdfast)) {
      if (seen.has(project)) continue;
      seen.add(project);
      follow(project).catch(fail);
    }
  };
  const keepLooking = async () => {
    for (;;) {
      await sleep(LOOK_EVERY_MS, undefined, { signal: options.signal });
      // When the server is away, the watches tell it, and a later look succeeds.
      await look().catch(() => {});
    }
  };

  // The first look tells what is wrong with the server's address or the token.
  await look();
  keepLooking().catch(() => {});
  options.signal.addEventListener('abort', () => wake(), { once: true });
  while (!options.signal.aborted) {
    if (failure) throw failure.error;
    yield* waiting.splice(0);
    if (waiting.length > 0 || failure || options.signal.aborted) continue;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}

/** Watches one project; empty: the token's. */
export async function* watchProject(
  holdfast: Holdfast,
  project: string,
  options: Omit<WatchOptions, 'project'>,
): AsyncGenerator<ProjectNews> {
  for await (const news of watch(holdfast, { ...options, project })) yield { project, news };
}

async function allProjects(holdfast: Holdfast): Promise<string[]> {
  const ids: string[] = [];
  let pageToken = '';
  do {
    const { projects, nextPageToken } = await holdfast.projects.listProjects({ pageSize: PAGE, pageToken });
    ids.push(...projects.map(({ id }) => id));
    pageToken = nextPageToken;
  } while (pageToken !== '');
  return ids;
}

/** Several connections told as one: lost when the first is, live when the last is again. */
function worst(tell: WatchOptions['onConnection'] = () => {}) {
  const lost = new Set<string>();
  return (project: string, connection: WatchConnection) => {
    if (connection.state === 'waiting') {
      if (lost.size === 0) tell(connection);
      lost.add(project);
    } else if (connection.state === 'live') {
      lost.delete(project);
      if (lost.size === 0) tell(connection);
    }
  };
}
