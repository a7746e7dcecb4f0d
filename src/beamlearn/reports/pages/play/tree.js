// The tree as a drawing: a column for each step, with the slots of its beam above.

const HEAD = 26,
  SLOT = 20,
  ROW = 60,
  LETTER = 7.1;
const RANGE = { score: [-LIMITS.score, LIMITS.score], cost: [0, LIMITS.cost] };
const STEP = { score: 0.25, cost: 0.5 };

function placed(view, room) {
  const columns = Math.max(...view.nodes.map((node) => node.depth)) + 1;
  const wide = Math.max(86, Math.min(215, (room - 4) / columns));
  const box = Math.min(150, wide - Math.max(16, wide * 0.26));
  const top = HEAD + SLOT * view.state.k + 22;
  let rows = 0;
  const visit = (node) => {
    node.children.forEach(visit);
    node.row = node.children.length
      ? (node.children[0].row + node.children[node.children.length - 1].row) / 2
      : rows++;
    node.tall = isTerminal(node) ? 55 : node.parent ? 41 : 24;
    node.x = 2 + node.depth * wide;
    node.y = top + ROW * (node.row + 0.5);
  };
  visit(view.nodes[0]);
  return {
    columns,
    wide,
    box,
    top,
    width: Math.round(columns * wide + 2),
    height: top + ROW * rows + 8,
    narrow: box < 100,
  };
}

function drawTree(view, room) {
  const size = placed(view, room);
  const columns = [...Array(size.columns).keys()];
  const band = (depth, kind) =>
    depth < size.columns &&
    el("rect", {
      key: kind,
      class: `band ${kind}`,
      x: depth * size.wide - 4,
      y: 0,
      width: size.box + 12,
      height: size.height,
      rx: 8,
    });
  const edges = view.nodes.slice(1).map((node) => {
    const from = node.parent.x + size.box,
      y = node.parent.y,
      middle = (from + node.x) / 2;
    const kind = `${view.visited.has(node) ? "visited" : view.seen.has(node) ? "seen" : "unseen"} ${view.lost === node ? "lost" : ""}`;
    return el("path", {
      key: node.number,
      class: `edge ${kind}`,
      d: `M${from} ${y}C${middle} ${y} ${middle} ${node.y} ${node.x} ${node.y}`,
    });
  });
  return el(
    "svg",
    {
      width: size.width,
      height: size.height,
      viewBox: `-4 0 ${size.width + 6} ${size.height}`,
      role: "group",
      "aria-label": "The tree. Each node has a slider for its score, each leaf one for its cost.",
    },
    el("g", { key: "bands" }, band(view.step - 1, "now"), view.here && band(view.step, "then")),
    el(
      "g",
      { key: "slots" },
      columns.map((depth) => drawSlots(view, depth + 1, size)),
    ),
    el("g", { key: "edges", "aria-hidden": "true" }, edges),
    el(
      "g",
      { key: "nodes" },
      view.nodes.map((node) => drawNode(view, node, size)),
    ),
  );
}

function drawSlots(view, step, size) {
  const beam = view.path.beams[step - 1],
    x = (step - 1) * size.wide + 2;
  const letters = Math.floor((size.box - 24) / LETTER),
    names = (beam ?? []).map(named);
  const rows = [...Array(view.state.k).keys()].map((slot) => {
    const node = beam?.[slot],
      y = HEAD + slot * SLOT;
    return el(
      "g",
      {
        key: slot,
        class: node ? (node.cstar === view.nodes[0].cstar ? "slot right" : "slot") : "slot empty",
      },
      el("rect", { x, y, width: size.box, height: SLOT - 3, rx: 4 }),
      el("text", { class: "place", x: x + 7, y: y + 12.5 }, slot + 1),
      node && el("text", { x: x + 18, y: y + 12.5 }, cut(named(node), letters)),
    );
  });
  const raised = beam && step > 1 ? cheapest(beam) - cheapest(view.path.beams[step - 2]) : 0;
  const cost = beam && `c* ${shown(cheapest(beam))}`;
  return el(
    "g",
    {
      key: step,
      class: `beam ${step === view.step ? "on" : ""}`,
      ...(beam
        ? {
            role: "button",
            tabindex: 0,
            "data-go": step,
            "aria-label": `Beam ${step}: ${listed(names)}; cost ${shown(cheapest(beam))}`,
            "aria-current": step === view.step ? "step" : null,
          }
        : { "aria-hidden": "true" }),
    },
    el("rect", {
      class: "ring",
      x: x - 3,
      y: 2,
      width: size.box + 6,
      height: HEAD + SLOT * view.state.k - 3,
      rx: 6,
    }),
    el("text", { class: "head", x, y: 18 }, "b", el("tspan", { class: "index", dy: 3 }, step)),
    beam &&
      el(
        "text",
        {
          class: raised > 0 ? "cost raised" : "cost",
          x: x + size.box,
          y: 18,
          "text-anchor": "end",
        },
        raised > 0 && !size.narrow ? `${cost} ▲` : cost,
      ),
    rows,
  );
}
