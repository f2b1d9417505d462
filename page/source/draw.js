// draw(element, panel, view): a panel as a picture in an element that has a size, with everything a reader can do with it.
import {legendOf, render} from "./panel.js";
import {Pointer} from "./pointer.js";

const known = new WeakMap();
export const sizeOf = (element) => ({width: element.clientWidth || 600, height: element.clientHeight || 320});

// view: `tell(i)` or `tell(i, j)` gives the lines told of a point, `onRow` is called with the row pointed at, `top` is room kept free above,
// `legend` whether the picture names its marks itself (it does by default), `size` the element's where it is known.
export function draw(element, panel, view = {}) {
  let handle = known.get(element);
  if (!handle) known.set(element, handle = new Drawing(element));
  return handle.update(panel, view);
}

class Drawing {
  constructor(element) {
    this.element = element;
    this.pointer = new Pointer(element);
    element.drawing = this;
  }
  update(panel, view) {
    Object.assign(this, {panel, view});
    const {element} = this, size = view.size || sizeOf(element);
    const made = render(element, panel, {...size, top: view.top, legend: view.legend ?? true});
    this.axes = made.axes;
    this.on = made.on;
    this.colours = made.colours;
    this.svg = made.svg;
    element.replaceChildren(made.svg);
    this.pointer.set(made, panel, view);
    return this;
  }
  destroy() {
    this.element.replaceChildren();
    this.pointer.drawn = null;
  }
  // Lift one group out of the others; null for none.
  light(group) {
    for (const part of this.svg.querySelectorAll("[data-group]")) part.classList.toggle("faint", group !== null && +part.dataset.group !== group);
  }
  over(marks) { this.pointer.draw(marks); }
  step(by) { return this.pointer.step(by); }
  // The picture on its own: with a ground, a title, a legend, and what it says.
  file({title = "", caption = "", legend = true} = {}) {
    const {element} = this, {width, height: plain} = sizeOf(element), lines = Math.ceil(6.2 * caption.length / Math.max(80, width - 48));
    const rows = legend ? Math.ceil(legendOf(this.panel).size / 2) : 0;
    const made = render(element, this.panel, {width, height: plain - (this.view.top || 0) + 30 + 20 * rows + 20 * lines + 20, real: true, title, caption, legend});
    made.svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    return new XMLSerializer().serializeToString(made.svg);
  }
  // The same as a PNG's address, three pixels to one.
  async image(options) {
    const text = this.file(options), picture = new Image();
    await new Promise((done, fail) => { picture.onload = done; picture.onerror = fail; picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`; });
    const canvas = document.createElement("canvas");
    canvas.width = 3 * picture.width;
    canvas.height = 3 * picture.height;
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    return canvas.toDataURL("image/png");
  }
}
// A picture of several panels, each in an element of its own, `columns` to a row.
export function drawPicture(element, picture, view = {}) {
  if (picture.panels.length === 1) return [draw(element, picture.panels[0], view)];
  element.style.display = "grid";
  element.style.gridTemplateColumns = `repeat(${picture.columns}, minmax(0, 1fr))`;
  const places = picture.panels.map(() => document.createElement("div"));
  places.forEach((place) => { place.style.position = "relative"; });
  element.replaceChildren(...places);
  const high = (element.clientHeight || 320) / Math.ceil(picture.panels.length / picture.columns);
  return picture.panels.map((panel, i) => { places[i].style.height = `${high}px`; return draw(places[i], panel, view); });
}
