import { useEffect, useMemo, useState } from 'react';
import { AttentionPage } from './attention/attention-page.js';
import { InboxProvider, useInbox } from './attention/inbox.js';
import { BoardPage } from './board/board-page.js';
import { type Filter, NO_FILTER } from './board/columns.js';
import { ConnectionState } from './connection-state.js';
import { restOutOfSight } from './live/out-of-sight.js';
import { ProjectLive } from './live/project-live.js';
import { PlaceContext, usePlace } from './live/use-live.js';
import { ProjectChoice } from './project-choice.js';
import { go, pageLink, parseRoute, useHash } from './route.js';
import type { Session } from './session.js';
import { TaskPanel } from './task/task-panel.js';
import { TimelinePage } from './timeline/timeline-page.js';
import { FaultShown } from './ui/fault-shown.js';
import { Icon, type IconName } from './ui/icon.js';
import { Logo } from './ui/logo.js';
import { currentTheme, switchTheme } from './ui/theme.js';
import { Toasts } from './ui/toasts.js';
import { useShortcuts } from './use-shortcuts.js';

type Page = 'board' | 'timeline' | 'attention';

const PAGES: readonly { page: Page; title: string; icon: IconName }[] = [
  { page: 'board', title: 'Board', icon: 'board' },
  { page: 'timeline', title: 'Timeline', icon: 'timeline' },
  { page: 'attention', title: 'Attention', icon: 'bell' },
];

/** Everything around the pages. A task opens beside the page that led to it. */
export function Shell({
  session,
  onSignOut,
  onLost,
}: {
  session: Session;
  /** Its person wants to leave. */
  onSignOut: () => void;
  /** The server does not know its token any more. */
  onLost: (why: string) => void;
}) {
  const route = parseRoute(useHash());
  // Only the owner's token is good for any project, whatever the address says.
  const named = session.me.owner && route.page !== 'sign-in' ? route.project : '';
  const project = named || session.me.project;
  const taskId = route.page === 'task' ? route.taskId : undefined;
  const [page, setPage] = useState<Page>('board');
  if (route.page !== 'task' && route.page !== 'sign-in' && route.page !== page) setPage(route.page);
  const live = useProjectLive(session, project);
  useEffect(
    () =>
      live.subscribe(() => {
        const { connection } = live;
        if (connection.state === 'ended' && connection.signedOut) onLost(connection.why);
      }),
    [live, onLost],
  );
  const place = useMemo(() => ({ session, live, project }), [session, live, project]);
  const [filters, setFilters] = useState<Readonly<Record<string, Filter>>>({});
  useShortcuts(project, taskId === undefined ? undefined : () => go(pageLink(project, page)));

  return (
    <PlaceContext value={place}>
      <InboxProvider>
        <button type="button" className="skip" onClick={() => document.getElementById('main')?.focus()}>
          Skip to the content
        </button>
        <header className="bar-top">
          <span className="brand">
            <Logo /> <span className="brand-name">Holdfast</span>
          </span>
          <ProjectChoice />
          <PageLinks page={page} />
          <ConnectionState />
          <ThemeButton />
          <span className="me" title={`Signed in as ${session.me.principal}`}>
            <Icon name="person" />
            <span className="me-name">{session.me.principal}</span>
            <span className="role">{roleName(session)}</span>
          </span>
          <button
            type="button"
            className="button quiet icon-only"
            onClick={onSignOut}
            aria-label="Sign out"
            title="Sign out"
          >
            <Icon name="leave" />
          </button>
        </header>
        <main id="main" tabIndex={-1}>
          <h1 className="visually-hidden">{PAGES.find((each) => each.page === page)?.title}</h1>
          <FaultShown key={`${project} ${page}`}>
            {page === 'board' && (
              <BoardPage
                filter={filters[project] ?? NO_FILTER}
                onFilter={(filter) => setFilters((all) => ({ ...all, [project]: filter }))}
              />
            )}
            {page === 'timeline' && <TimelinePage />}
            {page === 'attention' && <AttentionPage />}
            {taskId !== undefined && (
              <TaskPanel key={taskId} taskId={taskId} closeLink={pageLink(project, page)} />
            )}
          </FaultShown>
        </main>
        <Toasts />
      </InboxProvider>
    </PlaceContext>
  );
}

function PageLinks({ page }: { page: Page }) {
  const { project } = usePlace();
  const unread = useInbox().notifications.length;
  return (
    <nav aria-label="Pages">
      {PAGES.map(({ page: each, title, icon }, at) => (
        <a
          key={each}
          href={pageLink(project, each)}
          aria-current={page === each ? 'page' : undefined}
          title={`${title} (${at + 1})`}
        >
          <Icon name={icon} />
          <span className="page-title">{title}</span>
          {each === 'attention' && unread > 0 && (
            <span className="badge">
              {unread > 99 ? '99+' : unread}
              <span className="visually-hidden"> unread</span>
            </span>
          )}
        </a>
      ))}
    </nav>
  );
}

function ThemeButton() {
  const [theme, setTheme] = useState(currentTheme);
  const other = theme === 'dark' ? 'light' : 'dark';
  return (
    <button
      type="button"
      className="button quiet icon-only theme-button"
      onClick={() => setTheme(switchTheme())}
      aria-label={`Use the ${other} theme`}
      title={`Use the ${other} theme`}
    >
      <Icon name={theme === 'dark' ? 'sun' : 'moon'} />
    </button>
  );
}

function roleName({ me, isAdmin, canWrite, hasInbox }: Session): string {
  if (me.owner) return 'owner';
  if (isAdmin) return 'admin';
  if (canWrite) return 'member';
  return hasInbox ? 'viewer' : 'agent';
}

function useProjectLive(session: Session, project: string): ProjectLive {
  const live = useMemo(() => new ProjectLive(session.holdfast, project), [session, project]);
  useEffect(() => {
    live.start();
    const stopLooking = restOutOfSight(live, document);
    return () => {
      stopLooking();
      live.stop();
    };
  }, [live]);
  return live;
}
