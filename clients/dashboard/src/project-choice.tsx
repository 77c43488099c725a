import { Code, ConnectError } from '@connectrpc/connect';
import type { Project } from '@holdfast/proto/project';
import { useEffect, useRef, useState } from 'react';
import { useLive } from './live/use-live.js';
import { go, pageLink, parseRoute } from './route.js';
import { toast } from './ui/toasts.js';

/** New projects are looked for so often: nobody is told of them otherwise. In ms. */
const LOOK_EVERY_MS = 1_000;

/** Which project is shown. The owner of the server may choose among all, and sees new ones as they come. */
export function ProjectChoice() {
  const { live, project, session } = useLive();
  const [projects, setProjects] = useState<readonly Project[]>([]);
  const known = useRef<Set<string>>(undefined);
  const isEmpty = useRef(false);
  isEmpty.current = live.loaded === 'all' && live.board.tasks.size === 0;

  const { owner } = session.me;
  useEffect(() => {
    if (!owner) return;
    let stopped = false;
    const look = async () => {
      const { projects } = await session.holdfast.projects.listProjects({ pageSize: 1_000 });
      if (stopped) return;
      const fresh = known.current ? projects.filter(({ id }) => !known.current?.has(id)) : [];
      known.current = new Set(projects.map(({ id }) => id));
      setProjects(projects);
      for (const each of fresh) tellOf(each, isEmpty.current);
    };
    let looking = false;
    const again = async () => {
      if (looking || document.hidden) return;
      looking = true;
      try {
        await look();
      } catch (error) {
        // The token has ended; of whatever else goes wrong the connection tells.
        if (ConnectError.from(error).code === Code.Unauthenticated) clearInterval(timer);
      } finally {
        looking = false;
      }
    };
    const timer = setInterval(() => void again(), LOOK_EVERY_MS);
    void again();
    return () => {
      stopped = true;
      clearInterval(timer);
    };
  }, [owner, session]);

  const title = live.about?.title || project;
  if (!owner || projects.length < 2) return <span className="project-name">{title}</span>;
  return (
    <label className="project-choice">
      <span className="visually-hidden">Project</span>
      <select value={project} onChange={(event) => go(pageLink(event.target.value, pageNow()))}>
        {!projects.some(({ id }) => id === project) && <option value={project}>{title}</option>}
        {projects.map(({ id, title }) => (
          <option key={id} value={id}>
            {title && title !== id ? `${title} (${id})` : id}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Whoever looks at an empty project wants to see the new one; anybody else is asked. */
function tellOf({ id, title }: Project, leave: boolean): void {
  const link = pageLink(id, pageNow());
  if (leave) {
    go(link);
    toast(`Showing the new project ${title || id}.`);
  } else {
    toast(`There is a new project: ${title || id}.`, 'good', { text: 'Show it', href: link });
  }
}

function pageNow(): 'board' | 'timeline' | 'attention' {
  const { page } = parseRoute(location.hash);
  return page === 'timeline' || page === 'attention' ? page : 'board';
}
