// What one does, and what follows: every change goes through `change`, so that it can be undone.

const PRESETS = JSON.parse(document.getElementById("presets").textContent);
const FACTS = JSON.parse(document.getElementById("facts").textContent);
const RATE = 0.25;  // how far a round of learning goes
const MERGED = 900;  // milliseconds in which changes of one slider count as one

const at = (id) => document.getElementById(id);
let state, hovered = null, past = [], future = [], lastKey = null, lastTime = 0, drag = null, own = "";

const copied = (value) => JSON.parse(JSON.stringify(value));
const snapped = (kind, value) => {
  const [low, high] = RANGE[kind];
  return Math.min(high, Math.max(low, Math.round(value * 100) / 100));
};

function look() {
  const nodes = grown(state.tree, state.scores), tossed = [...state.coins].map(Number);
  const paths = CHOICES.strategy.map((strategy) => [strategy, trajectory(nodes[0], { width: state.k, strategy, finish: state.finish, coins: tossed })]);
  const path = paths.find(([name]) => name === state.strategy)[1];
  const step = Math.min(state.step, path.beams.length), here = path.transitions[step - 1] ?? null;
  const view = { state: { ...state, loss: hovered ?? state.loss }, facts: FACTS, nodes, paths, path, step, here, beam: path.beams[step - 1] };
  view.visited = new Set(path.beams.flat());
  view.seen = new Set(path.transitions.flatMap((one) => one.a));
  view.ranked = here && ranked(here.a.map((v) => v.s), here.a.map((v) => v.cstar), here.width);
  view.star = here && here.a[view.ranked.best];
  view.lost = here?.increased ? view.star : null;
  view.gradient = here ? lossAt(view.state.loss, here).gradient : [];
  return view;
}

function render() {
  if (!at("tree").clientWidth) return null;  // not laid out yet; the observer calls again
  const view = look(), preset = PRESETS.find((one) => one.name === state.preset);
  patch(at("presets-list"), PRESETS.map((one) => el("button", { type: "button", key: one.name, "data-preset": one.name, "aria-pressed": String(one.name === state.preset) }, one.title)));
  patch(at("story"), preset ? [el("p", {}, preset.story), el("p", { class: "try" }, el("b", {}, "Try it. "), preset.try)] : []);
  patch(at("tree"), [drawTree(view, at("tree").clientWidth)]);
  patch(at("chosen"), chosenNode(view));
  const [mood, sentence] = verdict(view);
  patch(at("verdict"), [sentence]);
  at("verdict").className = mood;
  patch(at("orders"), [drawOrders(view, at("orders").clientWidth)]);
  patch(at("loss-rows"), lossTable(view));
  patch(at("loss-detail"), lossDetail(view));
  patch(at("strategies"), strategyTable(view));
  patch(at("coins"), coins(view));
  at("width").value = state.k;
  at("width-value").textContent = state.k;
  at("step-value").textContent = `beam ${view.step} of ${view.path.beams.length}`;
  for (const [name, off] of [["start", view.step === 1], ["back", view.step === 1], ["forward", view.step === view.path.beams.length], ["undo", !past.length], ["redo", !future.length]]) {
    document.querySelector(`[data-do="${name}"]`).setAttribute("aria-disabled", String(off));
  }
  at("scores").value = state.scores;
  at("finish").value = state.finish;
  own = stateText(state, PRESETS);
  if (decodeURIComponent(location.hash.slice(1)) !== decodeURIComponent(own)) history.replaceState(null, "", `#${own}`);
  return view;
}

const say = (text) => { at("live").textContent = text; };

// Make a change; those with the same key that follow one another at once are undone together.
function change(key, mutate) {
  const before = copied(state), now = performance.now();
  mutate(state);
  if (JSON.stringify(before) === JSON.stringify(state)) return null;
  if (key === null || key !== lastKey || now - lastTime > MERGED) past.push(before);
  if (past.length > 200) past.shift();
  [lastKey, lastTime, future] = [key, now, []];
  return render();
}

function restore(from, to, word) {
  if (!from.length) { say(`There is nothing to ${word}.`); return; }
  to.push(copied(state));
  state = from.pop();
  lastKey = null;
  const view = render();
  say(`${word === "undo" ? "Undone" : "Done again"}. ${verdict(view)[1]}`);
}

function setNumber(number, kind, value) {
  const to = snapped(kind, value), view = look(), node = view.nodes[number];
  if (!node || Number.isNaN(to)) return;
  const changed = change(`${kind} ${number}`, (next) => {
    grown(next.tree, next.scores)[number].tree[kind] = to;
    next.chosen = number;
  });
  if (changed) say(`${kind === "score" ? "Score" : "Cost"} of ${named(node)}: ${shown(to)}. ${verdict(changed)[1]} ${state.loss}: ${changed.here ? shown(lossAt(state.loss, changed.here).value) : "none"}.`);
}

function go(step) {
  const view = change("step", (next) => { next.step = step; });
  if (view) say(verdict(view)[1]);
}

function letter(siblings) {
  const used = new Set(siblings.map((one) => one.name));
  return [..."abcdefghijklmnopqrstuvwxyz"].find((one) => !used.has(one));
}

function learn() {
  const { path, nodes } = look(), found = lossAlong(state.loss, path.transitions, nodes, state.scores);
  const view = change(null, (next) => {
    for (const node of grown(next.tree, next.scores).slice(1)) node.tree.score = snapped("score", node.tree.score - RATE * found.gradient[node.number]);
  });
  if (!view) { say(`${state.loss} has nothing to learn here: its gradient is 0.`); return; }
  const after = lossAlong(state.loss, view.path.transitions, view.nodes, state.scores).value;
  say(`One round: ${state.loss} along the trajectory of ${state.strategy} was ${shown(found.value)}, and is ${shown(after)} now. ${verdict(view)[1]}`);
}

const ACTIONS = {
  start: () => go(1),
  back: () => go(Math.max(1, look().step - 1)),
  forward: () => { const { step, path } = look(); go(Math.min(path.beams.length, step + 1)); },
  undo: () => restore(past, future, "undo"),
  redo: () => restore(future, past, "redo"),
  reset: () => choosePreset(state.preset ?? PRESETS[0].name),
  learn,
  toss: () => { change(null, (next) => { next.coins = [...next.coins].map(() => (Math.random() < 0.5 ? "1" : "0")).join(""); }); },
  link: async () => {
    try { await navigator.clipboard.writeText(location.href); say("The link is copied."); at("copied").textContent = "copied"; }
    catch { say("The link is in the address bar."); at("copied").textContent = "see the address bar"; }
    setTimeout(() => { at("copied").textContent = ""; }, 3000);
  },
  add: () => {
    const { nodes } = look(), node = nodes[state.chosen];
    if (nodes.length >= LIMITS.nodes || node.depth >= LIMITS.depth || node.children.length >= LIMITS.children) { say(`A tree may have ${LIMITS.nodes} nodes, ${LIMITS.depth} steps and ${LIMITS.children} children of a node.`); return; }
    change(null, (next) => {
      const { tree } = grown(next.tree, next.scores)[next.chosen];
      tree.children.push({ name: letter(tree.children), score: 0, cost: tree.children.length ? 1 : tree.cost, children: [] });
    });
    say(`${named(node)} has a new child.`);
  },
  remove: () => {
    const { nodes } = look(), node = nodes[state.chosen];
    if (nodes[0].children.length === 1 && node.parent === nodes[0]) { say("The tree must keep more than one node."); return; }
    change(null, (next) => {
      const all = grown(next.tree, next.scores), gone = all[next.chosen];
      gone.parent.tree.children.splice(gone.at, 1);
      next.chosen = gone.parent.number;
    });
    say(`${named(node)} is removed.`);
    document.querySelector('[data-do="add"]')?.focus();
  },
};

function choosePreset(name) {
  const view = change(null, (next) => { Object.assign(next, parseState(`preset=${name}`, PRESETS), { chosen: null }); });
  if (view) say(verdict(view)[1]);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do], [data-preset], [data-way], [data-coin], [data-loss], [data-go]");
  if (!button || button.getAttribute("aria-disabled") === "true") return;
  const { do: act, preset, way, coin, loss, go: step } = button.dataset;
  if (act) ACTIONS[act]();
  else if (preset) choosePreset(preset);
  else if (way) {
    const view = change(null, (next) => { next.strategy = way; if (step) next.step = Number(step); });
    if (view) say(`${way}. ${verdict(view)[1]}`);
  } else if (coin) change(null, (next) => { const all = [...next.coins.padEnd(8, "0")]; all[coin] = all[coin] === "1" ? "0" : "1"; next.coins = all.join(""); });
  else if (loss) {
    const view = change(null, (next) => { next.loss = loss; });
    if (view) say(`${loss}: ${view.here ? shown(lossAt(loss, view.here).value) : "no neighbors here"}.`);
  } else if (step) go(Number(step));
});

// A loss shows its equation and its gradient while one points at it or has it in focus.
function hover(name) {
  if (name === hovered) return;
  hovered = name;
  render();
}
at("loss-rows").addEventListener("pointerover", (event) => { if (event.pointerType !== "touch") hover(event.target.closest("tr")?.dataset.loss ?? null); });
at("loss-rows").addEventListener("pointerleave", () => hover(null));
at("loss-rows").addEventListener("focusin", (event) => { if (event.target.matches(":focus-visible")) hover(event.target.dataset.loss); });
at("loss-rows").addEventListener("focusout", () => hover(null));

// Sliders by mouse, finger and pen: anywhere on the line of a number.
at("tree").addEventListener("pointerdown", (event) => {
  const slider = event.target.closest("[data-slider]"), node = event.target.closest("[data-node]");
  if (node) { state.chosen = Number(node.dataset.node); render(); }
  if (!slider || event.button) return;
  event.preventDefault();
  slider.focus({ preventScroll: true });
  const { slider: kind, number } = slider.dataset, view = look(), size = placed(view, at("tree").clientWidth);
  drag = { kind, number: Number(number), from: event.clientX, value: view.nodes[number].tree[kind], unit: scaleOf(kind, size).unit, id: event.pointerId };
  at("tree").setPointerCapture(event.pointerId);
  lastKey = null;
});
at("tree").addEventListener("pointermove", (event) => {
  if (!drag || drag.id !== event.pointerId) return;
  const moved = drag.value + (event.clientX - drag.from) / drag.unit;
  if (Math.abs(event.clientX - drag.from) < 2) return;
  lastTime = performance.now();  // a drag is undone as one, however long it takes
  setNumber(drag.number, drag.kind, Math.round(moved / STEP[drag.kind]) * STEP[drag.kind]);
});
for (const name of ["pointerup", "pointercancel"]) at("tree").addEventListener(name, () => { drag = null; lastKey = null; });

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.target.matches("input")) {
    const word = event.key === "z" && !event.shiftKey ? "undo" : event.key === "y" || (event.key === "Z" && event.shiftKey) ? "redo" : null;
    if (word) { event.preventDefault(); ACTIONS[word](); }
    return;
  }
  if (event.altKey || event.metaKey || event.ctrlKey) return;
  const slider = event.target.closest("[data-slider]"), beam = event.target.closest("g[data-go]");
  if (beam && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); go(Number(beam.dataset.go)); }
  if (!slider) return;
  const { slider: kind, number } = slider.dataset, [low, high] = RANGE[kind], small = STEP[kind];
  const value = look().nodes[number].tree[kind];
  const to = { ArrowUp: value + small, ArrowRight: value + small, ArrowDown: value - small, ArrowLeft: value - small, PageUp: value + 1, PageDown: value - 1, Home: low, End: high }[event.key];
  if (to !== undefined) { event.preventDefault(); setNumber(Number(number), kind, to); }
  if (event.key === "Enter") { event.preventDefault(); at("chosen").querySelector(`[data-type="${kind}"]`)?.select(); }
  if (event.key === "Insert" || event.key === "Delete") { event.preventDefault(); state.chosen = Number(number); ACTIONS[event.key === "Insert" ? "add" : "remove"](); }
});
at("tree").addEventListener("focusin", (event) => {
  const slider = event.target.closest("[data-slider]");
  if (slider && state.chosen !== Number(slider.dataset.number)) { state.chosen = Number(slider.dataset.number); render(); }
});
at("chosen").addEventListener("change", (event) => {
  const kind = event.target.dataset.type;
  if (kind && event.target.value !== "") setNumber(state.chosen, kind, Number(event.target.value));
  event.target.value = look().nodes[state.chosen].tree[kind];
});
at("width").addEventListener("input", (event) => {
  const view = change("width", (next) => { next.k = Number(event.target.value); });
  if (view) say(`Width ${state.k}. ${verdict(view)[1]}`);
});
for (const name of ["scores", "finish"]) {
  at(name).addEventListener("change", (event) => {
    const view = change(null, (next) => { next[name] = event.target.value; });
    if (view) say(verdict(view)[1]);
  });
}

// The state comes from the link; what cannot be read is said, and the first example shown.
function open() {
  const text = location.hash.slice(1);
  at("message").hidden = true;
  let found;
  try { found = parseState(text || `preset=${PRESETS[0].name}`, PRESETS); } catch (error) {
    if (!(error instanceof LinkError)) throw error;
    at("message").textContent = `This link cannot be read: ${error.message}. Here is the first example instead.`;
    at("message").hidden = false;
    found = parseState(`preset=${PRESETS[0].name}`, PRESETS);
  }
  if (state) past.push(copied(state));
  state = { ...found, chosen: null };
  future = [];
  render();
  requestAnimationFrame(() => requestAnimationFrame(() => document.body.classList.add("moving")));
}
addEventListener("hashchange", () => { if (location.hash.slice(1) !== own) open(); });
open();
new ResizeObserver(() => render()).observe(at("tree"));
