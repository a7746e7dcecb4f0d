// The losses at a beam: values, which neighbors they push, and what they are.

const FULL = 4; // the value at which the bar of a loss is full

function lossTable(view) {
  const { here, state } = view;
  const rows = view.facts.map((fact) => {
    const found = here && lossAt(fact.name, here),
      on = state.loss === fact.name;
    const along = lossAlong(fact.name, view.path.transitions, view.nodes, state.scores).value;
    const most = found ? Math.max(1e-9, ...found.gradient.map(Math.abs)) : 1;
    const strip = found
      ? view.ranked.hat.map((i) => {
          const push = -found.gradient[i],
            kind = Math.abs(push) < 5e-4 ? "still" : push > 0 ? "up" : "down";
          const tall = 4 + (9 * Math.abs(push)) / most;
          const d =
            kind === "still"
              ? "M2 8H8"
              : kind === "up"
                ? `M5 ${8 - tall / 2}l5 ${tall}h-10Z`
                : `M5 ${8 + tall / 2}l5 ${-tall}h-10Z`;
          return el(
            "svg",
            { class: `tick ${kind}`, width: 10, height: 16, viewBox: "0 0 10 16" },
            el("path", { d }),
          );
        })
      : [];
    const ups = found ? here.a.filter((_, i) => found.gradient[i] < -5e-4).map(named) : [];
    const downs = found ? here.a.filter((_, i) => found.gradient[i] > 5e-4).map(named) : [];
    const pushes =
      [ups.length && `raises ${listed(ups)}`, downs.length && `lowers ${listed(downs)}`]
        .filter(Boolean)
        .join(", ") || "pushes nothing";
    const value = found ? found.value : 0,
      part = 100 * Math.min(1, value / FULL);
    return el(
      "tr",
      { key: fact.name, class: on ? "on" : "", "data-loss": fact.name },
      el(
        "th",
        { scope: "row" },
        el(
          "button",
          {
            type: "button",
            "aria-pressed": String(on),
            "data-loss": fact.name,
            title: fact.summary,
          },
          el("span", { class: "equation-number" }, `(${fact.number})`),
          ` ${fact.name}`,
        ),
      ),
      el("td", { class: "value" }, found ? shown(found.value) : "–"),
      el(
        "td",
        { class: "bar" },
        el(
          "div",
          { class: value > FULL ? "track over" : "track" },
          el("div", { class: fact.bounds ? "fill bounds" : "fill", style: `width: ${part}%` }),
          here?.increase > 0 &&
            el("div", {
              class: "mark",
              style: `left: ${100 * Math.min(1, here.increase / FULL)}%`,
            }),
        ),
      ),
      el(
        "td",
        { class: "pushes" },
        el("span", { class: "said" }, pushes),
        el("span", { class: "strip", "aria-hidden": "true" }, strip),
      ),
      el("td", { class: "along", title: "along the whole trajectory" }, shown(along)),
    );
  });
  return rows;
}

function lossDetail(view) {
  const fact = view.facts.find((one) => one.name === view.state.loss);
  const flags = [
    fact.convex ? "convex" : "not convex",
    fact.bounds ? "bounds the transition cost" : "no bound on the transition cost",
    fact.needs === "costs" ? "needs all costs" : "needs only the cheapest neighbor",
  ];
  return [
    el("p", {
      class: "equation",
      html: fact.equation,
      role: "math",
      "aria-label": `Equation ${fact.number}: ${fact.plain}`,
    }),
    el("p", { class: "summary" }, fact.summary.replaceAll("`", "")),
    el(
      "p",
      { class: "flags" },
      flags.map((flag) => el("span", {}, flag)),
    ),
  ];
}
