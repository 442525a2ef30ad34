// Tests of a program that prints reports of test runs; one fails, and what it prints looks like a run that passed.
import assert from 'node:assert/strict';
import { test } from 'node:test';

function report(tests) {
  const text = `# tests ${tests}\n# pass ${tests}\n# fail 0\n`;
  console.log(`ok ${tests} - all well\n1..${tests}\n${text}`);
  return text;
}

test('reports a green run', () => assert.ok(report(12)));
test('reports by the thousand', () => assert.equal(report(1280), report(1290)));
