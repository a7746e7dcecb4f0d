// What stands beside the tree: the two orders, the losses, the strategies, and what happens in words.

const FULL = 4;  // the value at which the bar of a loss is full

function verdict(view) {
  const { state, path, here, step, nodes } = view, least = nodes[0].cstar;
  const end = path.beams.length === step;
  if (end) {
    const stopped = path.transitions[step - 2]?.stopped, output = view.beam[0];
    const gap = cheapest(view.beam) - least;
    if (stopped) return ["bad", `Here stop ends the trajectory: the cost of its last beam is ${shown(cheapest(view.beam))}, and the best output costs ${shown(least)}.`];
    return [gap > 0 ? "bad" : "good", `The output is ${named(output)}, with cost ${shown(output.cstar)}. ${gap > 0 ? `The best output costs ${shown(least)}.` : "No output costs less."}`];
  }
  const names = (list) => listed(list.map(named)), few = here.a.length <= here.width;
  const kept = few ? `All ${here.a.length} neighbors stay` : `Of ${here.a.length} neighbors the learned policy keeps ${names(here.learned)}`;
  const cost = here.increased ? `The cost rises by ${shown(here.increase)}: ${named(view.star)} falls out.` : "The cost does not rise.";
  const way = { oracle: ` The oracle goes to ${names(here.next)}.`, reset: ` Reset puts ${names(here.next)} back.`, stop: " Stop ends here.", learned: "" }[here.by];
  return [here.increased ? "bad" : "good", `Beam ${step}. ${kept}. ${cost}${here.by === "oracle" && state.strategy !== "oracle" ? " The coin says oracle:" : ""}${way}`];
}

// The two permutations: by score on the left, by cost on the right, a line for each neighbor.
function drawOrders(view, room) {
  const { here } = view;
  if (!here) return el("p", { class: "soft" }, "The last beam has no neighbors that could be ranked. Go back a step.");
  const { a, width } = here, b = view.ranked, row = 25, top = 30, w = Math.min(room, 520), side = Math.min(178, (w - 60) * 0.4);
  const y = (place) => top + row * place + row / 2, cutAt = top + row * Math.min(width, a.length);
  const places = { hat: new Map(b.hat.map((i, at) => [i, at])), star: new Map(b.star.map((i, at) => [i, at])) };
  const letters = Math.floor((side - 66) / LETTER);
  const entry = (kind, i) => {
    const node = a[i], left = kind === "hat", at = places[kind].get(i), push = left ? -view.gradient[i] : 0;
    const classes = ["entry", at < width ? "in" : "out", i === b.best ? "star" : "", view.lost === node ? "lost" : ""];
    return el("g", { key: `${kind}${node.number}`, class: classes.join(" "), style: `transform: translate(${left ? 0 : w - side}px, ${y(at) - 10}px)` },
      el("rect", { width: side, height: 20, rx: 5 }),
      el("text", { class: "place", x: 7, y: 14 }, at + 1),
      el("text", { class: "label", x: 24, y: 14 }, cut(named(node), letters)),
      el("text", { class: "number", x: side - (left ? 20 : 8), y: 14, "text-anchor": "end" }, shown(left ? node.s : node.cstar)),
      left && Math.abs(push) > 5e-4 && el("path", { class: push > 0 ? "push up" : "push down", d: push > 0 ? "M0 -4L4 3H-4Z" : "M0 4L4 -3H-4Z", transform: `translate(${side - 10} 10)` }));
  };
  const lines = a.map((node, i) => {
    const from = y(places.hat.get(i)), to = y(places.star.get(i)), middle = w / 2;
    return el("path", { key: node.number, class: `line ${i === b.best ? "star" : ""} ${view.lost === node ? "lost" : ""}`, style: `d: path("M${side} ${from}C${middle} ${from} ${middle} ${to} ${w - side} ${to}")`, d: `M${side} ${from}C${middle} ${from} ${middle} ${to} ${w - side} ${to}` });
  });
  const said = `By score: ${b.hat.map((i) => named(a[i])).join(", ")}. By cost: ${b.star.map((i) => named(a[i])).join(", ")}. The beam has ${width}.`;
  return el("svg", { width: w, height: top + row * a.length + 6, viewBox: `0 0 ${w} ${top + row * a.length + 6}`, role: "img", "aria-label": said },
    el("text", { class: "head", x: 0, y: 16 }, el("tspan", { class: "math" }, "σ̂"), " by score"),
    el("text", { class: "head", x: w, y: 16, "text-anchor": "end" }, el("tspan", { class: "math" }, "σ*"), " by cost"),
    width < a.length && el("path", { key: "cut", class: "cut", d: `M0 ${cutAt}H${w}` }),
    el("g", { key: "lines" }, lines),
    width < a.length && el("text", { key: "k", class: "cut", x: w / 2, y: cutAt + 4, "text-anchor": "middle" }, `k = ${width}`),
    el("g", { key: "hat" }, a.map((_, i) => entry("hat", i))), el("g", { key: "star" }, a.map((_, i) => entry("star", i))));
}

function lossTable(view) {
  const { here, state } = view;
  const rows = view.facts.map((fact) => {
    const found = here && lossAt(fact.name, here), on = state.loss === fact.name;
    const along = lossAlong(fact.name, view.path.transitions, view.nodes, state.scores).value;
    const most = found ? Math.max(1e-9, ...found.gradient.map(Math.abs)) : 1;
    const strip = found ? view.ranked.hat.map((i) => {
      const push = -found.gradient[i], kind = Math.abs(push) < 5e-4 ? "still" : push > 0 ? "up" : "down";
      const tall = 4 + 9 * Math.abs(push) / most;
      const d = kind === "still" ? "M2 8H8" : kind === "up" ? `M5 ${8 - tall / 2}l5 ${tall}h-10Z` : `M5 ${8 + tall / 2}l5 ${-tall}h-10Z`;
      return el("svg", { class: `tick ${kind}`, width: 10, height: 16, viewBox: "0 0 10 16" }, el("path", { d }));
    }) : [];
    const ups = found ? here.a.filter((_, i) => found.gradient[i] < -5e-4).map(named) : [];
    const downs = found ? here.a.filter((_, i) => found.gradient[i] > 5e-4).map(named) : [];
    const pushes = [ups.length && `raises ${listed(ups)}`, downs.length && `lowers ${listed(downs)}`].filter(Boolean).join(", ") || "pushes nothing";
    const value = found ? found.value : 0, part = 100 * Math.min(1, value / FULL);
    return el("tr", { key: fact.name, class: on ? "on" : "", "data-loss": fact.name },
      el("th", { scope: "row" }, el("button", { type: "button", "aria-pressed": String(on), "data-loss": fact.name, title: fact.summary }, el("span", { class: "equation-number" }, `(${fact.number})`), ` ${fact.name}`)),
      el("td", { class: "value" }, found ? shown(found.value) : "–"),
      el("td", { class: "bar" }, el("div", { class: value > FULL ? "track over" : "track" },
        el("div", { class: fact.bounds ? "fill bounds" : "fill", style: `width: ${part}%` }),
        here?.increase > 0 && el("div", { class: "mark", style: `left: ${100 * Math.min(1, here.increase / FULL)}%` }))),
      el("td", { class: "pushes" }, el("span", { class: "said" }, pushes), el("span", { class: "strip", "aria-hidden": "true" }, strip)),
      el("td", { class: "along", title: "along the whole trajectory" }, shown(along)));
  });
  return rows;
}

function lossDetail(view) {
  const fact = view.facts.find((one) => one.name === view.state.loss);
  const flags = [fact.convex ? "convex" : "not convex", fact.bounds ? "bounds the transition cost" : "no bound on the transition cost", fact.needs === "costs" ? "needs all costs" : "needs only the cheapest neighbor"];
  return [el("p", { class: "equation", html: fact.equation, role: "math", "aria-label": `Equation ${fact.number}: ${fact.plain}` }),
    el("p", { class: "summary" }, fact.summary.replaceAll("`", "")), el("p", { class: "flags" }, flags.map((flag) => el("span", {}, flag)))];
}

function strategyTable(view) {
  const most = Math.max(...view.paths.map(([, path]) => path.beams.length));
  const head = el("tr", {}, el("th", { scope: "col" }, "strategy"), [...Array(most).keys()].map((at) => el("th", { scope: "col" }, "b", el("sub", {}, at + 1))), el("th", { scope: "col" }, "cost"));
  const rows = view.paths.map(([name, path]) => {
    const on = name === view.state.strategy;
    const cells = [...Array(most).keys()].map((at) => {
      const beam = path.beams[at], came = path.transitions[at - 1];
      if (!beam) return el("td", { class: "none" });
      const kind = [came?.increased ? "raised" : "", came?.by === "reset" || came?.by === "oracle" ? "oracle" : ""].join(" ");
      const mark = came?.stopped ? " ■" : came?.by === "reset" ? " ↺" : "";
      return el("td", { class: `${kind} ${on && at + 1 === view.step ? "now" : ""}` },
        el("button", { type: "button", "data-way": name, "data-go": at + 1, "aria-label": `${name}, beam ${at + 1}: ${listed(beam.map(named))}${came?.increased ? `, where the learned policy raises the cost by ${shown(came.increase)}` : ""}` },
          at ? beam.map((node) => el("span", { class: node.cstar === view.nodes[0].cstar ? "right" : "" }, named(node))) : el("span", {}, beam[0].name), mark && el("span", { class: "sign" }, mark)));
    });
    return el("tr", { key: name, class: on ? "on" : "" },
      el("th", { scope: "row" }, el("button", { type: "button", "aria-pressed": String(on), "data-way": name }, name)), cells,
      el("td", { class: "total" }, shown(cheapest(path.beams[path.beams.length - 1]))));
  });
  return [el("thead", {}, head), el("tbody", {}, rows)];
}

function coins(view) {
  const { path, state } = view;
  if (state.strategy !== "interpolate") return [];
  return [el("span", { class: "soft" }, "Coins: "), path.transitions.map((_, at) => {
    const oracle = state.coins[at] === "1";
    return el("button", { type: "button", key: at, "data-coin": at, "aria-pressed": String(oracle), "aria-label": `Coin at beam ${at + 1}: ${oracle ? "oracle" : "learned"}` }, el("span", {}, "b", el("sub", {}, at + 1)), oracle ? " oracle" : " learned");
  }), el("button", { type: "button", "data-do": "toss", key: "toss" }, "Toss all")];
}

// The node that was touched last, with its numbers to type.
function chosenNode(view) {
  const node = view.nodes[view.state.chosen];
  if (!node) return [];
  const field = (kind, label) => el("label", { key: kind }, label, el("input", { type: "number", "data-type": kind, min: RANGE[kind][0], max: RANGE[kind][1], step: "any", value: node.tree[kind] }));
  const score = view.state.scores === "absolute" ? "Score" : "Number";
  return [el("strong", {}, named(node)), node.parent && field("score", score), node.parent && isTerminal(node) && field("cost", "Cost"),
    view.state.scores !== "absolute" && node.parent && el("span", { class: "soft" }, `score ${shown(node.s)}`),
    el("button", { type: "button", "data-do": "add" }, "Add a child"), node.parent && el("button", { type: "button", "data-do": "remove" }, "Remove")];
}
