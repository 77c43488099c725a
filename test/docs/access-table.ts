import type { Role } from '../../src/domain/principal.js';
import { ACCESS } from '../../src/rpc/access.js';

const ROLES: readonly Role[] = ['agent', 'viewer', 'member', 'admin'];

/** Who may call which RPC, as a Markdown table. */
export function accessTable(): string {
  const rows = Object.entries(ACCESS).map(([rpc, { roles, owner, agentsNameExecution }]) => {
    const may = ROLES.map((role) => (!owner && roles.includes(role) ? 'yes' : ''));
    return [`\`${rpc}\``, ...may, 'yes', agentsNameExecution ? 'yes' : ''];
  });
  const heading = ['RPC', ...ROLES, 'owner', 'agents name their execution'];
  return [heading, heading.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |\n`).join('');
}
