// A file that does not load: what it imports is not there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { surcharge2027 } from './tariffs.mjs';

test('the surcharge grows', () => assert.ok(surcharge2027 > 1240));
