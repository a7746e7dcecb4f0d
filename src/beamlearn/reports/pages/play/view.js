// What there is to see: all of it follows from the state.

const PRESETS = JSON.parse(document.getElementById("presets").textContent);
const FACTS = JSON.parse(document.getElementById("facts").textContent);

const OFTEN = 200; // milliseconds; browsers refuse to change the address more often for long

const at = (id) => document.getElementById(id);
let state;
let own = ""; // what the address bar is to say
let writing = null; // the timer that will write it there
let hovered = null; // the loss that one points at
const past = [];
let future = [];

function look() {
  const nodes = grown(state.tree, state.scores),
    tossed = [...state.coins].map(Number);
  const paths = CHOICES.strategy.map((strategy) => [
    strategy,
    trajectory(nodes[0], { width: state.k, strategy, finish: state.finish, coins: tossed }),
  ]);
  const path = paths.find(([name]) => name === state.strategy)[1];
  const step = Math.min(state.step, path.beams.length),
    here = path.transitions[step - 1] ?? null;
  const view = {
    state: { ...state, loss: hovered ?? state.loss },
    facts: FACTS,
    nodes,
    paths,
    path,
    step,
    here,
    beam: path.beams[step - 1],
  };
  view.visited = new Set(path.beams.flat());
  view.seen = new Set(path.transitions.flatMap((one) => one.a));
  view.ranked =
    here &&
    ranked(
      here.a.map((v) => v.s),
      here.a.map((v) => v.cstar),
      here.width,
    );
  view.star = here && here.a[view.ranked.best];
  view.lost = here?.increased ? view.star : null;
  view.gradient = here ? lossAt(view.state.loss, here).gradient : [];
  return view;
}

function render() {
  if (!at("tree").clientWidth) return null; // not laid out yet; the observer calls again
  const view = look(),
    preset = PRESETS.find((one) => one.name === state.preset);
  patch(
    at("presets-list"),
    PRESETS.map((one) =>
      el(
        "button",
        {
          type: "button",
          key: one.name,
          "data-preset": one.name,
          "aria-pressed": String(one.name === state.preset),
        },
        one.title,
      ),
    ),
  );
  patch(
    at("story"),
    preset
      ? [el("p", {}, preset.story), el("p", { class: "try" }, el("b", {}, "Try it. "), preset.try)]
      : [],
  );
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
  for (const [name, off] of [
    ["start", view.step === 1],
    ["back", view.step === 1],
    ["forward", view.step === view.path.beams.length],
    ["undo", !past.length],
    ["redo", !future.length],
  ]) {
    document.querySelector(`[data-do="${name}"]`).setAttribute("aria-disabled", String(off));
  }
  at("scores").value = state.scores;
  at("finish").value = state.finish;
  own = stateText(state, PRESETS);
  if (!writing) writing = setTimeout(writeLink, OFTEN);
  return view;
}

function writeLink() {
  writing = null;
  history.replaceState(null, "", `#${own}`);
}
