// Tests that pass; what the first one leaves behind throws when no test is running any more.
import assert from 'node:assert/strict';
import { test } from 'node:test';

for (let number = 0; number < 12; number += 1) {
  test(`answers request ${number}`, () => assert.ok(number >= 0));
}
process.on('exit', () => {
  throw new Error('port 8443 is still open');
});
