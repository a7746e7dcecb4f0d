// Mouse, finger, keyboard and links, and what they do.

let drag = null;

document.addEventListener("click", (event) => {
  const button = event.target.closest(
    "[data-do], [data-preset], [data-way], [data-coin], [data-loss], [data-go]",
  );
  if (!button || button.getAttribute("aria-disabled") === "true") return;
  const { do: act, preset, way, coin, loss, go: step } = button.dataset;
  if (act) ACTIONS[act]();
  else if (preset) choosePreset(preset);
  else if (way) {
    const view = change(null, (next) => {
      next.strategy = way;
      if (step) next.step = Number(step);
    });
    if (view) say(`${way}. ${verdict(view)[1]}`);
  } else if (coin)
    change(null, (next) => {
      const all = [...next.coins.padEnd(8, "0")];
      all[coin] = all[coin] === "1" ? "0" : "1";
      next.coins = all.join("");
    });
  else if (loss) {
    const view = change(null, (next) => {
      next.loss = loss;
    });
    if (view)
      say(`${loss}: ${view.here ? shown(lossAt(loss, view.here).value) : "no neighbors here"}.`);
  } else if (step) go(Number(step));
});

// A loss shows its equation and its gradient while one points at it or has it in focus.
function hover(name) {
  if (name === hovered) return;
  hovered = name;
  render();
}
at("loss-rows").addEventListener("pointerover", (event) => {
  if (event.pointerType !== "touch") hover(event.target.closest("tr")?.dataset.loss ?? null);
});
at("loss-rows").addEventListener("pointerleave", () => hover(null));
at("loss-rows").addEventListener("focusin", (event) => {
  if (event.target.matches(":focus-visible")) hover(event.target.dataset.loss);
});
at("loss-rows").addEventListener("focusout", () => hover(null));

// Sliders by mouse, finger and pen: anywhere on the line of a number.
at("tree").addEventListener("pointerdown", (event) => {
  const slider = event.target.closest("[data-slider]"),
    node = event.target.closest("[data-node]");
  if (node) {
    state.chosen = Number(node.dataset.node);
    render();
  }
  if (!slider || event.button) return;
  event.preventDefault();
  slider.focus({ preventScroll: true });
  const { slider: kind, number } = slider.dataset,
    view = look(),
    size = placed(view, at("tree").clientWidth);
  drag = {
    kind,
    number: Number(number),
    from: event.clientX,
    value: view.nodes[number].tree[kind],
    unit: scaleOf(kind, size).unit,
    id: event.pointerId,
  };
  at("tree").setPointerCapture(event.pointerId);
  lastKey = null;
});
at("tree").addEventListener("pointermove", (event) => {
  if (!drag || drag.id !== event.pointerId) return;
  const moved = drag.value + (event.clientX - drag.from) / drag.unit;
  if (Math.abs(event.clientX - drag.from) < 2) return;
  lastTime = performance.now(); // a drag is undone as one, however long it takes
  setNumber(drag.number, drag.kind, Math.round(moved / STEP[drag.kind]) * STEP[drag.kind]);
});
for (const name of ["pointerup", "pointercancel"])
  at("tree").addEventListener(name, () => {
    drag = null;
    lastKey = null;
  });

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.target.matches("input")) {
    const word =
      event.key === "z" && !event.shiftKey
        ? "undo"
        : event.key === "y" || (event.key === "Z" && event.shiftKey)
          ? "redo"
          : null;
    if (word) {
      event.preventDefault();
      ACTIONS[word]();
    }
    return;
  }
  if (event.altKey || event.metaKey || event.ctrlKey) return;
  const slider = event.target.closest("[data-slider]"),
    beam = event.target.closest("g[data-go]");
  if (beam && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    go(Number(beam.dataset.go));
  }
  if (!slider) return;
  const { slider: kind, number } = slider.dataset,
    [low, high] = RANGE[kind],
    small = STEP[kind];
  const value = look().nodes[number].tree[kind];
  const to = {
    ArrowUp: value + small,
    ArrowRight: value + small,
    ArrowDown: value - small,
    ArrowLeft: value - small,
    PageUp: value + 1,
    PageDown: value - 1,
    Home: low,
    End: high,
  }[event.key];
  if (to !== undefined) {
    event.preventDefault();
    setNumber(Number(number), kind, to);
  }
  if (event.key === "Enter") {
    event.preventDefault();
    at("chosen").querySelector(`[data-type="${kind}"]`)?.select();
  }
  if (event.key === "Insert" || event.key === "Delete") {
    event.preventDefault();
    state.chosen = Number(number);
    ACTIONS[event.key === "Insert" ? "add" : "remove"]();
  }
});
at("tree").addEventListener("focusin", (event) => {
  const slider = event.target.closest("[data-slider]");
  if (slider && state.chosen !== Number(slider.dataset.number)) {
    state.chosen = Number(slider.dataset.number);
    render();
  }
});
at("chosen").addEventListener("change", (event) => {
  const kind = event.target.dataset.type;
  if (kind && event.target.value !== "") setNumber(state.chosen, kind, Number(event.target.value));
  event.target.value = look().nodes[state.chosen].tree[kind];
});
at("width").addEventListener("input", (event) => {
  const view = change("width", (next) => {
    next.k = Number(event.target.value);
  });
  if (view) say(`Width ${state.k}. ${verdict(view)[1]}`);
});
for (const name of ["scores", "finish"]) {
  at(name).addEventListener("change", (event) => {
    const view = change(null, (next) => {
      next[name] = event.target.value;
    });
    if (view) say(verdict(view)[1]);
  });
}

// The state comes from the link; what cannot be read is said, and the first example shown.
function open() {
  const text = location.hash.slice(1);
  at("message").hidden = true;
  let found;
  try {
    found = parseState(text || `preset=${PRESETS[0].name}`, PRESETS);
  } catch (error) {
    if (!(error instanceof LinkError)) throw error;
    at("message").textContent =
      `This link cannot be read: ${error.message}. Here is the first example instead.`;
    at("message").hidden = false;
    found = parseState(`preset=${PRESETS[0].name}`, PRESETS);
  }
  if (state) past.push(copied(state));
  origin = { ...found, chosen: null };
  state = copied(origin);
  future = [];
  render();
  requestAnimationFrame(() => requestAnimationFrame(() => document.body.classList.add("moving")));
}
addEventListener("hashchange", () => {
  if (location.hash.slice(1) !== own) open();
});
open();
new ResizeObserver(() => render()).observe(at("tree"));
