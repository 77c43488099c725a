import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PrincipalKind } from '@holdfast/proto/history';
import { Role } from '@holdfast/proto/project';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSignInCode, SIGN_IN_CODE_MS, takeSignInCode } from '../../src/sign-in-codes.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeInBrowser, visit } from './chromium.js';

let dataDir: string;
let service: TestService;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'holdfast-sign-in-'));
  service = await startTestService({ signIn: { dataDir } });
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

async function ask(body: string, url = service.url) {
  const answer = await fetch(`${url}/sign-in`, { method: 'POST', body });
  return { status: answer.status, body: (await answer.json()) as { token?: string; message?: string } };
}
const redeem = (code: unknown) => ask(JSON.stringify({ code }));

describe('a one-time code', () => {
  it('gives a token of the owner that ends by itself, once', async () => {
    const code = await makeSignInCode(dataDir);
    const { status, body } = await redeem(code);
    expect(status).toBe(200);
    expect(body.token).not.toBe(service.ownerToken);
    const me = await service.client(body.token ?? '').projects.whoAmI({});
    expect(me).toMatchObject({ principal: 'owner', owner: true, project: 'default' });
    expect(Number(me.expiresAt?.seconds) * 1_000 - Date.now()).toBeGreaterThan(11 * 3_600_000);
    expect(await redeem(code)).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('holdfast dashboard') },
    });
  });

  it('is given to one of many who send it at once, by whatever process', async () => {
    const code = await makeSignInCode(dataDir);
    const answers = await Promise.all([
      ...Array.from({ length: 8 }, async () => (await redeem(code)).status === 200),
      // As another worker would.
      ...Array.from({ length: 8 }, () => takeSignInCode(dataDir, code)),
    ]);
    expect(answers.filter(Boolean)).toHaveLength(1);
  });

  it('is kept nowhere but as a hash', async () => {
    const code = await makeSignInCode(dataDir);
    const names = readdirSync(join(dataDir, 'sign-in'));
    expect(names.join()).not.toContain(code);
    await redeem(code);
    expect(service.logs.join()).not.toContain(code);
  });

  it('is too old after a while, and then its file goes', async () => {
    const code = await makeSignInCode(dataDir);
    const [name = ''] = readdirSync(join(dataDir, 'sign-in'));
    const then = new Date(Date.now() - SIGN_IN_CODE_MS - 1_000);
    utimesSync(join(dataDir, 'sign-in', name), then, then);
    expect((await redeem(code)).status).toBe(403);
    expect(readdirSync(join(dataDir, 'sign-in'))).toEqual([]);
  });

  it.each(['', '../admin-token', 'x'.repeat(500), 7, null, ['a']])('is not guessed: %j', async (code) => {
    mkdirSync(join(dataDir, 'sign-in'), { recursive: true });
    expect((await redeem(code)).status).toBe(403);
  });
});

describe('/sign-in', () => {
  it.each(['', 'no JSON', '"a"', 'null', `{"code":"${'x'.repeat(2_000)}"}`])(
    'refuses what it does not understand: %j',
    async (body) => {
      expect((await ask(body)).status).toBe(400);
    },
  );

  it('takes no other methods', async () => {
    const { status, headers } = await fetch(`${service.url}/sign-in`, { method: 'PUT' });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, DELETE']);
  });

  it('lets no visitors in unless told to', async () => {
    expect(await (await fetch(`${service.url}/sign-in`)).json()).toEqual({ visitors: false });
    expect((await ask('{"visitor":true}')).status).toBe(403);
  });

  it('gives visitors one token that may only read', async () => {
    const open = await startTestService({ signIn: { visitors: true } });
    const tokens = await Promise.all(
      Array.from({ length: 3 }, async () => (await ask('{"visitor":true}', open.url)).body.token ?? ''),
    );
    expect(new Set(tokens).size).toBe(1);
    const visitor = open.client(tokens[0] ?? '');
    expect(await visitor.projects.whoAmI({})).toMatchObject({ principal: 'visitor', owner: false });
    await expect(visitor.tasks.createTask({ title: 'x' })).rejects.toThrow('permission_denied');
    expect((await ask('{"code":"x"}', open.url)).status).toBe(403);
  });
});

describeInBrowser('in a browser', { timeout: 60_000 }, () => {
  it('opens a link once, and leaves nothing of it in the address', async () => {
    const code = await makeSignInCode(dataDir);
    const page = await visit(service.url, { hash: `#/sign-in/${code}` });
    await page.locator('[data-state=live]').waitFor();
    expect(page.url()).not.toContain(code);
    expect(await page.evaluate('JSON.stringify([localStorage, document.cookie])')).not.toContain('hf_');
    // The tab keeps the token.
    await page.reload();
    await page.locator('[data-state=live]').waitFor();

    // A link that is pasted into the open tab is taken, too.
    const next = await makeSignInCode(dataDir);
    await page.evaluate("document.body.dataset.same = 'page'");
    await page.evaluate(`location.hash = '#/sign-in/${next}'`);
    await page.locator('body:not([data-same]) [data-state=live]').waitFor();
    expect(page.url()).not.toContain(next);
    expect((await redeem(next)).status).toBe(403);

    const again = await visit(service.url, { hash: `#/sign-in/${code}` });
    await again.getByRole('alert').getByText('the link was used already').waitFor();
  });

  it('asks for a token, says what is wrong with one, and signs out', async () => {
    const page = await visit(service.url);
    await page.getByLabel('Token').fill('hf_wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('does not accept the token').waitFor();
    await page.getByLabel('Token').fill(service.ownerToken);
    await page.keyboard.press('Enter');
    await page.locator('[data-state=live]').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  it('says why when the token ends while somebody looks', async () => {
    const admin = service.client(service.ownerToken).projects;
    const { token, tokenId } = await admin.createToken({
      principal: 'vera',
      kind: PrincipalKind.PERSON,
      role: Role.VIEWER,
    });
    const page = await visit(service.url);
    await page.getByLabel('Token').fill(token);
    await page.keyboard.press('Enter');
    await page.locator('[data-state=live]').waitFor();
    await admin.revokeToken({ tokenId });
    await page.getByLabel('Token').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('token');
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  it('lets a visitor in whose tab has a token of yesterday', async () => {
    const open = await startTestService({ signIn: { visitors: true } });
    const page = await visit(open.url, { token: 'hf_of_yesterday' });
    await page.locator('[data-state=live]').waitFor();
    await page.getByTitle('Signed in as visitor').waitFor();
  });

  it('shows its own project to whoever may see no other, whatever the address says', async () => {
    const token = await service.token('PERSON', 'viewer', 'vera');
    const page = await visit(service.url, { token, hash: '#/p/another/board' });
    await page.locator('[data-state=live]').waitFor();
    await page.locator('.project-name').getByText('default').waitFor();
  });
});
