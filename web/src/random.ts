/** Random numbers that are the same in every browser: integers, and sums of fractions of 2³². */

export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = Math.imul(seed | 0, 0x9e3779b1) ^ 0x5bd1e995 || 1;
    for (let k = 0; k < 8; k++) this.next();
  }

  /** The next of 2³² − 1 numbers, by three shifts (Marsaglia 2003). */
  next(): number {
    let s = this.state;
    s ^= s << 13;
    s ^= s >>> 17;
    s ^= s << 5;
    this.state = s;
    return s >>> 0;
  }

  /** From 0 up to, and without, 1. */
  unit(): number {
    return this.next() / 4294967296;
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.unit();
  }

  below(n: number): number {
    return Math.floor(this.unit() * n);
  }

  /** Nearly normal: the sum of twelve uniform numbers, which needs neither logarithm nor cosine. */
  normal(): number {
    let sum = -6;
    for (let k = 0; k < 12; k++) sum += this.unit();
    return sum;
  }

  permutation(n: number): Int32Array {
    const order = Int32Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; i--) {
      const j = this.below(i + 1);
      const held = order[i];
      order[i] = order[j];
      order[j] = held;
    }
    return order;
  }
}
