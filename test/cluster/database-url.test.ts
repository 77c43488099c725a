import { expect, test } from 'vitest';
import { driverTarget } from '../../src/cluster/database-url.js';

test('leaves the URL of a TCP server as it is', () => {
  const url = 'postgres://user:p%40ss@db.example:6432/app?sslmode=require';
  expect(driverTarget(url)).toEqual({ url, options: {} });
});

test("understands both of libpq's ways to name the folder of a socket", () => {
  const path = '/var/run/a b/.s.PGSQL.5433';
  const encoded = driverTarget('postgres://user@%2Fvar%2Frun%2Fa%20b:5433/app');
  expect(encoded.options).toEqual({ path });
  const parameter = driverTarget('postgres://user@localhost:5433/app?host=/var/run/a%20b&application_name=x');
  expect(parameter.options).toEqual({ path });
  expect(parameter.url).toBe('postgres://user@localhost:5433/app?application_name=x');
  expect(driverTarget('postgresql:///app?host=/run').options).toEqual({ path: '/run/.s.PGSQL.5432' });
});
