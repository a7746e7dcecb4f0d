// What can be done: every change goes through `change`, so it can be undone.

const RATE = 0.25; // how far a round of learning goes
const MERGED = 900; // milliseconds in which changes of one slider count as one

let origin; // what `reset` goes back to
let lastKey = null;
let lastTime = 0;

const copied = (value) => JSON.parse(JSON.stringify(value));
const snapped = (kind, value) => {
  const [low, high] = RANGE[kind];
  return Math.min(high, Math.max(low, Math.round(value * 100) / 100));
};

const say = (text) => {
  at("live").textContent = text;
};

// Make a change; those with the same key that follow one another at once are undone together.
function change(key, mutate) {
  const before = copied(state),
    now = performance.now();
  mutate(state);
  if (JSON.stringify(before) === JSON.stringify(state)) return null;
  if (key === null || key !== lastKey || now - lastTime > MERGED) past.push(before);
  if (past.length > 200) past.shift();
  [lastKey, lastTime, future] = [key, now, []];
  return render();
}

function restore(from, to, word) {
  if (!from.length) {
    say(`There is nothing to ${word}.`);
    return;
  }
  to.push(copied(state));
  state = from.pop();
  lastKey = null;
  const view = render();
  say(`${word === "undo" ? "Undone" : "Done again"}. ${verdict(view)[1]}`);
}

function setNumber(number, kind, value) {
  const to = snapped(kind, value),
    view = look(),
    node = view.nodes[number];
  if (!node || Number.isNaN(to)) return;
  const changed = change(`${kind} ${number}`, (next) => {
    grown(next.tree, next.scores)[number].tree[kind] = to;
    next.chosen = number;
  });
  if (changed)
    say(
      `${kind === "score" ? "Score" : "Cost"} of ${named(node)}: ${shown(to)}. ${verdict(changed)[1]} ${state.loss}: ${changed.here ? shown(lossAt(state.loss, changed.here).value) : "none"}.`,
    );
}

function go(step) {
  const view = change("step", (next) => {
    next.step = step;
  });
  if (view) say(verdict(view)[1]);
}

function letter(siblings) {
  const used = new Set(siblings.map((one) => one.name));
  return [..."abcdefghijklmnopqrstuvwxyz"].find((one) => !used.has(one));
}

function learn() {
  const { path, nodes } = look(),
    found = lossAlong(state.loss, path.transitions, nodes, state.scores);
  const view = change(null, (next) => {
    for (const node of grown(next.tree, next.scores).slice(1))
      node.tree.score = snapped("score", node.tree.score - RATE * found.gradient[node.number]);
  });
  if (!view) {
    say(`${state.loss} has nothing to learn here: its gradient is 0.`);
    return;
  }
  const after = lossAlong(state.loss, view.path.transitions, view.nodes, state.scores).value;
  say(
    `One round: ${state.loss} along the trajectory of ${state.strategy} was ${shown(found.value)}, and is ${shown(after)} now. ${verdict(view)[1]}`,
  );
}

const ACTIONS = {
  start: () => go(1),
  back: () => go(Math.max(1, look().step - 1)),
  forward: () => {
    const { step, path } = look();
    go(Math.min(path.beams.length, step + 1));
  },
  undo: () => restore(past, future, "undo"),
  redo: () => restore(future, past, "redo"),
  reset: () => {
    const view = change(null, () => {
      state = copied(origin);
    });
    if (view) say(verdict(view)[1]);
  },
  learn,
  toss: () => {
    change(null, (next) => {
      next.coins = [...next.coins].map(() => (Math.random() < 0.5 ? "1" : "0")).join("");
    });
  },
  link: async () => {
    try {
      writeLink();
      await navigator.clipboard.writeText(location.href);
      say("The link is copied.");
      at("copied").textContent = "copied";
    } catch {
      say("The link is in the address bar.");
      at("copied").textContent = "see the address bar";
    }
    setTimeout(() => {
      at("copied").textContent = "";
    }, 3000);
  },
  add: () => {
    const { nodes } = look(),
      node = nodes[state.chosen];
    if (
      nodes.length >= LIMITS.nodes ||
      node.depth >= LIMITS.depth ||
      node.children.length >= LIMITS.children
    ) {
      say(
        `A tree may have ${LIMITS.nodes} nodes, ${LIMITS.depth} steps and ${LIMITS.children} children of a node.`,
      );
      return;
    }
    change(null, (next) => {
      const { tree } = grown(next.tree, next.scores)[next.chosen];
      tree.children.push({
        name: letter(tree.children),
        score: 0,
        cost: tree.children.length ? 1 : tree.cost,
        children: [],
      });
    });
    say(`${named(node)} has a new child.`);
  },
  remove: () => {
    const { nodes } = look(),
      node = nodes[state.chosen];
    if (nodes[0].children.length === 1 && node.parent === nodes[0]) {
      say("The tree must keep more than one node.");
      return;
    }
    change(null, (next) => {
      const all = grown(next.tree, next.scores),
        gone = all[next.chosen];
      gone.parent.tree.children.splice(gone.at, 1);
      next.chosen = gone.parent.number;
    });
    say(`${named(node)} is removed.`);
    document.querySelector('[data-do="add"]')?.focus();
  },
};

function choosePreset(name) {
  origin = { ...parseState(`preset=${name}`, PRESETS), chosen: null };
  ACTIONS.reset();
}
