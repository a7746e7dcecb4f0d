// Bring the page to what it should be, changing only what differs: what has the focus keeps it.

const SVG = "http://www.w3.org/2000/svg";
const el = (tag, attributes = {}, ...children) => ({ tag, attributes, children });
const present = (child) => child !== null && child !== undefined && child !== false;

function patch(parent, wanted) {
  const known = new Map();
  for (const child of parent.childNodes) if (child.name_) known.set(child.name_, child);
  const seen = new Map();
  const names = wanted
    .flat(2)
    .filter(present)
    .map((one) => {
      if (typeof one !== "object") return ["#text", one];
      if (one.attributes.key !== undefined) return [`${one.tag} ${one.attributes.key}`, one];
      seen.set(one.tag, (seen.get(one.tag) ?? 0) + 1);
      return [`${one.tag}-${seen.get(one.tag)}`, one];
    });
  let after = parent.firstChild;
  for (const [name, one] of names) {
    let child = name === "#text" ? null : known.get(name);
    if (name === "#text") {
      if (after?.nodeType === Node.TEXT_NODE) {
        child = after;
        if (child.data !== String(one)) child.data = one;
      } else child = document.createTextNode(one);
    } else {
      child ??= made(parent, one.tag);
      child.name_ = name;
      known.delete(name);
      dress(child, one.attributes);
      if (one.attributes.html === undefined) patch(child, one.children);
    }
    if (child === after) after = after.nextSibling;
    else parent.insertBefore(child, after);
  }
  while (after) {
    const gone = after;
    after = after.nextSibling;
    gone.remove();
  }
}

function made(parent, tag) {
  const drawn =
    tag === "svg" || (parent.namespaceURI === SVG && parent.tagName !== "foreignObject");
  return drawn ? document.createElementNS(SVG, tag) : document.createElement(tag);
}

function dress(element, attributes) {
  for (const name of element.getAttributeNames())
    if (!(name in attributes)) element.removeAttribute(name);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "key") continue;
    if (name === "html") {
      if (element.html_ !== value) element.innerHTML = element.html_ = value;
      continue;
    }
    if (name === "value") {
      if (element.value !== String(value) && element !== document.activeElement)
        element.value = value;
      continue;
    }
    if (value === null || value === false || value === undefined) {
      element.removeAttribute(name);
      continue;
    }
    const text = value === true ? "" : String(value);
    if (element.getAttribute(name) !== text) element.setAttribute(name, text);
  }
}

// A number as the other pages show it.
function shown(value) {
  const rounded = Math.abs(value) < 5e-4 ? 0 : value;
  const text = Number.isInteger(rounded)
    ? String(rounded)
    : String(Number(rounded.toFixed(Math.abs(rounded) < 0.1 ? 3 : 2)));
  return text.replace("-", "\u2212");
}

const named = (node) => {
  const names = [];
  for (let one = node; one.parent; one = one.parent) names.unshift(one.name);
  return names.length ? names.join(" ") : node.name;
};
const cut = (text, letters) =>
  text.length <= letters ? text : `\u2026${text.slice(text.length - Math.max(1, letters - 1))}`;
const listed = (words) =>
  words.length < 2
    ? words.join("")
    : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
