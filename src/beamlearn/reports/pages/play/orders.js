// The two permutations: by score on the left, by cost on the right, a line for each neighbor.

function drawOrders(view, room) {
  const { here } = view;
  if (!here)
    return el(
      "p",
      { class: "soft" },
      "The last beam has no neighbors that could be ranked. Go back a step.",
    );
  const { a, width } = here,
    b = view.ranked,
    row = 25,
    top = 30,
    w = Math.min(room, 520),
    side = Math.min(178, (w - 60) * 0.4);
  const y = (place) => top + row * place + row / 2,
    cutAt = top + row * Math.min(width, a.length);
  const places = {
    hat: new Map(b.hat.map((i, at) => [i, at])),
    star: new Map(b.star.map((i, at) => [i, at])),
  };
  const letters = Math.floor((side - 66) / LETTER);
  const entry = (kind, i) => {
    const node = a[i],
      left = kind === "hat",
      at = places[kind].get(i),
      push = left ? -view.gradient[i] : 0;
    const classes = [
      "entry",
      at < width ? "in" : "out",
      i === b.best ? "star" : "",
      view.lost === node ? "lost" : "",
    ];
    return el(
      "g",
      {
        key: `${kind}${node.number}`,
        class: classes.join(" "),
        style: `transform: translate(${left ? 0 : w - side}px, ${y(at) - 10}px)`,
      },
      el("rect", { width: side, height: 20, rx: 5 }),
      el("text", { class: "place", x: 7, y: 14 }, at + 1),
      el("text", { class: "label", x: 24, y: 14 }, cut(named(node), letters)),
      el(
        "text",
        { class: "number", x: side - (left ? 20 : 8), y: 14, "text-anchor": "end" },
        shown(left ? node.s : node.cstar),
      ),
      left &&
        Math.abs(push) > 5e-4 &&
        el("path", {
          class: push > 0 ? "push up" : "push down",
          d: push > 0 ? "M0 -4L4 3H-4Z" : "M0 4L4 -3H-4Z",
          transform: `translate(${side - 10} 10)`,
        }),
    );
  };
  const lines = a.map((node, i) => {
    const from = y(places.hat.get(i)),
      to = y(places.star.get(i)),
      middle = w / 2;
    return el("path", {
      key: node.number,
      class: `line ${i === b.best ? "star" : ""} ${view.lost === node ? "lost" : ""}`,
      style: `d: path("M${side} ${from}C${middle} ${from} ${middle} ${to} ${w - side} ${to}")`,
      d: `M${side} ${from}C${middle} ${from} ${middle} ${to} ${w - side} ${to}`,
    });
  });
  const said = `By score: ${b.hat.map((i) => named(a[i])).join(", ")}. By cost: ${b.star.map((i) => named(a[i])).join(", ")}. The beam has ${width}.`;
  return el(
    "svg",
    {
      width: w,
      height: top + row * a.length + 6,
      viewBox: `0 0 ${w} ${top + row * a.length + 6}`,
      role: "img",
      "aria-label": said,
    },
    el("text", { class: "head", x: 0, y: 16 }, el("tspan", { class: "math" }, "σ̂"), " by score"),
    el(
      "text",
      { class: "head", x: w, y: 16, "text-anchor": "end" },
      el("tspan", { class: "math" }, "σ*"),
      " by cost",
    ),
    width < a.length && el("path", { key: "cut", class: "cut", d: `M0 ${cutAt}H${w}` }),
    el("g", { key: "lines" }, lines),
    width < a.length &&
      el(
        "text",
        { key: "k", class: "cut", x: w / 2, y: cutAt + 4, "text-anchor": "middle" },
        `k = ${width}`,
      ),
    el(
      "g",
      { key: "hat" },
      a.map((_, i) => entry("hat", i)),
    ),
    el(
      "g",
      { key: "star" },
      a.map((_, i) => entry("star", i)),
    ),
  );
}
