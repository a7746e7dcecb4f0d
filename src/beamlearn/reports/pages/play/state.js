// What one sees as the text of a link, and back. Whatever a link says is checked.

const LIMITS = { nodes: 40, depth: 6, children: 8, score: 5, cost: 5, width: 6, letters: 12 };
const CHOICES = {
  strategy: ["oracle", "stop", "reset", "continue", "interpolate"],
  finish: ["pad", "first"],
  scores: ["absolute", "sum", "log-probabilities"],
  loss: Object.keys(LOSSES),
};
const USUAL = {
  k: 2,
  strategy: "continue",
  finish: "pad",
  scores: "absolute",
  coins: "10101010",
  step: 1,
  loss: "upper_bound",
};

class LinkError extends Error {}

// "name~score(child,child)"; a leaf is "name~score~cost", and the root has no score.
function parseTree(text) {
  let at = 0,
    count = 0;
  const match = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const node = (depth) => {
    const found = match(/([^~(),&=#]+)(?:~(-?\d+(?:\.\d+)?))?(?:~(\d+(?:\.\d+)?))?/y);
    if (!found) throw new LinkError(`the tree must have a name at character ${at + 1}`);
    const made = {
      name: found[1],
      score: Number(found[2] ?? 0),
      cost: Number(found[3] ?? 0),
      children: [],
    };
    if (made.name.length > LIMITS.letters)
      throw new LinkError(`names may have ${LIMITS.letters} letters`);
    if (Math.abs(made.score) > LIMITS.score || made.cost > LIMITS.cost)
      throw new LinkError(`the numbers of ${made.name} must be at most ${LIMITS.score}`);
    if (++count > LIMITS.nodes || depth > LIMITS.depth)
      throw new LinkError(`a tree may have ${LIMITS.nodes} nodes and ${LIMITS.depth} steps`);
    if (match(/\(/y)) {
      do made.children.push(node(depth + 1));
      while (match(/,/y));
      if (!match(/\)/y))
        throw new LinkError(`a bracket of the tree is not closed at character ${at + 1}`);
      if (made.children.length > LIMITS.children)
        throw new LinkError(`a node may have ${LIMITS.children} children`);
    }
    return made;
  };
  const root = node(0);
  if (at < text.length) throw new LinkError(`the tree must end at character ${at + 1}`);
  if (!root.children.length) throw new LinkError("the tree must have more than one node");
  return root;
}

function treeText({ name, score, cost, children }, root = true) {
  const leaf = !children.length;
  const numbers = root ? "" : `~${score}${leaf ? `~${cost}` : ""}`;
  return (
    name + numbers + (leaf ? "" : `(${children.map((child) => treeText(child, false)).join(",")})`)
  );
}

function parseState(text, presets) {
  const given = Object.fromEntries(
    text
      .split("&")
      .filter(Boolean)
      .map((part) => {
        const [name, ...value] = part.split("=");
        try {
          return [name, decodeURIComponent(value.join("="))];
        } catch {
          throw new LinkError("it has a percent sign that means nothing");
        }
      }),
  );
  const preset = presets.find((one) => one.name === given.preset);
  if (given.preset !== undefined && !preset)
    throw new LinkError(`there is no example called “${given.preset.slice(0, 30)}”`);
  if (!preset && !given.tree) throw new LinkError("it has neither an example nor a tree");
  const own = preset
    ? Object.fromEntries(preset.state.split("&").map((part) => part.split("=")))
    : {};
  const all = { ...USUAL, ...own, ...given };
  for (const [name, values] of Object.entries(CHOICES)) {
    if (!values.includes(all[name]))
      throw new LinkError(`${name} must be one of ${values.join(", ")}`);
  }
  for (const [name, most] of [
    ["k", LIMITS.width],
    ["step", 20],
  ]) {
    all[name] = Number(all[name]);
    if (!(Number.isInteger(all[name]) && all[name] >= 1 && all[name] <= most))
      throw new LinkError(`${name} must be a whole number from 1 to ${most}`);
  }
  if (!/^[01]{1,12}$/.test(all.coins)) throw new LinkError("coins must be zeros and ones");
  const { k, strategy, finish, scores, coins, step, loss } = all;
  return {
    preset: preset ? preset.name : null,
    tree: parseTree(all.tree),
    k,
    strategy,
    finish,
    scores,
    coins,
    step,
    loss,
  };
}

// The shortest text that says the same: what an example says already is left out.
function stateText(state, presets) {
  const preset = presets.find((one) => one.name === state.preset);
  const own = preset
    ? Object.fromEntries(preset.state.split("&").map((part) => part.split("=")))
    : {};
  const said = { ...USUAL, ...own };
  const tree = treeText(state.tree),
    parts = preset ? [`preset=${preset.name}`] : [];
  for (const name of Object.keys(USUAL)) {
    if (String(state[name]) !== String(said[name])) parts.push(`${name}=${state[name]}`);
  }
  const readable = encodeURIComponent(tree).replace(/%2C/g, ",").replace(/%20/g, "+");
  if (tree !== said.tree) parts.push(`tree=${readable.replace(/\+/g, "%20")}`);
  return parts.join("&");
}
