// Small helpers for SVG and HTML nodes: made with attributes and properties only, never from markup text.

const SVG = "http://www.w3.org/2000/svg";

/** A new SVG element with the given attributes and children. */
export function svg(name, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, name);
  set(node, attributes);
  node.append(...children);
  return node;
}

/** A new HTML element; `class`, `text` and attributes by name, children after. */
export function html(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  const { text, ...rest } = attributes;
  set(node, rest);
  if (text !== undefined) node.textContent = text;
  node.append(...children);
  return node;
}

/** Sets attributes, touching the document only where one differs; null and false remove. */
export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false || value === undefined) {
      if (node.hasAttribute(name)) node.removeAttribute(name);
    } else if (node.getAttribute(name) !== String(value)) {
      node.setAttribute(name, value);
    }
  }
  return node;
}

/** Sets text where it differs. */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Shows or hides a node by its `hidden` attribute. */
export function show(node, visible) {
  if (visible) node.removeAttribute("hidden");
  else if (!node.hasAttribute("hidden")) node.setAttribute("hidden", "");
}

/** Runs `fill` only when `key` differs from what the node was last filled for: nothing is rebuilt needlessly. */
export function keyed(node, key, fill) {
  const text = typeof key === "string" ? key : JSON.stringify(key);
  if (node.filledFor === text) return false;
  node.filledFor = text;
  node.replaceChildren();
  fill(node);
  return true;
}
