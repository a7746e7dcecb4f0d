// A node of the tree, and the sliders in it.

function drawNode(view, node, size) {
  const { here } = view,
    kinds = ["node"],
    at = here ? here.a.indexOf(node) : -1;
  if (!view.seen.has(node) && node.parent) kinds.push("unseen");
  if (view.visited.has(node)) kinds.push("visited");
  if (view.beam.includes(node)) kinds.push("now");
  if (at >= 0) kinds.push(here.next.includes(node) ? "kept" : "dropped");
  if (view.lost === node) kinds.push("lost");
  if (view.state.chosen === node.number) kinds.push("chosen");
  const right = node.cstar === view.nodes[0].cstar,
    w = size.box,
    letters = Math.floor(
      (w - (right ? 22 : 10) - (isTerminal(node) || size.narrow ? 0 : 34)) / 8.4,
    );
  const push = at >= 0 ? -view.gradient[at] : 0;
  return el(
    "g",
    {
      key: node.number,
      class: kinds.join(" "),
      transform: `translate(${node.x} ${node.y - node.tall / 2})`,
      "data-node": node.number,
    },
    el("rect", { class: "box", width: w, height: node.tall, rx: 7 }),
    el(
      "text",
      { class: "name", x: 8, y: 16 },
      cut(node.name, letters),
      right && el("tspan", { class: "check", dx: 5 }, "✓"),
    ),
    !isTerminal(node) &&
      !size.narrow &&
      el(
        "text",
        { class: "cstar", x: w - 7, y: 16, "text-anchor": "end" },
        `c* ${shown(node.cstar)}`,
      ),
    node.parent && drawSlider(view, node, "score", 22, size, push),
    isTerminal(node) && drawSlider(view, node, "cost", 37, size, 0),
    Math.abs(push) > 5e-4 &&
      el(
        "g",
        {
          class: push > 0 ? "push up" : "push down",
          "aria-hidden": "true",
          transform: size.narrow
            ? `translate(${w - 9} -1)`
            : isTerminal(node)
              ? `translate(${w + 11} ${node.tall / 2})`
              : `translate(${w - 36} -8)`,
        },
        el("path", { d: push > 0 ? "M0 -6L6 4H-6Z" : "M0 6L6 -4H-6Z" }),
        !size.narrow && el("text", { x: 9, y: 4 }, shown(Math.abs(push))),
      ),
  );
}

// From the value to pixels, and how many pixels a drag needs for 1.
function scaleOf(kind, size) {
  const [low, high] = RANGE[kind],
    from = size.narrow ? 8 : 23,
    to = size.box - (size.narrow ? 8 : 42);
  const unit = (to - from) / (high - low);
  return { from, to, x: (value) => from + (value - low) * unit, unit: unit < 8 ? 14 : unit };
}

function drawSlider(view, node, kind, y, size, push) {
  const value = node.tree[kind],
    scale = scaleOf(kind, size),
    [low, high] = RANGE[kind],
    x = scale.x(value);
  const zero = scale.x(kind === "score" ? 0 : low),
    name = named(node),
    line = size.narrow ? y + 14 : y + 7;
  const text = size.narrow ? y + 9 : y + 11;
  const other =
    kind === "score" && view.state.scores !== "absolute" ? `, score ${shown(node.s)}` : "";
  const long = Math.max(9, Math.min(34, Math.abs(push) * 12)) * Math.sign(push),
    tip = x + long;
  return el(
    "g",
    {
      key: kind,
      class: `slider ${kind}`,
      role: "slider",
      tabindex: 0,
      "data-slider": kind,
      "data-number": node.number,
      "aria-label": `${kind === "score" ? "Score" : "Cost"} of ${name}`,
      "aria-valuemin": low,
      "aria-valuemax": high,
      "aria-valuenow": value,
      "aria-valuetext": `${shown(value)}${other}`,
      "aria-orientation": "horizontal",
    },
    el("rect", { class: "ring", x: 3, y: y - 1, width: size.box - 6, height: 16, rx: 4 }),
    el("path", { class: "track", d: `M${scale.from} ${line}H${scale.to}` }),
    el("path", { class: "amount", d: `M${zero} ${line}H${x}` }),
    Math.abs(push) > 5e-4 &&
      el("path", {
        class: push > 0 ? "pull up" : "pull down",
        d: `M${x} ${line}H${tip}m${-4 * Math.sign(push)} -4l${4 * Math.sign(push)} 4l${-4 * Math.sign(push)} 4`,
      }),
    el("circle", { class: "knob", cx: x, cy: line, r: size.narrow ? 2.6 : 5 }),
    el("text", { class: "letter", x: 8, y: text }, kind[0]),
    el("text", { x: size.box - 8, y: text, "text-anchor": "end" }, shown(value)),
  );
}
