import { chownSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ClusterError } from './cluster-error.js';

/** How Postgres's programs are run, given that they refuse to run as root. */
export type RunAs =
  /** As we are: we are not root. */
  | { readonly kind: 'self' }
  /** In a user namespace where root is called something else: all files stay root's. */
  | { readonly kind: 'namespace'; readonly uid: number }
  /** As another user of this machine, to whom Postgres's own folders must belong. */
  | { readonly kind: 'user'; readonly uid: number; readonly gid: number };

/** A program and how to start it. */
export interface Command {
  readonly file: string;
  readonly args: string[];
  readonly options: { readonly uid?: number; readonly gid?: number };
}

interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * The ways to try, best first. `pgdata` may not exist yet; when it belongs to somebody who is not root, Postgres
 * can only run as that user.
 */
export function waysToRun(pgdata: string): RunAs[] {
  if (process.geteuid?.() !== 0) return [{ kind: 'self' }];
  const owner = statSync(pgdata, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return [{ kind: 'user', uid: owner.uid, gid: owner.gid }];
  const accounts = readAccounts();
  // initdb looks its own user id up, so it must be one that exists; 65534 also means "unknown" in a namespace.
  const mapped = accounts.find(({ uid }) => uid !== 0 && uid !== 65534);
  const other = ['postgres', 'nobody'].flatMap((name) =>
    accounts.filter((account) => account.name === name),
  )[0];
  const ways: RunAs[] = [];
  if (mapped) ways.push({ kind: 'namespace', uid: mapped.uid });
  if (other) ways.push({ kind: 'user', uid: other.uid, gid: other.gid });
  return ways;
}

/** The command that runs a program in this way. */
export function commandAs(way: RunAs, program: string, args: string[]): Command {
  if (way.kind === 'self') return { file: program, args, options: {} };
  if (way.kind === 'user') return { file: program, args, options: { uid: way.uid, gid: way.gid } };
  const namespace = ['--user', `--map-user=${way.uid}`, `--map-group=${way.uid}`, '--'];
  return { file: 'unshare', args: [...namespace, program, ...args], options: {} };
}

/** The first folder on the way to a path that shuts out the user Postgres would run as; undefined: none. */
export function findObstacle(way: RunAs, path: string): string | undefined {
  if (way.kind !== 'user') return undefined;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const { mode, uid, gid } = statSync(folder);
    const bit = uid === way.uid ? 0o100 : gid === way.gid ? 0o010 : 0o001;
    if (!(mode & bit)) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

/** The refusal to show when there is such a folder; `reasons` are those why better ways did not work. */
export function cannotEnter(folder: string, way: RunAs, reasons: string[]): ClusterError {
  const user = way.kind === 'user' ? ` (user id ${way.uid})` : '';
  return new ClusterError(
    `Postgres cannot run as root, and the user it would run as${user} may not enter ${folder}. ` +
      'Run as a normal user; or keep data (--data) and program in folders that everybody may enter; ' +
      'or set DATABASE_URL to a Postgres server.' +
      reasons.map((reason) => ` In a user namespace it does not run either: ${reason}.`).join(''),
  );
}

/** Gives a folder, and all that is in it, to the user Postgres runs as. */
export function handOver(way: RunAs, folder: string): void {
  if (way.kind !== 'user' || lstatSync(folder).uid === way.uid) return;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    chownLink(join(folder, name), way);
  }
  // Last, so that a hand-over that was cut short is done again.
  chownSync(folder, way.uid, way.gid);
}

function chownLink(path: string, { uid, gid }: { uid: number; gid: number }): void {
  // What a symbolic link leads to is not in the folder.
  if (!lstatSync(path).isSymbolicLink()) chownSync(path, uid, gid);
}

function readAccounts(): Account[] {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 4)
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
}
