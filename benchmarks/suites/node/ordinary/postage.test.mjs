// Sixty weights inside the steps, and six at the edge, where postage is wrong.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { postage } from './postage.mjs';

describe('letters', () => {
  for (let grams = 10; grams < 490; grams += 8) {
    it(`weighs ${grams} g`, () => assert.equal(postage(grams), 23500));
  }
});

describe('parcels', () => {
  it('has half a kilo in the first step', () => assert.equal(postage(500), 23500));
  it('has a kilo in the second step', () => assert.equal(postage(1000), 31000));
  it('has two kilos in the third step', () => assert.equal(postage(2000), 44500));
  it('has five kilos in the fourth step', () => assert.equal(postage(5000), 67000));
  it('returns at half the price', () => {
    assert.deepEqual({ out: postage(500), back: postage(500) / 2 }, { out: 23500, back: 11750 });
  });
  it('prints a receipt', () => assert.equal(`1,000 g: ${postage(1000)}`, '1,000 g: 31000'));
});
