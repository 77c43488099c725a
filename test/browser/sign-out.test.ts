import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Code, ConnectError } from '@connectrpc/connect';
import { EventKind } from '@holdfast/proto/history';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSignInCode } from '../../src/sign-in-codes.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeInBrowser, visit } from './chromium.js';

let dataDir: string;
let service: TestService;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'holdfast-sign-out-'));
  service = await startTestService({ signIn: { dataDir, visitors: true } });
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

async function signIn(asked: object): Promise<string> {
  const answer = await fetch(`${service.url}/sign-in`, { method: 'POST', body: JSON.stringify(asked) });
  return ((await answer.json()) as { token: string }).token;
}

async function signOut(authorization?: string) {
  const headers = authorization === undefined ? {} : { authorization };
  const answer = await fetch(`${service.url}/sign-in`, { method: 'DELETE', headers });
  return { status: answer.status, body: await answer.json() };
}

async function isValid(token: string): Promise<boolean> {
  try {
    await service.client(token).projects.whoAmI({});
    return true;
  } catch (error) {
    if (ConnectError.from(error).code === Code.Unauthenticated) return false;
    throw error;
  }
}

describe('DELETE /sign-in', () => {
  it('revokes a token that was made for a one-time link, once, and the history tells it', async () => {
    const token = await signIn({ code: await makeSignInCode(dataDir) });
    const other = await signIn({ code: await makeSignInCode(dataDir) });
    const { tokenId } = await service.client(token).projects.whoAmI({});
    expect(await signOut(`Bearer ${token}`)).toEqual({ status: 200, body: { revoked: true } });
    expect([await isValid(token), await isValid(other)]).toEqual([false, true]);
    expect(await signOut(`Bearer ${token}`)).toMatchObject({ status: 401 });
    const { events } = await service
      .client(other)
      .history.listHistory({ kinds: [EventKind.TOKEN_REVOKED], pageSize: 1_000 });
    expect(events).toMatchObject([
      { actor: 'owner', payload: { case: 'token', value: { tokenId, principal: 'owner' } } },
    ]);
  });

  it('revokes no other token: none that somebody made, and not the one of all visitors', async () => {
    const visitor = await signIn({ visitor: true });
    const made = await service.token('PERSON', 'admin', 'ann');
    for (const token of [visitor, made, service.ownerToken]) {
      expect(await signOut(`Bearer ${token}`)).toEqual({ status: 200, body: { revoked: false } });
      expect(await isValid(token)).toBe(true);
    }
    expect(await signIn({ visitor: true })).toBe(visitor);
  });

  it.each([undefined, 'Bearer hf_wrong', `Bearer hf_${'x'.repeat(43)}`, 'Basic b3duZXI6'])(
    'takes nobody for a person who signed in: %j',
    async (authorization) => {
      expect(await signOut(authorization)).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
    },
  );
});

describeInBrowser('signing out of the dashboard', { timeout: 60_000 }, () => {
  const tokenOf = 'sessionStorage.getItem("holdfast-token")';
  const open = async () => {
    const page = await visit(service.url, { hash: `#/sign-in/${await makeSignInCode(dataDir)}` });
    await page.locator('[data-state=live]').waitFor();
    return { page, token: (await page.evaluate(tokenOf)) as string };
  };

  it('ends the token of a link, also after the page was loaded again', async () => {
    const { page, token } = await open();
    await page.reload();
    await page.locator('[data-state=live]').waitFor();
    expect(await isValid(token)).toBe(true);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    expect(await isValid(token)).toBe(false);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  it('leaves a token that was pasted as it is', async () => {
    const token = await service.token('PERSON', 'viewer', 'vera');
    const page = await visit(service.url, { hash: '#/p/default/board' });
    // A visitor already: signing out leads to the form.
    await page.getByTitle('Signed in as visitor').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    await page.getByTitle('Signed in as vera').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    expect(await isValid(token)).toBe(true);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  it('says what stays valid when the server cannot be told', async () => {
    const { page, token } = await open();
    const { tokenId } = await service.client(token).projects.whoAmI({});
    await page.context().setOffline(true);
    await page.getByRole('button', { name: 'Sign out' }).click();
    const alert = await page.getByRole('alert').textContent();
    expect(alert).toContain('could not be told');
    expect(alert).toMatch(/valid until .*\d{1,2}:\d\d/);
    expect(alert).toContain(`token revoke ${tokenId}`);
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    expect(await isValid(token)).toBe(true);
  });
});
