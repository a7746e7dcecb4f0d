// Algorithms 1 and 2 on a small tree. A node of the tree is {name, score, cost, children}; only the
// cost of a leaf counts.

// All nodes, parents first, with s (as `scoring` makes it of the numbers) and c*.
function grown(root, scoring) {
  const nodes = [];
  const visit = (tree, parent, at) => {
    const node = { tree, parent, at, name: tree.name, number: nodes.length, s: 0 };
    node.depth = parent ? parent.depth + 1 : 0;
    nodes.push(node);
    node.children = tree.children.map((child, place) => visit(child, node, place));
    const below = node.children.map((child) => child.cstar);
    node.cstar = below.length ? Math.min(...below) : tree.cost;
    return node;
  };
  visit(root, null, 0);
  for (const { children, s } of nodes) {
    const carried = scoring === "absolute" ? 0 : s;
    const offset =
      scoring === "log-probabilities" && children.length ? carried - logTotal(children) : carried;
    for (const child of children) child.s = child.tree.score + offset;
  }
  return nodes;
}

// log of the sum of exp over siblings, by which log-probabilities are normalized.
function logTotal(children) {
  const numbers = children.map((child) => child.tree.score),
    most = Math.max(...numbers);
  return most + Math.log(numbers.reduce((sum, x) => sum + Math.exp(x - most), 0));
}

const isTerminal = (node) => node.children.length === 0;
const byScore = (u, v) => v.s - u.s;
const byCost = (u, v) => u.cstar - v.cstar || v.s - u.s; // equal costs: by score
const best = (nodes, k, order) => [...nodes].sort(order).slice(0, k); // sorting is stable
const cheapest = (nodes) => Math.min(...nodes.map((node) => node.cstar));

// A_b; a finished hypothesis is its own only neighbor.
const neighborsOf = (beam) => beam.flatMap((node) => (isTerminal(node) ? [node] : node.children));

// POLICY: the next beam, in slots by score, and whether it is a terminal one.
function policy(a, k, order, finish) {
  const done = a.filter(isTerminal);
  if (finish === "first" && isTerminal(best(a, 1, order)[0])) return [best(done, 1, order), true];
  if (finish === "first")
    return inSlots(
      a,
      best(
        a.filter((v) => !isTerminal(v)),
        k,
        order,
      ),
      false,
    );
  const last = done.length === a.length;
  return inSlots(a, best(a, last ? 1 : k, order), last);
}

const inSlots = (a, beam, last) => [a.filter((v) => beam.includes(v)).sort(byScore), last];

// Into a terminal beam the width is 1.
function effectiveWidth(a, k, finish) {
  const early =
    finish === "first" &&
    [byScore, (u, v) => u.cstar - v.cstar].some((order) => isTerminal(best(a, 1, order)[0]));
  return early || a.every(isTerminal) ? 1 : k;
}

// BEAMTRAJECTORY: beams b_1 ... b_h, and for each but the last its transition.
function trajectory(root, { width, strategy, finish, coins }) {
  const beams = [[root]],
    transitions = [];
  let over = isTerminal(root);
  while (!over) {
    const a = neighborsOf(beams[beams.length - 1]);
    const [learned, learnedLast] = policy(a, width, byScore, finish);
    const increase = cheapest(learned) - cheapest(a),
      increased = increase > 1e-9;
    const tossed = strategy === "interpolate" && Boolean(coins[transitions.length]);
    let next = learned,
      stopped = false,
      by = "learned";
    over = learnedLast;
    if (strategy === "oracle" || tossed) {
      [next, over] = policy(a, width, byCost, finish);
      by = "oracle";
    } else if (increased && strategy === "stop") {
      [over, stopped, by] = [true, true, "stop"];
    } else if (increased && strategy === "reset") {
      [next, over] = policy(a, 1, byCost, finish);
      by = "reset";
    }
    const here = { a, learned, increase, increased, next, by, stopped };
    transitions.push({ ...here, width: effectiveWidth(a, width, finish) });
    beams.push(next);
  }
  return { beams, transitions };
}

// A loss and its gradient at the beam of a transition.
function lossAt(name, { a, width }) {
  return LOSSES[name](
    ranked(
      a.map((v) => v.s),
      a.map((v) => v.cstar),
      width,
    ),
  );
}

// The sum of a loss along a trajectory, and its gradient in the numbers of all nodes.
function lossAlong(name, transitions, nodes, scoring) {
  const pushed = new Array(nodes.length).fill(0);
  let value = 0;
  for (const transition of transitions) {
    const found = lossAt(name, transition);
    value += found.value;
    transition.a.forEach((node, i) => {
      pushed[node.number] += found.gradient[i];
    });
  }
  if (scoring !== "absolute") {
    // a node's number is part of all scores below it
    for (const node of [...nodes].reverse())
      if (node.parent) pushed[node.parent.number] += pushed[node.number];
  }
  const gradient = [...pushed];
  if (scoring === "log-probabilities") {
    for (const { children } of nodes) {
      const total = children.reduce((sum, child) => sum + pushed[child.number], 0);
      for (const child of children) {
        gradient[child.number] -= Math.exp(child.tree.score - logTotal(children)) * total;
      }
    }
  }
  gradient[0] = 0;
  return { value, gradient };
}
