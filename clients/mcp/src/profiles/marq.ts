import type { Tool, ToolNames } from '../tool.js';
import { acquireTask } from '../tools/acquire.js';
import { releaseTask, renewLease } from '../tools/lease.js';
import type { Toolset } from '../toolset.js';

/** What MarQ calls three of the tools. The others have no counterpart there and keep their names. */
const NAMES = new Map<Tool, string>([
  [acquireTask, 'pm_acquire_task'],
  [renewLease, 'pm_renew_task_lock'],
  [releaseTask, 'pm_release_task'],
]);

/** The tools under the names that agents know from MarQ. */
export function marqTools({ tools, names }: Toolset): Toolset {
  const renamed: Partial<ToolNames> = {
    acquire: 'pm_acquire_task',
    renew: 'pm_renew_task_lock',
    release: 'pm_release_task',
  };
  return {
    tools: tools.map((tool) => ({ ...tool, name: NAMES.get(tool) ?? tool.name })),
    names: { ...names, ...renamed },
  };
}
