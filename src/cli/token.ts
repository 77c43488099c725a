import type { Command } from 'commander';
import { commandGroup } from './command.js';
import { tokenCreate } from './token/create.js';
import { tokenList } from './token/list.js';
import { tokenRevoke } from './token/revoke.js';

export function tokenCommand(): Command {
  return commandGroup(
    'token',
    'Make and revoke the tokens that agents and people call with',
    tokenCreate(),
    tokenList(),
    tokenRevoke(),
  );
}
