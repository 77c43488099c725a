import { create } from '@bufbuild/protobuf';
import { DurationSchema, durationFromMs, timestampDate } from '@bufbuild/protobuf/wkt';
import { EventKind } from '@holdfast/proto/history';
import pc from 'picocolors';
import { describe, expect, it } from 'vitest';
import { enumValue, fencingToken, integer, milliseconds } from '../../src/cli/arguments.js';
import { styleFor } from '../../src/cli/style.js';
import { details, table } from '../../src/cli/table.js';
import { cutTo, oneLine, printable } from '../../src/cli/text.js';
import { span } from '../../src/cli/time.js';
import { moment } from '../../src/cli/time-arguments.js';

const plain = pc.createColors(false);

describe('text for a terminal', () => {
  it.each([
    { text: 'a\u001b[2Jb', shown: 'a�[2Jb' },
    { text: 'a\u202eb', shown: 'a�b' },
    { text: 'two\nlines\tand a tab', shown: 'two\nlines\tand a tab' },
  ])('makes $text harmless', ({ text, shown }) => {
    expect(printable(text)).toBe(shown);
  });

  it('takes one line', () => {
    expect(oneLine(' a\r\n  b\tc ')).toBe('a b c');
  });

  it.each([
    { width: 5, text: 'short', shown: 'short' },
    { width: 5, text: 'longer', shown: 'long…' },
    { width: 5, text: '日本語です', shown: '日本…' },
    { width: 4, text: 'e\u0301e\u0301e\u0301e\u0301', shown: 'e\u0301e\u0301e\u0301e\u0301' },
  ])('cuts $text to $width columns', ({ width, text, shown }) => {
    expect(cutTo(width, text)).toBe(shown);
  });

  it('aligns columns by what is seen, and does not end lines with spaces', () => {
    const rows = [
      { id: '日本', title: 'a' },
      { id: 'x', title: '' },
    ];
    const text = table(
      rows,
      [
        ['ID', (row) => row.id],
        ['TITLE', (row) => row.title],
      ],
      plain,
    );
    expect(text).toBe('ID    TITLE\n日本  a\nx');
  });

  it('leaves empty details out', () => {
    expect(
      details(
        [
          ['id', '1'],
          ['holder', ''],
          ['status', 'OPEN'],
        ],
        plain,
      ),
    ).toBe('id      1\nstatus  OPEN');
  });

  it('is coloured on a terminal only, and never with NO_COLOR', () => {
    const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
    Object.assign(process.env, { TERM: 'xterm' });
    delete process.env.NO_COLOR;
    delete process.env.FORCE_COLOR;
    expect(styleFor({ isTTY: true }).red('x')).toBe('\u001b[31mx\u001b[39m');
    expect(styleFor({}).red('x')).toBe('x');
    process.env.NO_COLOR = '1';
    expect(styleFor({ isTTY: true }).red('x')).toBe('x');
    for (const [name, value] of Object.entries({ NO_COLOR, FORCE_COLOR, TERM })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  it.each([
    { ms: 0, shown: '0ms' },
    { ms: 250, shown: '250ms' },
    { ms: 59_999, shown: '59s' },
    { ms: 900_000, shown: '15m' },
    { ms: 899_500, shown: '14m 59s' },
    { ms: 90_061_000, shown: '1d 1h' },
  ])('shows $ms ms as $shown', ({ ms, shown }) => {
    expect(span(durationFromMs(ms))).toBe(shown);
    expect(span(create(DurationSchema, durationFromMs(ms)))).toBe(shown);
  });
});

describe('arguments', () => {
  it.each([
    { text: '90', ms: 90_000 },
    { text: '250ms', ms: 250 },
    { text: '1.5h', ms: 5_400_000 },
    { text: '7d', ms: 604_800_000 },
  ])('reads $text as a length of time', ({ text, ms }) => {
    expect(milliseconds(text)).toBe(ms);
  });

  it.each(['', '-1s', '1 h', '1w', '1e3', 'NaN', '9999999999999999h', '0x10'])(
    'refuses the length %j',
    (text) => {
      expect(() => milliseconds(text)).toThrow('such as 90s');
    },
  );

  it.each(['', '1', 'yesterday', '2026-13-45', '99999999999d', '1e9d'])('refuses the moment %j', (text) => {
    expect(() => moment(text)).toThrow('It must be a');
  });

  it('reads moments', () => {
    expect(timestampDate(moment('2026-03-01')).toISOString()).toBe('2026-03-01T00:00:00.000Z');
    const ago = Date.now() - timestampDate(moment('2h')).getTime();
    expect(ago).toBeGreaterThanOrEqual(7_200_000);
    expect(ago).toBeLessThan(7_260_000);
  });

  it.each(['', '1.5', '1e3', '-1', '11', 'x'])('refuses the number %j', (text) => {
    expect(() => integer(0, 10)(text)).toThrow('from 0 to 10');
  });

  it.each(['', '0', '-1', '1.5', '9223372036854775808'])('refuses the token %j', (text) => {
    expect(() => fencingToken(text)).toThrow('from 1');
  });

  it('reads a token past the safe integers exactly', () => {
    expect(fencingToken('9007199254740993')).toBe(9_007_199_254_740_993n);
  });

  it('reads names of an enum in any case, and only those', () => {
    const kind = enumValue<EventKind>(EventKind);
    expect(kind('lease-expired')).toBe(EventKind.LEASE_EXPIRED);
    for (const none of ['unspecified', '18', 'toString', ''])
      expect(() => kind(none)).toThrow('It must be one of');
  });
});
