// As much of a document as the scripts need to make elements of, for tests without a browser.
class Made {
  constructor(tag) { Object.assign(this, {tag, attributes: {}, children: [], style: {}, listeners: {}, hidden: false, clientWidth: 400, clientHeight: 300, offsetWidth: 100, offsetHeight: 40}); }
  setAttribute(name, value) { this.attributes[name] = value; }
  addEventListener(kind, act) { this.listeners[kind] = act; }
  append(...more) { this.children.push(...more); }
  replaceChildren(...more) { this.children = more; }
  getBoundingClientRect() { return {left: 0, top: 0, width: this.clientWidth, height: this.clientHeight}; }
}
export const every = (made, tag) => [...(made.tag === tag ? [made] : []), ...(made.children || []).flatMap((child) => child.tag ? every(child, tag) : [])];
export function standIn(texts = {}) {
  globalThis.document = {createElementNS: (_, tag) => new Made(tag), createElement: (tag) => new Made(tag), getElementById: (id) => id in texts ? {textContent: texts[id]} : null, querySelectorAll: () => [], documentElement: new Made("html")};
}
export const frame = (panel) => ({panel, at: (x, y) => [10 * x, 100 - 10 * y], along: Object.assign((x) => 10 * x, {invert: (p) => p / 10}), across: (y) => 100 - 10 * y, ink: (c) => `ink-${c}`, real: (c) => `real-${c}`, box: {left: 0, right: 100, top: 0, bottom: 100, width: 100, height: 100}, lying: false, sharpness: 1});
