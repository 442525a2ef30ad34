// Two hundred tests that pass.
import assert from 'node:assert/strict';
import { test } from 'node:test';

for (let number = 0; number < 200; number += 1) {
  test(`twice ${number} is the sum`, () => assert.equal(2 * number, number + number));
}
