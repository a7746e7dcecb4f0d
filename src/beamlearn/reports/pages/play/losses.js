// The twelve losses over the neighbors of a beam, by the equations of the paper, with the gradients
// that the library's losses have. `hat` orders by decreasing score, `star` by increasing cost, ties
// to the smaller index.

function ranked(s, c, k) {
  const indices = s.map((_, i) => i),
    n = s.length;
  const hat = [...indices].sort((i, j) => s[j] - s[i] || i - j);
  const star = [...indices].sort((i, j) => c[i] - c[j] || i - j);
  const kept = hat.slice(0, k),
    least = c[star[0]];
  return { s, c: c.map((x) => x - least), k, n, hat, star, kept, best: star[0], drops: n > k };
}

// A value, and the gradient as the sum of pairs [index, slope].
function incurred(n, value, slopes) {
  const gradient = new Array(n).fill(0);
  for (const [i, slope] of slopes) gradient[i] += slope;
  return { value, gradient };
}

const nothing = (n) => incurred(n, 0, []);

// At a tie the value is 0, but the slope pushes the two apart.
function perceptron({ s, hat, best, n }, place, can) {
  const rival = hat.filter((i) => i !== best)[place - 1];
  const value = can ? s[rival] - s[best] : -1;
  return value >= 0
    ? incurred(n, value, [
        [rival, 1],
        [best, -1],
      ])
    : nothing(n);
}

function marginLast({ s, hat, best, n, k, drops }, weight) {
  const last = hat[k - 1];
  const margin = drops ? 1 + s[last] - s[best] : 0;
  if (margin <= 0) return nothing(n);
  const w = weight(last);
  return incurred(n, w * margin, [
    [last, w],
    [best, -w],
  ]);
}

// -s[star(1)] + log sum of exp(s[i] + raise(i)) over the indices in `among`.
function logLoss({ s, best, n }, among, raise = () => 0) {
  const terms = among.map((i) => s[i] + raise(i)),
    most = Math.max(...terms);
  const sum = terms.reduce((total, term) => total + Math.exp(term - most), 0);
  const shares = among.map((i, at) => [i, Math.exp(terms[at] - most) / sum]);
  return incurred(n, -s[best] + most + Math.log(sum), [...shares, [best, -1]]);
}

// Of equal maxima each gets the same part of the slope.
function largest(pairs) {
  const most = Math.max(...pairs.map(([, value]) => value));
  return [most, pairs.filter(([, value]) => value === most).map(([i]) => i)];
}

function upperBound({ s, c, k, n, star, best }) {
  const deltas = star.slice(k).map((j) => [j, c[j] * (s[j] - s[best] + 1)]);
  const [most, at] = largest([[best, 0], ...deltas]);
  if (most <= 0) return nothing(n);
  const slopes = at.flatMap((j) => [
    [j, c[j] / at.length],
    [best, -c[j] / at.length],
  ]);
  return incurred(n, most, slopes);
}

function marginBeam({ s, c, n, kept, best }) {
  const [most, at] = largest(kept.map((i) => [i, c[i] + s[i]]));
  return incurred(n, most - s[best], [...at.map((i) => [i, 1 / at.length]), [best, -1]]);
}

// Pairs of places i < j in the order star, i before `end` and j from `begin` on.
function weightedPairs({ s, c, n, star }, end, begin) {
  const slopes = [];
  let value = 0;
  for (let i = 0; i < Math.min(end, n); i++) {
    for (let j = Math.max(i + 1, begin); j < n; j++) {
      const [cheap, dear] = [star[i], star[j]],
        w = c[dear] - c[cheap];
      if (w === 0 || s[cheap] >= s[dear] + 1) continue;
      value += w * (s[dear] - s[cheap] + 1);
      slopes.push([dear, w], [cheap, -w]);
    }
  }
  return incurred(n, value, slopes);
}

const LOSSES = {
  perceptron_first: (b) => perceptron(b, 1, b.n > 1),
  perceptron_last: (b) => perceptron(b, b.k, b.drops),
  margin_last: (b) => marginLast(b, () => 1),
  cost_sensitive_margin_last: (b) => marginLast(b, (last) => b.c[last]),
  upper_bound: upperBound,
  log_loss_beam: (b) => logLoss(b, [...new Set([b.best, ...b.kept])]),
  log_loss_neighbors: (b) => logLoss(b, b.hat),
  cost_sensitive_margin_beam: marginBeam,
  softmax_margin_beam: (b) => logLoss(b, b.kept, (i) => b.c[i]),
  weighted_pairs_all: (b) => weightedPairs(b, b.n, 0),
  weighted_pairs_bipartite: (b) => weightedPairs(b, b.k, b.k),
  weighted_pairs_hybrid: (b) => weightedPairs(b, b.k, 0),
};
