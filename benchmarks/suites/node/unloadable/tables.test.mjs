// Forty tests that pass, beside a file that does not load.
import assert from 'node:assert/strict';
import { test } from 'node:test';

for (let number = 0; number < 40; number += 1) {
  test(`twice ${number} is the sum`, () => assert.equal(2 * number, number + number));
}
