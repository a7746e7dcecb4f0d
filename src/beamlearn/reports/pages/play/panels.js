// What stands beside the tree: what happens in words, the strategies, and the node in hand.

function verdict(view) {
  const { state, path, here, step, nodes } = view,
    least = nodes[0].cstar;
  const end = path.beams.length === step;
  if (end) {
    const stopped = path.transitions[step - 2]?.stopped,
      output = view.beam[0];
    const gap = cheapest(view.beam) - least;
    if (stopped)
      return [
        "bad",
        `Here stop ends the trajectory: the cost of its last beam is ${shown(cheapest(view.beam))}, and the best output costs ${shown(least)}.`,
      ];
    return [
      gap > 0 ? "bad" : "good",
      `The output is ${named(output)}, with cost ${shown(output.cstar)}. ${gap > 0 ? `The best output costs ${shown(least)}.` : "No output costs less."}`,
    ];
  }
  const names = (list) => listed(list.map(named)),
    few = here.a.length <= here.width;
  const kept = few
    ? `All ${here.a.length} neighbors stay`
    : `Of ${here.a.length} neighbors the learned policy keeps ${names(here.learned)}`;
  const cost = here.increased
    ? `The cost rises by ${shown(here.increase)}: ${named(view.star)} falls out.`
    : "The cost does not rise.";
  const way = {
    oracle: ` The oracle goes to ${names(here.next)}.`,
    reset: ` Reset puts ${names(here.next)} back.`,
    stop: " Stop ends here.",
    learned: "",
  }[here.by];
  return [
    here.increased ? "bad" : "good",
    `Beam ${step}. ${kept}. ${cost}${here.by === "oracle" && state.strategy !== "oracle" ? " The coin says oracle:" : ""}${way}`,
  ];
}

function strategyTable(view) {
  const most = Math.max(...view.paths.map(([, path]) => path.beams.length));
  const head = el(
    "tr",
    {},
    el("th", { scope: "col" }, "strategy"),
    [...Array(most).keys()].map((at) => el("th", { scope: "col" }, "b", el("sub", {}, at + 1))),
    el("th", { scope: "col" }, "cost"),
  );
  const rows = view.paths.map(([name, path]) => {
    const on = name === view.state.strategy;
    const cells = [...Array(most).keys()].map((at) => {
      const beam = path.beams[at],
        came = path.transitions[at - 1];
      if (!beam) return el("td", { class: "none" });
      const kind = [
        came?.increased ? "raised" : "",
        came?.by === "reset" || came?.by === "oracle" ? "oracle" : "",
      ].join(" ");
      const mark = came?.stopped ? " ■" : came?.by === "reset" ? " ↺" : "";
      return el(
        "td",
        { class: `${kind} ${on && at + 1 === view.step ? "now" : ""}` },
        el(
          "button",
          {
            type: "button",
            "data-way": name,
            "data-go": at + 1,
            "aria-label": `${name}, beam ${at + 1}: ${listed(beam.map(named))}${came?.increased ? `, where the learned policy raises the cost by ${shown(came.increase)}` : ""}`,
          },
          at
            ? beam.map((node) =>
                el(
                  "span",
                  { class: node.cstar === view.nodes[0].cstar ? "right" : "" },
                  named(node),
                ),
              )
            : el("span", {}, beam[0].name),
          mark && el("span", { class: "sign" }, mark),
        ),
      );
    });
    return el(
      "tr",
      { key: name, class: on ? "on" : "" },
      el(
        "th",
        { scope: "row" },
        el("button", { type: "button", "aria-pressed": String(on), "data-way": name }, name),
      ),
      cells,
      el("td", { class: "total" }, shown(cheapest(path.beams[path.beams.length - 1]))),
    );
  });
  return [el("thead", {}, head), el("tbody", {}, rows)];
}

function coins(view) {
  const { path, state } = view;
  if (state.strategy !== "interpolate") return [];
  return [
    el("span", { class: "soft" }, "Coins: "),
    path.transitions.map((_, at) => {
      const oracle = state.coins[at] === "1";
      return el(
        "button",
        {
          type: "button",
          key: at,
          "data-coin": at,
          "aria-pressed": String(oracle),
          "aria-label": `Coin at beam ${at + 1}: ${oracle ? "oracle" : "learned"}`,
        },
        el("span", {}, "b", el("sub", {}, at + 1)),
        oracle ? " oracle" : " learned",
      );
    }),
    el("button", { type: "button", "data-do": "toss", key: "toss" }, "Toss all"),
  ];
}

// The node that was touched last, with its numbers to type.
function chosenNode(view) {
  const node = view.nodes[view.state.chosen];
  if (!node) return [];
  const field = (kind, label) =>
    el(
      "label",
      { key: kind },
      label,
      el("input", {
        type: "number",
        "data-type": kind,
        min: RANGE[kind][0],
        max: RANGE[kind][1],
        step: "any",
        value: node.tree[kind],
      }),
    );
  const score = view.state.scores === "absolute" ? "Score" : "Number";
  return [
    el("strong", {}, named(node)),
    node.parent && field("score", score),
    node.parent && isTerminal(node) && field("cost", "Cost"),
    view.state.scores !== "absolute" &&
      node.parent &&
      el("span", { class: "soft" }, `score ${shown(node.s)}`),
    el("button", { type: "button", "data-do": "add" }, "Add a child"),
    node.parent && el("button", { type: "button", "data-do": "remove" }, "Remove"),
  ];
}
